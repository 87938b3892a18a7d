import { randomBytes } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeFolder } from '../shared/files.js'
import type { Environment } from '../shared/settings.js'
import type { LoadedApplication } from './application/application.js'
import { checkApplication } from './check.js'
import { type CommandLine, Failure } from './application/command.js'
import {
  accepting,
  type Address,
  checkFree,
  COMMAND_MODULE,
  DATA_SERVICE_FLAGS,
  freePort,
  healthy,
  interruption,
  type Service,
  startService
} from './processes/processes.js'
import { SETTINGS_TOLD, tellUnknownSettings } from './application/unknown-settings.js'
import { watchFiles } from './processes/watch-files.js'

/** What serves, once all of it does. */
export interface Running {
  /** The gateway's address for this machine, without a slash at its end. */
  readonly base: string
  /** host:port of the data service. */
  readonly dataService: string
  readonly hasRenderer: boolean
}

/** In the order in which they end: who calls others comes first, since it finishes what is under way, and needs them for it. */
const PROCESSES = ['gateway', 'renderer', 'data-service'] as const
type ProcessName = (typeof PROCESSES)[number]

/** Code that is about to change. */
export interface WatchedCode {
  readonly folders: readonly string[]
  /** The processes that start again after a change of a file, by its absolute path. */
  readonly usedBy: (file: string) => readonly ProcessName[]
}

interface How {
  readonly line: CommandLine
  /** What is watched; nothing without it. */
  readonly watched?: WatchedCode
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
  tellUnknownSettings(how.line, loaded.application)
  checkApplication(loaded)
  const { environment: env } = loaded
  const { gateway: http, dataService: grpc, admin } = await addresses(env)
  for (const one of [http, grpc, ...admin]) await checkFree(one)
  const renderer = await rendererAddress(loaded)
  if (renderer !== undefined) await checkFree(renderer)
  const environment = { ...env, GATEWAY_SECRET: await gatewaySecret(env) }
  const base = localBase(http, env)

  const running = new Set<Service>()
  const ending = new AbortController()
  let isRestarted = false
  /** Those that were told to end, because what they use has changed. */
  const replaced = new Set<Service>()
  /** Resolves with what went wrong, or with undefined on Ctrl-C. */
  const end = new Promise<string | undefined>((resolve) => {
    void interruption().then(() => resolve(undefined))
    const add = (service: Service): Service => {
      running.add(service)
      void service.ended.then((said) => {
        running.delete(service)
        if (ending.signal.aborted || replaced.has(service)) return
        const what = `The ${service.name} ${said}: see its log above.`
        // A mistake in a changed file ends the new process, and the next change starts it again.
        if (isRestarted) process.stdout.write(`${what} It starts again after the next change of a file.\n`)
        else resolve(what)
      })
      return service
    }
    const dataService = (...flags: readonly string[]): Service =>
      startService('data-service', {
        module: COMMAND_MODULE,
        args: ['start', 'data-service', SETTINGS_TOLD, '--app', loaded.folder, DATA_SERVICE_FLAGS.single, ...flags],
        // Both processes would take the one ADMIN_PORT: it is the gateway's. DATA_SERVICE_ADMIN_PORT is the data service's.
        environment: { ...environment, ADMIN_PORT: '' },
        readable: how.readable
      })
    const rendererUrl = renderer === undefined ? {} : { RENDERER_URL: `http://${renderer.host}:${renderer.port}` }
    const gateway = (): Service =>
      startService('gateway', {
        module: COMMAND_MODULE,
        args: ['start', 'gateway', SETTINGS_TOLD, '--app', loaded.folder],
        environment: { ...environment, ...rendererUrl, GATEWAY_PORT: String(http.port) },
        readable: how.readable
      })
    const services = new Map<ProcessName, Service>()
    const start = (name: ProcessName, service: Service): unknown => services.set(name, add(service))
    const serve = async (): Promise<void> => {
      start('data-service', dataService())
      // Only then the gateway: it would wait too, but with many lines in the log.
      await accepting(grpc, ending.signal)
      // A page must not come before the server that renders it.
      if (renderer !== undefined) {
        start('renderer', startRenderer(loaded, { address: renderer, apiUrl: base, readable: how.readable }))
        await accepting(renderer, ending.signal)
      }
      start('gateway', gateway())
      await healthy(base, ending.signal)
      // Who reads the welcome may change a file at once.
      if (how.watched !== undefined) follow(how.watched)
      const facts = { base, dataService: `${grpc.host}:${grpc.port}`, hasRenderer: renderer !== undefined }
      process.stdout.write(how.welcome(facts))
    }
    /** Says where everything serves again, unless the service ends before that or another one takes its place. */
    const tellReady = async (service: Service): Promise<void> => {
      let isOver = false
      void service.ended.then(() => (isOver = true))
      await accepting(grpc, ending.signal)
      await healthy(base, ending.signal, LOGGED_HEALTH_INTERVAL)
      if (!isOver && !ending.signal.aborted) process.stdout.write(`Ready at ${base}\n`)
    }
    const follow = ({ folders, usedBy }: WatchedCode): void => {
      // A migration that was written just now is for somebody to read first.
      const { awaitMigrations, standby } = DATA_SERVICE_FLAGS
      const next = new Standby(() => dataService(awaitMigrations, standby), ending.signal)
      const restart: Readonly<Record<ProcessName, () => void>> = {
        'data-service': () => {
          const service = next.take()
          start('data-service', service)
          service.proceed()
          // Once it serves, or has ended for a mistake: the processors are its own until then.
          void Promise.race([accepting(grpc, ending.signal), service.ended]).then(
            () => next.prepare(),
            () => undefined
          )
          void tellReady(service).catch(() => undefined)
        },
        renderer: () => {
          if (renderer === undefined) return
          start('renderer', startRenderer(loaded, { address: renderer, apiUrl: base, readable: how.readable }))
        },
        gateway: () => start('gateway', gateway())
      }
      watchFiles(folders, ending.signal, async (files) => {
        const names = [...new Set(files.flatMap(usedBy))]
        const shown = files.map((file) => relative('', file)).join(', ')
        process.stdout.write(`${shown} changed: starting ${names.join(' and ')} again.\n`)
        isRestarted = true
        // What stands by has loaded the code of this package as it was.
        if (files.some((file) => !file.startsWith(join(loaded.folder, sep)))) await next.drop()
        await Promise.all(
          names.map(async (name) => {
            const service = services.get(name)
            if (service === undefined) return
            replaced.add(service)
            await service.stop()
          })
        )
        if (ending.signal.aborted) return
        for (const name of names) restart[name]()
      })
      next.prepare()
    }
    void serve().catch((error: unknown) => ending.signal.aborted || resolve(String(error)))
  })

