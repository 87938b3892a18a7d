import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../harness/package-root.js'
import { Failure } from '../runner/programs.js'
import { docker, type Engine } from './engine.js'

const run = promisify(execFile)
const FILES = join(packageRoot, 'test/compose/stand-ins')
const ROOT_IMAGE = 'uniform-rest-stand-in'
const PULL_MS = 180_000
const MAKING_MS = 600_000
/** What the stand-ins hold: one root with all of it serves all three. */
const PACKAGES = ['ca-certificates', 'haproxy', 'mariadb-server', 'mariadb-backup']
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt'

/** The images of others that our files name. */
export interface BaseImages {
  /** For people: which of them are stand-ins. */
  readonly description: string
  /** Removes the stand-ins: under these names the engine would take them for the real ones. */
  remove(): Promise<void>
}

/**
 * Sees to it that the engine has the images. One that it neither has nor can pull is made of Debian's packages and of the
 * Node that runs this, under the same name.
 */
export async function ensureBaseImages(engine: Engine): Promise<BaseImages> {
  const missing: string[] = []
  for (const name of namedImages()) if (!(await isThere(engine, name))) missing.push(name)
  if (missing.length > 0) await makeStandIns(engine, missing)
  return {
    description: missing.length === 0 ? 'the images that the files name' : `stand-ins for ${missing.join(', ')}`,
    async remove() {
      if (missing.length > 0) await docker(engine, 'rmi', '--force', ...missing, ROOT_IMAGE)
    }
  }
}

/** The base images of the Dockerfile and the images of others in the compose files. */
function namedImages(): readonly string[] {
  const text = (file: string): string => readFileSync(join(packageRoot, file), 'utf8')
  const dockerfile = text('Dockerfile')
  const [, node = ''] = /^ARG NODE_VERSION=(\S+)$/m.exec(dockerfile) ?? []
  const bases = Array.from(dockerfile.matchAll(/^FROM (\S+:\S+)/gm), ([, name = '']) =>
    name.replace(/\$\{NODE_VERSION\}/, node)
  )
  const used = ['docker-compose.yml', 'docker-compose.galera.yml'].flatMap((file) =>
    Array.from(text(file).matchAll(/^ *image: (\S+:\S+)$/gm), ([, name = '']) => name)
  )
  return [...new Set([...bases, ...used])]
}

async function isThere(engine: Engine, name: string): Promise<boolean> {
  const has = await docker(engine, 'image', 'inspect', name).then(
    () => true,
    () => false
  )
  return (
    has ||
    run('docker', ['pull', '--quiet', name], { env: engine.env, timeout: PULL_MS }).then(
      () => true,
      () => false
    )
  )
}

async function makeStandIns(engine: Engine, names: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0) {
    throw new Failure(`The images ${names.join(', ')} can neither be pulled nor, by others than root, be made here.`)
  }
  const folder = await mkdtemp(join(tmpdir(), 'stand-ins-'))
  try {
    await importRoot(engine)
    for (const name of names) {
      const [kind = ''] = name.split(':')
      const context = join(folder, kind)
      await mkdir(context)
      await fillContext(kind, context)
      const file = join(FILES, `${kind}.Dockerfile`)
      const env = { ...engine.env, DOCKER_BUILDKIT: '0' }
      await run('docker', ['build', '--quiet', '--file', file, '--tag', name, context], { env })
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Makes the root of the stand-ins: the machine's own release of Debian with the packages, without what people read. */
async function importRoot(engine: Engine): Promise<void> {
  const [, release = 'stable'] = /^VERSION_CODENAME=(\S+)$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? []
  const leftOut = ['doc', 'man', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`)
  // Nothing of it has to outlive a power failure.
  const how = [
    '--variant=minbase',
    '--quiet',
    '--dpkgopt=force-unsafe-io',
    '--customize-hook=rm -rf "$1"/var/lib/mysql/*'
  ]
  const options = [...how, ...leftOut, `--include=${PACKAGES.join(',')}`]
  const making = spawn('mmdebstrap', [...options, release, '-'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: MAKING_MS
  })
  const taking = spawn('docker', ['import', '-', ROOT_IMAGE], {
    env: engine.env,
    stdio: [making.stdout, 'ignore', 'inherit']
  })
  await Promise.all([once(making, 'exit'), once(taking, 'exit')])
  if (making.exitCode !== 0 || taking.exitCode !== 0)
    throw new Failure('The root of the stand-ins could not be imported: see above.')
}

/** Puts beside the Dockerfile of a stand-in what it copies. */
async function fillContext(kind: string, context: string): Promise<void> {
  if (kind === 'mariadb') await cp(join(FILES, kind), context, { recursive: true })
  if (kind !== 'node') return
  await copyFile(process.execPath, join(context, 'node'))
  const npm = [
    join(dirname(process.execPath), '../lib/node_modules/npm'),
    dirname(dirname(process.env['npm_execpath'] ?? ''))
  ].find((path) => existsSync(join(path, 'bin/npm-cli.js')))
  if (npm === undefined) throw new Failure('The npm of this Node is not found.')
  await cp(npm, join(context, 'npm'), { recursive: true, dereference: true })
  // Packages are fetched through whatever this machine trusts.
  await copyFile(AUTHORITIES, join(context, 'ca-certificates.crt'))
}
