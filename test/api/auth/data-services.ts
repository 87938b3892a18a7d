import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../../data-service/sql/connect.js'
import { migrate } from '../../../data-service/sql/schema/migrate.js'
import { OWN } from '../../harness/own-tables.js'
import { primaryMigrations } from '../../harness/primary-migrations.js'
import { createLogger } from '../../../shared/logger.js'
import { type DatabaseKind, type FreshDatabase, freshDatabase } from '../../harness/database.js'
import { listening, type LogEntry, type ServiceProcess, startProcess } from '../../stack/service-process.js'
import { STORE } from '../../harness/stack.js'
import { insertRows, TABLES } from '../../harness/insert-rows.js'
import { withTestDatabase } from '../../oracle/test-database.js'
import { AuthCaller } from './auth-caller.js'

interface Started {
  readonly service: ServiceProcess
  /** host:port */
  readonly address: string
  readonly caller: AuthCaller
}

type Settings = Readonly<Record<string, string>>

/** The thousands of rows of the sample store are loaded into an empty database alone, its accounts into any. */
async function withoutSampleStore(url: string): Promise<void> {
  const database = connect(url)
  await migrate(database, primaryMigrations, { own: OWN, log: createLogger({ name: 'test', level: 'silent' }) })
  await database.sequelize.close()
  const category = { id: 1, name: 'Tools', parentId: null, slug: 'tools' }
  await withTestDatabase(url, (database) => insertRows(database, TABLES.categories, [category]))
}

/** Real data services, one after the other or side by side, over one database and one data folder. */
export class DataServices implements AsyncDisposable {
  readonly database: FreshDatabase
  readonly dataDir: string
  readonly #running: Started[] = []

  private constructor(database: FreshDatabase, dataDir: string) {
    this.database = database
    this.dataDir = dataDir
  }

  static async over(kind: DatabaseKind): Promise<DataServices> {
    const database = await freshDatabase(kind)
    await withoutSampleStore(database.url)
    return new DataServices(database, await mkdtemp(join(tmpdir(), 'data-')))
  }

  /** Resolves when it listens. */
  async start(settings: Settings = {}): Promise<Started> {
    const service = startProcess(STORE, {
      DATA_DIR: this.dataDir,
      DATABASE_URL: this.database.url,
      REVIEWS_DATABASE_URL: this.database.reviewsUrl,
      SAMPLE_DATA: 'true',
      MIGRATE_AT_START: 'true',
      OWNER_BYPASS_ROLE: 'Admin',
      DATA_SERVICE_ADDRESS: '127.0.0.1:0',
      ...settings
    })
    const address = await listening(service, 'address')
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
