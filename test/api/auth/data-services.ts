import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase, type DatabaseKind, type FreshDatabase } from '../../harness/database.js'
import { startProcess, type LogEntry, type ServiceProcess } from '../../harness/service-process.js'
import { listening } from '../../harness/stack.js'
import { AuthCaller } from './auth-caller.js'

type Settings = Readonly<Record<string, string>>

/** Real data services, one after the other or side by side, over one database and one data folder. */
export class DataServices implements AsyncDisposable {
  readonly database: FreshDatabase
  readonly dataDir: string
  readonly #running: { readonly service: ServiceProcess; readonly caller: AuthCaller }[] = []

  private constructor(database: FreshDatabase, dataDir: string) {
    this.database = database
    this.dataDir = dataDir
  }

  static async over(kind: DatabaseKind): Promise<DataServices> {
    return new DataServices(await freshDatabase(kind), await mkdtemp(join(tmpdir(), 'data-')))
  }

  /** Resolves when it listens. */
  async start(settings: Settings = {}): Promise<{ readonly caller: AuthCaller; readonly service: ServiceProcess }> {
    const service = startProcess('data-service/main.js', {
      DATA_DIR: this.dataDir,
      DATABASE_URL: this.database.url,
      REVIEWS_DATABASE_URL: this.database.reviewsUrl,
      SAMPLE_DATA: 'true',
      OWNER_BYPASS_ROLE: 'Admin',
      DATA_SERVICE_ADDRESS: '127.0.0.1:0',
      ...settings
    })
    const started = { service, caller: new AuthCaller(await listening(service, 'address')) }
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