  const problem = await end
  ending.abort()
  if (problem !== undefined) process.stderr.write(`${problem}\n`)
  for (const name of PROCESSES) {
    for (const service of running) if (service.name === name) await service.stop()
  }
  return problem === undefined ? 0 : 1
}

/** Milliseconds between questions to a gateway that serves and logs each of them. */
const LOGGED_HEALTH_INTERVAL = 500

/** The data service that starts after the next change: it has loaded all but the application, and waits. */
class Standby {
  readonly #start: () => Service
  readonly #ending: AbortSignal
  #service: Service | undefined

  /** When the signal is aborted the one that waits ends. */
  constructor(start: () => Service, ending: AbortSignal) {
    this.#start = start
    this.#ending = ending
    ending.addEventListener('abort', () => void this.drop(), { once: true })
  }

  prepare(): void {
    if (this.#ending.aborted || this.#service !== undefined) return
    const service = this.#start()
    this.#service = service
    void service.ended.then(() => {
      if (this.#service === service) this.#service = undefined
    })
  }

  /** Starts one where none waits. */
  take(): Service {
    const service = this.#service ?? this.#start()
    this.#service = undefined
    return service
  }

  async drop(): Promise<void> {
    const service = this.#service
    this.#service = undefined
    await service?.stop()
  }
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
  /** The admin ports of either process that have one. */
  readonly admin: readonly Address[]
}

/** Where the two processes are going to listen, by the settings of contract.md section 1. */
async function addresses(env: Environment): Promise<Addresses> {
  const host = withoutBrackets(env['GATEWAY_HOST'] ?? '127.0.0.1')
  const port = portOf(env['GATEWAY_PORT'] ?? '3000', 'GATEWAY_PORT')
  const adminHost = withoutBrackets(env['ADMIN_HOST'] ?? '127.0.0.1')
  const admin = ADMIN_PORTS.flatMap((setting) => {
    const text = env[setting] ?? ''
    return text.trim() === '' ? [] : [{ host: adminHost, port: portOf(text, setting), setting }]
  })
  const [first, second] = admin
  if (first !== undefined && first.port !== 0 && first.port === second?.port) {
    throw new Failure(`${first.setting} and ${second.setting} must be two ports, not ${first.port} for both.`)
  }
  return {
    // Whoever waits for the gateway, or tells its address, has to know the port beforehand.
    gateway: { host, port: port === 0 ? await freePort(host) : port, setting: 'GATEWAY_PORT' },
    dataService: dataServiceAddress(env['DATA_SERVICE_ADDRESS'] ?? '127.0.0.1:50051'),
    admin
  }
}

const ADMIN_PORTS = ['ADMIN_PORT', 'DATA_SERVICE_ADMIN_PORT'] as const

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
