import { randomBytes } from 'node:crypto'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { loadSample } from '../examples/store/sample/sample-store.js'
import { primaryMigrations } from '../examples/store/schema/migrations.js'
import { secondMigrations } from '../examples/store/schema/second-migrations.js'
import { DomainError } from '../shared/errors.js'
import { makeFolder } from '../shared/files.js'
import { StartError } from '../shared/start-error.js'
import type { AuthStore } from './auth/accounts.js'
import type { DataServiceConfig } from './config.js'
import type { Entity } from './entity/entity.js'
import type { ReadStore, WriteStore } from './plan/stores.js'
import { openAuthStore } from './sql/accounts.js'
import { openTransactions } from './sql/attempts.js'
import { type ConfiguredDatabase, connect, type Database, openFailure, sameDatabase } from './sql/connect.js'
import { type DatabaseHealth, watchDatabase } from './sql/database-health.js'
import { parseDatabaseUrl } from './sql/engines/engine.js'
import { unreachable } from './sql/engines/error-classes.js'
import { createReadStore } from './sql/read-store.js'
import { checkRights, checkSchema } from './sql/schema/check-schema.js'
import { migrate } from './sql/schema/migrate.js'
import { createWriteStore } from './sql/writes.js'

const RETRY_SECOND_STORE = 5000

export interface OpenStores {
  readonly read: ReadStore
  readonly write: WriteStore
  readonly auth: AuthStore
  /** Of the primary database. */
  readonly health: DatabaseHealth
  close(): Promise<void>
}

/**
 * Migrates, loads the sample store where it is asked for, and checks tables and indexes against the entities. The
 * second store may be down: it is brought up to date as soon as it can be reached, and nothing else waits for it.
 */
export async function openStores(
  config: DataServiceConfig,
  entities: readonly Entity[],
  how: { readonly log: Logger; readonly stopping: AbortSignal }
): Promise<OpenStores> {
  const { log, stopping } = how
  const main = { setting: 'DATABASE_URL', url: config.databaseUrl }
  const reviews = { setting: 'REVIEWS_DATABASE_URL', url: config.reviewsDatabaseUrl }
  const primary = await opening(main, () => open(main.url, config.databasePoolSize))
  const second = await opening(reviews, () => open(reviews.url, config.databasePoolSize))
  await opening(main, () => migrate(primary.sequelize, primaryMigrations, log))
  await opening(main, () => checkRights(primary.sequelize))
  await checkSchema(primary.sequelize, 'primary', entities)
  const prepareSecond = async (): Promise<void> => {
    if (await sameDatabase(primary, second)) {
      throw new StartError('REVIEWS_DATABASE_URL leads to the database of DATABASE_URL by another name. Name another.')
    }
    await migrate(second.sequelize, secondMigrations, log)
    await checkRights(second.sequelize)
    await checkSchema(second.sequelize, 'second', entities)
    if (config.sampleData && (await loadSample(primary.sequelize, second.sequelize))) log.info('sample store loaded')
  }
  try {
    await prepareSecond()
  } catch (error) {
    const failure = openFailure(error, reviews)
    if (!(unreachable(error, 'The second database') instanceof DomainError)) throw failure
    log.error(reasonOf(failure), 'second store not reached: what includes its children is answered 503 until it is')
    void retry(prepareSecond, { log, stopping, database: reviews })
  }
  const read = createReadStore({ primary, second }, entities)
  const { random } = Math
  const health = await watchDatabase(primary)
  const transactions = openTransactions(primary)
  const write = createWriteStore(primary, entities, { transactions, random, randomBytes })
  const auth = openAuthStore(primary, { transactions, random })
  return {
    read,
    write,
    auth,
    health,
    close: async () => {
      await health.close()
      await auth.close()
      await write.close()
      await read.close()
    }
  }
}

/** `work` on a database, which says what is wrong with its setting where it cannot be opened. */
async function opening<T>(database: ConfiguredDatabase, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw openFailure(error, database)
  }
}

async function open(url: string, poolSize: number): Promise<Database> {
  const settings = parseDatabaseUrl(url)
  if (settings.kind === 'sqlite') await makeFolder(dirname(settings.file))
  return connect(settings, poolSize)
}

/** What was foreseen needs no stack. */
function reasonOf(failure: unknown): object {
  return failure instanceof StartError ? { reason: failure.message } : { err: failure }
}

/** Until it succeeds or the process stops; never rejects. */
async function retry(
  work: () => Promise<void>,
  how: { log: Logger; stopping: AbortSignal; database: ConfiguredDatabase }
): Promise<void> {
  while (!how.stopping.aborted) {
    try {
      await delay(RETRY_SECOND_STORE, undefined, { signal: how.stopping, ref: false })
      await work()
      how.log.info('second store ready')
      return
    } catch (error) {
      if (!how.stopping.aborted)
        how.log.warn(reasonOf(openFailure(error, how.database)), 'second store still not ready')
    }
  }
}
