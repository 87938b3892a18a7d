import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import {
  BlobServiceClient,
  ContainerSASPermissions,
  StorageSharedKeyCredential,
  type ContainerClient
} from '@azure/storage-blob'
import { isSoak } from '../../harness/in-soak.js'
import { installedTools } from '../../harness/installed-tools.js'
import { outputRoot } from '../../harness/package-root.js'
import { startRelay, type Relay } from './relay.js'
import { startStandIn } from './stand-in-blobs.js'

/** The account that azurite is born with; its key is in azurite's own documentation. */
const ACCOUNT = 'devstoreaccount1'
const ACCOUNT_KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='

/** When a signature ends: after everything that uses it. A gateway that is started later cannot read its ring. */
const NEVER = new Date('9999-12-31T23:59:59Z')

/** A blob server with a container. */
export interface BlobServer {
  readonly container: ContainerClient
  /** The URL of a blob with a signature that permits what a ring needs, or only to read it, until it ends. */
  blobUrl(name: string, permissions?: 'rcw' | 'r', ends?: Date): Promise<URL>
  /** The way to it, which can be cut. */
  readonly relay: Relay
  dispose(): Promise<void>
}

/** The blob servers that a test runs on. */
export const BLOB_SERVERS = isSoak ? (['a stand-in', 'azurite'] as const) : (['a stand-in'] as const)

export async function startBlobServer(kind: (typeof BLOB_SERVERS)[number] = 'a stand-in'): Promise<BlobServer> {
  const running = await (kind === 'azurite' ? startAzurite() : startStandIn())
  const relay = await startRelay(running.port)
  const dispose = async (): Promise<void> => {
    await relay.cut()
    await running.end()
  }
  try {
    const container = makeContainer(relay.port)
    if (kind === 'azurite') await container.create()
    return {
      container,
      relay,
      dispose,
      blobUrl: (name, permissions = 'rcw', ends = NEVER) => signedUrl(container, name, { permissions, ends })
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

function makeContainer(port: number): ContainerClient {
  const credential = new StorageSharedKeyCredential(ACCOUNT, ACCOUNT_KEY)
  const service = new BlobServiceClient(`http://127.0.0.1:${port}/${ACCOUNT}`, credential)
  return service.getContainerClient('rings')
}

async function signedUrl(
  container: ContainerClient,
  name: string,
  { permissions, ends }: { readonly permissions: string; readonly ends: Date }
): Promise<URL> {
  const signed = await container.generateSasUrl({
    permissions: ContainerSASPermissions.parse(permissions),
    expiresOn: ends
  })
  const url = new URL(signed)
  url.pathname += `/${name}`
  return url
}

async function startAzurite(): Promise<{ readonly port: number; end(): Promise<void> }> {
  const tools = await installedTools('azurite')
  const folder = await mkdtemp(join(tmpdir(), 'azurite-'))
  const preload = pathToFileURL(join(outputRoot, 'cli/processes/end-with-parent.js')).href
  const program = join(tools, 'node_modules/azurite/dist/src/blob/main.js')
  const settings = ['--blobHost', '127.0.0.1', '--blobPort', '0', '--location', folder, '--disableTelemetry']
  // The client speaks a newer version of the protocol than the last azurite for Node 20 knows of.
  settings.push('--skipApiVersionCheck')
  const child = spawn(process.execPath, ['--import', preload, program, ...settings], {
    cwd: folder,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc']
  })
  const ended = once(child, 'close')
  if (child.stdout === null) throw new TypeError('stdout is a pipe')
  const lines = createInterface({ input: child.stdout })
  const listening = new Promise<number>((resolve, reject) => {
    lines.on('line', (line) => {
      const [, found] = /listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(line) ?? []
      if (found !== undefined) resolve(Number(found))
    })
    ended.then(() => reject(new Error('azurite ended before it listened.')), reject)
  })
  return {
    port: await listening,
    async end() {
      // Asked to stop, it would wait for its clients' idle connections.
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true, force: true })
    }
  }
}
