import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { buildStorefront } from '../../examples/store/storefront/app.js'
import { StoreApi } from '../../examples/store/storefront/store-api.js'
import { outputRoot } from '../harness/package-root.js'
import { storeDatabase } from '../harness/store-database.js'
import { freePort } from '../runner/free-port.js'
import { startDataServiceHere, startGatewayHere } from '../stack/in-process.js'
import { type Server, ServerLog } from '../stack/server-log.js'
import { startWireTap, type WireTap } from './wire-tap.js'

type Settings = Readonly<Record<string, string>>

const STORE = join(outputRoot, 'examples/store')

/** A data service, a gateway before it, a shop behind that one, and a tap on the way to the gateway. */
interface Replica {
  dataService: Server
  readonly dataSettings: Settings
  readonly tap: WireTap
}

/** The shop over one database and one data folder, all of it in this process, reached through taps that keep all traffic. */
export class Shop {
  readonly #env: Settings
  readonly #replicas: Replica[] = []
  readonly #servers: Server[] = []
  readonly #shopLog = new ServerLog('storefront')
  readonly #cleanUps: (() => PromiseLike<void>)[] = []
  /** Milliseconds that the clock of the servers is ahead of that of the machine, and of browsers. */
  #ahead = 0

  private constructor(env: Settings) {
    this.#env = env
  }

  static async start({
    replicas = 1,
    env = {}
  }: { readonly replicas?: number; readonly env?: Settings } = {}): Promise<Shop> {
    const database = await storeDatabase('sqlite', 'sample')
    const dataDir = await mkdtemp(join(tmpdir(), 'data-'))
    const shop = new Shop({
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      REVIEWS_DATABASE_URL: database.reviewsUrl,
      DATA_PROTECTION_BLOB_STORAGE_URI: `file://${join(dataDir, 'key-ring.json')}`,
      SAMPLE_DATA: 'true',
      OWNER_BYPASS_ROLE: 'Admin',
      COOKIE_SECURE: 'false',
      DOCS_PUBLIC: 'true',
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

  /** Milliseconds since 1970 by the clock of all servers. */
  readonly now = (): number => Date.now() + this.#ahead

  /** Puts that clock forward. */
  advance(milliseconds: number): void {
    this.#ahead += milliseconds
  }

  async stopDataServices(): Promise<void> {
    for (const { dataService } of this.#replicas) await dataService.stop()
  }

  /** Starts them again at their addresses. */
  async restartDataServices(): Promise<void> {
    for (const replica of this.#replicas) replica.dataService = await this.#serve(replica.dataSettings)
  }

  /** All that any server logged. */
  logText(): string {
    return [...this.#servers.flatMap((one) => one.logs()), ...this.#shopLog.entries()]
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
    for (const one of this.#servers.toReversed()) await one.stop().catch((error: unknown) => failed.push(error))
    for (const cleanUp of this.#cleanUps) await cleanUp()
    if (failed.length > 0) throw failed[0]
  }

  async #addReplica(): Promise<void> {
    const dataSettings = { ...this.#env, DATA_SERVICE_ADDRESS: `127.0.0.1:${await freePort()}` }
    const dataService = await this.#serve(dataSettings)
    const [gatewayPort, shopPort] = [await freePort(), await freePort()]
    const tap = await startWireTap(gatewayPort)
    this.#replicas.push({ dataService, dataSettings, tap })
    const settings = {
      ...dataSettings,
      GATEWAY_PORT: String(gatewayPort),
      PUBLIC_BASE_URL: `http://127.0.0.1:${tap.port}`,
      RENDERER_URL: `http://127.0.0.1:${shopPort}`
    }
    const gateway = await startGatewayHere(settings, undefined, this)
    this.#servers.push(gateway.server)
    await this.#openShop(shopPort, gateway.address)
  }

  async #serve(settings: Settings): Promise<Server> {
    const { server } = await startDataServiceHere(STORE, settings, this)
    this.#servers.push(server)
    return server
  }

  async #openShop(port: number, gateway: string): Promise<void> {
    const log = pino({ level: 'trace' }, { write: (line) => this.#shopLog.add(line) })
    const app = buildStorefront({ api: new StoreApi(gateway), apiPath: '', clock: this.now, log })
    this.#cleanUps.unshift(() => {
      // A connection that was opened and never used counts as busy: it would be waited for without end.
      app.server.closeAllConnections()
      return app.close()
    })
    await app.listen({ host: '127.0.0.1', port })
  }

  #at(replica: number): Replica {
    const found = this.#replicas[replica]
    if (found === undefined) throw new Error(`The shop has no replica ${replica}`)
    return found
  }
}
