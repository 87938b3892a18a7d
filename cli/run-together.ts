import { randomBytes } from 'node:crypto'
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeFolder } from '../shared/files.js'
import type { Environment } from '../shared/settings.js'
import type { LoadedApplication } from './application.js'
import { checkApplication } from './check.js'
import { type CommandLine, Failure } from './command.js'
import {
  accepting,
  type Address,
  checkFree,
  COMMAND_MODULE,
  freePort,
  healthy,
  interruption,
  type Service,
  startService
} from './processes.js'
import { SETTINGS_TOLD, tellUnknownSettings } from './unknown-settings.js'

/** What serves, once all of it does. */
export interface Running {
  /** The gateway's address for this machine, without a slash at its end. */
  readonly base: string
  /** host:port of the data service. */
  readonly dataService: string
  readonly hasRenderer: boolean
}

interface How {
  readonly line: CommandLine
  /** Whether the data service starts again after a change of a file of the application. */
  readonly watch: boolean
  /** Whether logs are shown in lines for people. */
  readonly readable: boolean
  /** Printed when everything serves. */
  readonly welcome: (running: Running) => string
}

/**
 * Runs the data service, the application's renderer and the gateway until a signal, or until one of them ends. Answers the
 * exit code. Throws a Failure, before anything is started, for wrong settings, mistakes in the entities and ports that are
 * taken.
 */
export async function runTogether(loaded: LoadedApplication, how: How): Promise<number> {
  tellUnknownSettings(how.line.environment, loaded.application)
  checkApplication(loaded)
  const { environment: env } = loaded
  const { gateway: http, dataService: grpc, admin } = await addresses(env)
  for (const one of [http, grpc, admin]) if (one !== undefined) await checkFree(one)
  const renderer = await rendererAddress(loaded)
  if (renderer !== undefined) await checkFree(renderer)
  const environment = { ...env, GATEWAY_SECRET: await gatewaySecret(env) }
  const base = localBase(http, env)

  const running = new Set<Service>()
  const ending = new AbortController()
  let restarting = false
  /** Resolves with what went wrong, or with undefined on Ctrl-C. */
  const end = new Promise<string | undefined>((resolve) => {
    void interruption().then(() => resolve(undefined))
    const add = (service: Service): Service => {
      running.add(service)
      void service.ended.then((said) => {
        const unexpected = running.delete(service) && !restarting
        if (unexpected) resolve(`The ${service.name} ${said}: see its log above.`)
      })
      return service
    }
    const startDataService = (more: readonly string[] = []): Service =>
      add(
        startService('data-service', {
          module: COMMAND_MODULE,
          args: ['start', 'data-service', SETTINGS_TOLD, '--app', loaded.folder, ...more],
          // Both processes would take the one ADMIN_PORT: it is the gateway's.
          environment: { ...environment, ADMIN_PORT: '' },
          readable: how.readable
        })
      )
    const serve = async (): Promise<void> => {
      let dataService = startDataService()
      // Only then the gateway: it would wait too, but with many lines in the log.
      await accepting(grpc, ending.signal)
      // A page must not come before the server that renders it.
      if (renderer !== undefined) {
        add(startRenderer(loaded, { address: renderer, apiUrl: base, readable: how.readable }))
        await accepting(renderer, ending.signal)
      }
      const rendererUrl = renderer === undefined ? {} : { RENDERER_URL: `http://${renderer.host}:${renderer.port}` }
      add(
        startService('gateway', {
          module: COMMAND_MODULE,
          args: ['start', 'gateway', SETTINGS_TOLD, '--app', loaded.folder],
          environment: { ...environment, ...rendererUrl, GATEWAY_PORT: String(http.port) },
          readable: how.readable
        })
      )
      await healthy(base, ending.signal)
      const facts = { base, dataService: `${grpc.host}:${grpc.port}`, hasRenderer: renderer !== undefined }
      process.stdout.write(how.welcome(facts))
      if (!how.watch) return
      watchApplication(loaded.folder, ending.signal, async (file) => {
        process.stdout.write(`${file} has changed: the data service starts again.\n`)
        // A mistake in the changed file ends the new process, and the next change starts it again.
        restarting = true
        await dataService.stop()
        // A migration that was written just now is for somebody to read first.
        dataService = startDataService(['--await-migrations'])
      })
    }
    void serve().catch((error: unknown) => ending.signal.aborted || resolve(String(error)))
  })

  const problem = await end
  ending.abort()
  restarting = true
  if (problem !== undefined) process.stderr.write(`${problem}\n`)
  // Who calls others comes first: it finishes what is under way, and needs them for it.
  for (const service of [...running].toReversed()) await service.stop()
  return problem === undefined ? 0 : 1
}

const WATCHED = /\.(?:[cm]?[jt]s|tsx|json)$/
const UNWATCHED = /(?:^|[/\\])(?:node_modules|\.[^/\\]*)(?:[/\\]|$)/
/** Milliseconds that changes are gathered for, since an editor writes several files at once. */
const GATHERED = 150

/**
 * Calls `changed` after changes of the application's files, one call at a time. Each folder is watched by itself: Node's
 * recursive watching loses a file on Linux once an editor has put another in its place by a rename.
 */
