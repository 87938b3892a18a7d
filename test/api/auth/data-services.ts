import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseKind, FreshDatabase } from '../../harness/database.js'
import { outputRoot } from '../../harness/package-root.js'
import { storeDatabase, type StoreRows } from '../../harness/store-database.js'
import { startDataServiceHere } from '../../stack/in-process.js'
import type { LogEntry, Server } from '../../stack/server-log.js'
import { AuthCaller } from './auth-caller.js'

interface Started {
  readonly service: Server
  /** host:port */
  readonly address: string
  readonly caller: AuthCaller
}

type Settings = Readonly<Record<string, string>>

/** Real data services, one after the other or side by side, over one database and one data folder. */
export class DataServices implements AsyncDisposable {
  readonly database: FreshDatabase
  readonly dataDir: string
  readonly #running: Started[] = []

  private constructor(database: FreshDatabase, dataDir: string) {
    this.database = database
    this.dataDir = dataDir
  }

  static async over(kind: DatabaseKind, rows: StoreRows = 'accounts'): Promise<DataServices> {
    const database = await storeDatabase(kind, rows)
    return new DataServices(database, await mkdtemp(join(tmpdir(), 'data-')))
  }

  /** Resolves when it listens. */
  async start(settings: Settings = {}): Promise<Started> {
    const { server: service, address } = await startDataServiceHere(join(outputRoot, 'examples/store'), {
      DATA_DIR: this.dataDir,
      DATABASE_URL: this.database.url,
      REVIEWS_DATABASE_URL: this.database.reviewsUrl,
      SAMPLE_DATA: 'true',
      MIGRATE_AT_START: 'true',
      OWNER_BYPASS_ROLE: 'Admin',
      DATA_SERVICE_ADDRESS: '127.0.0.1:0',
      ...settings
    })
    const started = { service, address, caller: new AuthCaller(address) }
    this.#running.push(started)
    return started
  }

  /** Of all that were started and not stopped. */
  logs(): readonly LogEntry[] {
    return this.#running.flatMap(({ service }) => service.logs())
  }

  /** Stops all that run. */
  async stop(): Promise<void> {
    for (const { service, caller } of this.#running.splice(0)) {
      caller.close()
      await service.stop()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.database.dispose()
    await rm(this.dataDir, { recursive: true, force: true })
  }
}
