import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { outputRoot } from '../test/harness/package-root.js'
import { tokenMint } from '../test/harness/stack.js'
import { wayTo, type WayToServer } from '../test/harness/way-to-server.js'
import { freePort } from '../test/runner/free-port.js'
import { GATEWAY, listening, type LogEntry, type ServiceProcess, startProcess } from '../test/stack/service-process.js'

/** A gateway or a data service, which may be hurt. It comes back at the address that it had. */
export interface Member {
  /** `gateway-1`. */
  readonly name: string
  /** SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>
  /** SIGTERM. Resolves when it has ended, however long it drains. */
  terminate(): Promise<void>
  /** SIGSTOP and SIGCONT. */
  freeze(): void
  thaw(): void
  /** After `kill` or `terminate`. Resolves when it listens. */
  start(): Promise<void>
  /** What it has logged since the last call: nothing is kept. */
  takeLogs(): readonly LogEntry[]
}

/** A TCP connection between two parts of the system, through a proxy of the campaign. */
export interface Link {
  /** `clients to gateway-0`, `gateway-1 to data-service-0`, `data-service-0 to the database`. */
  readonly name: string
  readonly way: WayToServer
}

/** The system that is tried: gateways and data services over one database, with a proxy on every connection. */
export interface Site {
  /** Where clients reach each gateway, through its link. */
  readonly urls: readonly string[]
  readonly gateways: readonly Member[]
  readonly services: readonly Member[]
  readonly links: readonly Link[]
  /** A valid access token of a sample account: `ada@example.com`. */
  token(account: string): Promise<string>
  stop(): Promise<void>
}

export interface SiteOptions {
  /** For data folders. */
  readonly folder: string
  readonly gateways: number
  readonly services: number
  /** The URLs of the databases for the n-th data service. */
  readonly databaseUrl: (service: number) => string
  readonly reviewsUrl: string
  /** The address of the database of the n-th data service, which is put behind a proxy; undefined for SQLite. */
  readonly databaseAddress?: (service: number) => { readonly host: string; readonly port: number }
  /** Settings of all processes, above those chosen here. */
  readonly env?: Readonly<Record<string, string>>
  /** A module that each process loads first, for planted faults. */
  readonly preload?: string
}

/** Tokens are good for 15 minutes; a run may last for hours. */
const NEW_TOKENS_AFTER_MS = 300_000
const STOP_MS = 30_000

/** Starts everything and loads the sample rows. Resolves when every gateway answers that it is ready. */
export async function startSite(options: SiteOptions): Promise<Site> {
  const { folder, databaseAddress } = options
  const env = {
    DATA_DIR: folder,
    REVIEWS_DATABASE_URL: options.reviewsUrl,
    MIGRATE_AT_START: 'true',
    SAMPLE_DATA: 'true',
    OWNER_BYPASS_ROLE: 'Admin',
    COOKIE_SECURE: 'false',
    ...(options.preload === undefined ? {} : { NODE_OPTIONS: `--import ${options.preload}` }),
    ...options.env
  }
  const members: Process[] = []
  const links: Link[] = []
  const stop = async (): Promise<void> => {
    await Promise.all(members.map((one) => one.end()))
    for (const { way } of links) await way[Symbol.asyncDispose]()
  }
  const link = async (name: string, host: string): Promise<string> => {
    const way = await wayTo(`http://${host}`)
    links.push({ name, way })
    return new URL(way.url).host
  }
  try {
    const services: Process[] = []
    const addresses: string[] = []
    for (let n = 0; n < options.services; n++) {
      const DATABASE_URL = new URL(options.databaseUrl(n))
      const address = databaseAddress?.(n)
      if (address !== undefined) {
        DATABASE_URL.host = await link(`data-service-${n} to the database`, `${address.host}:${address.port}`)
      }
      const DATA_SERVICE_ADDRESS = `127.0.0.1:${await freePort()}`
      const program = ['start', 'data-service', '--app', join(outputRoot, 'examples/store')]
      const settings = { ...env, DATABASE_URL: DATABASE_URL.href, DATA_SERVICE_ADDRESS }
      const service = new Process(`data-service-${n}`, 'address', () => startProcess(program, settings, folder))
      members.push(service)
      services.push(service)
      // One after another: the first makes the keys and the tables.
      await service.start()
      addresses.push(DATA_SERVICE_ADDRESS)
    }
    const gateways: Process[] = []
    const urls: string[] = []
    for (let n = 0; n < options.gateways; n++) {
      const reached: string[] = []
      for (const [m, address] of addresses.entries())
        reached.push(await link(`gateway-${n} to data-service-${m}`, address))
      const port = await freePort()
      const settings = { ...env, GATEWAY_PORT: String(port), DATA_SERVICE_ADDRESS: reached.join() }
      const gateway = new Process(`gateway-${n}`, 'url', () => startProcess(GATEWAY, settings, folder))
      members.push(gateway)
      gateways.push(gateway)
      await gateway.start()
      urls.push(`http://${await link(`clients to gateway-${n}`, `127.0.0.1:${port}`)}`)
    }
    for (const url of urls) await ready(url)
    let mint = tokenMint(env)
    let minted = performance.now()
    const token = (account: string): Promise<string> => {
      if (performance.now() - minted > NEW_TOKENS_AFTER_MS) {
        mint = tokenMint(env)
        minted = performance.now()
      }
      return mint(account)
    }
    return { urls, gateways, services, links, token, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function ready(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/health/ready`).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.status === 200) return
    await delay(50)
  }
}

/** A process that is started again as often as it ends. */
class Process implements Member {
  readonly name: string
  readonly #listens: 'address' | 'url'
  readonly #begin: () => ServiceProcess
  #running: ServiceProcess | undefined
  #isFrozen = false

  constructor(name: string, listens: 'address' | 'url', begin: () => ServiceProcess) {
    this.name = name
    this.#listens = listens
    this.#begin = begin
  }

  async start(): Promise<void> {
    this.#running = this.#begin()
    this.#isFrozen = false
    await listening(this.#running, this.#listens)
  }

  async kill(): Promise<void> {
    await this.#running?.kill()
  }

  async terminate(): Promise<void> {
    const { pid, ended } = this.#get()
    process.kill(pid, 'SIGTERM')
    await ended
  }

  freeze(): void {
    process.kill(this.#get().pid, 'SIGSTOP')
    this.#isFrozen = true
  }

  thaw(): void {
    process.kill(this.#get().pid, 'SIGCONT')
    this.#isFrozen = false
  }

  takeLogs(): readonly LogEntry[] {
    return this.#running?.forget() ?? []
  }

  /** At the end of the run, whatever state it is in. */
  async end(): Promise<void> {
    if (this.#running === undefined) return
    if (this.#isFrozen) this.thaw()
    const stopped = this.#running.stop()
    await Promise.race([stopped, delay(STOP_MS).then(() => this.kill())])
  }

  #get(): ServiceProcess {
    if (this.#running === undefined) throw new Error(`${this.name} was never started`)
    return this.#running
  }
}
