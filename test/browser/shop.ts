import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase } from '../harness/database.js'
import { GATEWAY, listening, type ServiceProcess, startProcess } from '../stack/service-process.js'
import { STORE } from '../harness/stack.js'
import { freePort } from '../runner/free-port.js'
import { startWireTap, type WireTap } from './wire-tap.js'

type Settings = Readonly<Record<string, string>>

/** A data service, a gateway before it, a shop behind that one, and a tap on the way to the gateway. */
interface Replica {
  dataService: ServiceProcess
  readonly dataSettings: Settings
  readonly tap: WireTap
}

/** The shop as real processes over one database and one data folder, reached through taps that keep all traffic. */
export class Shop {
  readonly #env: Settings
  readonly #replicas: Replica[] = []
  readonly #processes: ServiceProcess[] = []
  readonly #cleanUps: (() => PromiseLike<void>)[] = []

  private constructor(env: Settings) {
    this.#env = env
  }

  static async start({
    replicas = 1,
    env = {}
  }: { readonly replicas?: number; readonly env?: Settings } = {}): Promise<Shop> {
    const database = await freshDatabase('sqlite')
    const dataDir = await mkdtemp(join(tmpdir(), 'data-'))
    const shop = new Shop({
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      REVIEWS_DATABASE_URL: database.reviewsUrl,
      DATA_PROTECTION_BLOB_STORAGE_URI: `file://${join(dataDir, 'key-ring.json')}`,
      SAMPLE_DATA: 'true',
      MIGRATE_AT_START: 'true',
      OWNER_BYPASS_ROLE: 'Admin',
      COOKIE_SECURE: 'false',
      LOG_LEVEL: 'trace',
      ...env
    })
    shop.#cleanUps.push(
      () => database.dispose(),
      () => rm(dataDir, { recursive: true, force: true })
    )
    try {
      // One after the other: the first makes the key that all sign with.
      for (let count = 0; count < replicas; count++) await shop.#addReplica()
      return shop
    } catch (error) {
      await shop.stop()
      throw error
    }
  }

  /** Of a gateway, without a slash at the end. */
  url(replica = 0): string {
    return `http://127.0.0.1:${this.#at(replica).tap.port}`
  }

  /** The same gateway on what is another site to a browser. */
  otherSiteUrl(replica = 0): string {
    return `http://localhost:${this.#at(replica).tap.port}`
  }

  async stopDataServices(): Promise<void> {
    for (const { dataService } of this.#replicas) await dataService.stop()
  }

  /** Starts them again at their addresses. */
  async restartDataServices(): Promise<void> {
    for (const replica of this.#replicas) replica.dataService = await this.#serve(replica.dataSettings)
  }

  /** All that any process logged. */
  logText(): string {
    return this.#processes
      .flatMap((one) => one.logs())
      .map((entry) => JSON.stringify(entry))
      .join('\n')
  }

  /** All that browsers got over the wire, heads and bodies. */
  answers(): string {
    return this.#replicas.map(({ tap }) => tap.answers()).join('\n')
  }

  async stop(): Promise<void> {
    const failed: unknown[] = []
    for (const { tap } of this.#replicas) await tap[Symbol.asyncDispose]()
    for (const one of this.#processes.toReversed()) await one.stop().catch((error: unknown) => failed.push(error))
    for (const cleanUp of this.#cleanUps) await cleanUp()
    if (failed.length > 0) throw failed[0]
  }

  async #addReplica(): Promise<void> {
    const dataSettings = { ...this.#env, DATA_SERVICE_ADDRESS: `127.0.0.1:${await freePort()}` }
    const dataService = await this.#serve(dataSettings)
    const [gatewayPort, shopPort] = [await freePort(), await freePort()]
    const tap = await startWireTap(gatewayPort)
    this.#replicas.push({ dataService, dataSettings, tap })
    const gateway = this.#start(GATEWAY, {
      ...dataSettings,
      GATEWAY_PORT: String(gatewayPort),
      PUBLIC_BASE_URL: `http://127.0.0.1:${tap.port}`,
      RENDERER_URL: `http://127.0.0.1:${shopPort}`
    })
    await listening(gateway, 'url')
    const shop = this.#start('examples/store/storefront/main.js', {
      STOREFRONT_PORT: String(shopPort),
      STORE_API_URL: `http://127.0.0.1:${gatewayPort}`,
      LOG_LEVEL: 'trace'
    })
    await listening(shop, 'url')
  }

  async #serve(settings: Settings): Promise<ServiceProcess> {
    const service = this.#start(STORE, settings)
    await listening(service, 'address')
    return service
  }

  #start(module: readonly string[] | string, env: Settings): ServiceProcess {
    const started = startProcess(module, env)
    this.#processes.push(started)
    return started
  }

  #at(replica: number): Replica {
    const found = this.#replicas[replica]
    if (found === undefined) throw new Error(`The shop has no replica ${replica}`)
    return found
  }
}