function watchApplication(folder: string, signal: AbortSignal, changed: (file: string) => Promise<void>): void {
  let timer: NodeJS.Timeout | undefined
  let last = Promise.resolve()
  const report = (file: string): void => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      last = last.then(() => (signal.aborted ? undefined : changed(file)))
    }, GATHERED)
  }
  const watchers = new Map<string, FSWatcher>()
  const watchFolder = (path: string): void => {
    watchers.get(path)?.close()
    // Where a system cannot watch (too many files, say) everything else still works.
    try {
      const watcher = watch(join(folder, path), { signal }, (_event, name) => {
        if (name === null) return
        const file = join(path, name)
        if (UNWATCHED.test(file)) return
        // A folder that is new, or comes back.
        if (isFolder(join(folder, file))) watchFolder(file)
        else if (WATCHED.test(file)) report(file)
      })
      watcher.on('error', tellUnwatched)
      watchers.set(path, watcher)
      for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
        const below = join(path, entry.name)
        if (entry.isDirectory() && !UNWATCHED.test(below)) watchFolder(below)
      }
    } catch (error) {
      tellUnwatched(error)
    }
  }
  watchFolder('')
}

function tellUnwatched(error: unknown): void {
  process.stderr.write(`Changes of files are not seen: ${error instanceof Error ? error.message : String(error)}\n`)
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function startRenderer(
  { application, environment }: LoadedApplication,
  how: { readonly address: Address; readonly apiUrl: string; readonly readable: boolean }
): Service {
  const { renderer } = application
  if (renderer === undefined) throw new TypeError('The application has no renderer')
  const { host, port } = how.address
  // A certificate that signs itself is known to nobody else.
  const certificate = environment['HTTP_TLS_CERT_FILE']
  return startService('renderer', {
    module: fileURLToPath(renderer.module),
    environment: {
      ...environment,
      ...(certificate === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificate }),
      ...renderer.environment({ host, port, apiUrl: how.apiUrl })
    },
    readable: how.readable
  })
}

interface Addresses {
  readonly gateway: Address
  readonly dataService: Address
  readonly admin: Address | undefined
}

/** Where the two processes are going to listen, by the settings of contract.md section 1. */
async function addresses(env: Environment): Promise<Addresses> {
  const host = withoutBrackets(env['GATEWAY_HOST'] ?? '127.0.0.1')
  const port = portOf(env['GATEWAY_PORT'] ?? '3000', 'GATEWAY_PORT')
  const adminPort = env['ADMIN_PORT']
  return {
    // Whoever waits for the gateway, or tells its address, has to know the port beforehand.
    gateway: { host, port: port === 0 ? await freePort(host) : port, setting: 'GATEWAY_PORT' },
    dataService: dataServiceAddress(env['DATA_SERVICE_ADDRESS'] ?? '127.0.0.1:50051'),
    admin:
      adminPort === undefined
        ? undefined
        : {
            host: withoutBrackets(env['ADMIN_HOST'] ?? '127.0.0.1'),
            port: portOf(adminPort, 'ADMIN_PORT'),
            setting: 'ADMIN_PORT'
          }
  }
}

/** Where the application's renderer is going to listen; undefined without one, and where RENDERER_URL names another. */
async function rendererAddress({ application, environment }: LoadedApplication): Promise<Address | undefined> {
  if (application.renderer === undefined || environment['RENDERER_URL'] !== undefined) return undefined
  const setting = application.renderer.portSetting
  const host = '127.0.0.1'
  const port = portOf(environment[setting] ?? '0', setting)
  // The gateway has to know it beforehand.
  return { host, port: port === 0 ? await freePort(host) : port, setting }
}

function dataServiceAddress(address: string): Address {
  const at = address.lastIndexOf(':')
  const setting = 'DATA_SERVICE_ADDRESS'
  const port = portOf(address.slice(at + 1), setting)
  if (port === 0) throw new Failure(`${setting} needs a port here: the gateway has to know it beforehand.`)
  return { host: withoutBrackets(address.slice(0, at)), port, setting }
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

function portOf(text: string, setting: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new Failure(`${setting} holds no port from 0 to 65535: ${text}.`)
}

/** The gateway's base for a curl on this machine. The path of PUBLIC_BASE_URL prefixes every route. */
function localBase({ host, port }: Address, env: Environment): string {
  const publicBase = env['PUBLIC_BASE_URL']
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  const path = publicBase !== undefined && URL.canParse(publicBase) ? new URL(publicBase).pathname : ''
  const scheme = env['HTTP_TLS_CERT_FILE'] === undefined ? 'http' : 'https'
  return `${scheme}://${name}:${port}${path.replace(/(?<!\/)\/+$/, '')}`
}

/**
 * The secret by which the data service knows the gateway: the user's own, or one that is made under DATA_DIR on first
 * start, for the eyes of this user alone.
 */
async function gatewaySecret(env: Environment): Promise<string> {
  const given = env['GATEWAY_SECRET']
  if (given !== undefined) return given
  const file = join(env['DATA_DIR'] ?? '.data', 'gateway-secret')
  try {
    await makeFolder(dirname(file), 0o700)
    await writeFile(file, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' }).catch(unlessThere)
    await chmod(file, 0o600)
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    throw new Failure(`The gateway's secret cannot be kept in ${file}: ${String(error)}. See DATA_DIR.`)
  }
}

function unlessThere(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
}
