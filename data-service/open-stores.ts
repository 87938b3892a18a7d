import { MemoryGuard } from '../shared/memory-guard.js'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { DomainError } from '../shared/errors.js'
import type { Opened } from '../shared/lifecycle.js'
import { StartError } from '../shared/start-error.js'
import { contentKey, pooledBytes } from './entity/fields/row-version.js'
import type { ServedApplication } from './application.js'
import type { AuthStore } from './auth/accounts/accounts.js'
import { type DataServiceConfig, missingVersionSecret } from './config.js'
import type { Entity } from './entity/entity.js'
import type { PreparedPrimary, SchemaAtStart, TableFit } from './schema-at-start.js'
import type { CacheState, PoolState } from './observe/data-service-metrics.js'
import type { OutboxStore, ReadStore, WriteStore } from './plan/model/stores.js'
import { openAuthStore } from './sql/own-rows/accounts.js'
import {
  type ConfiguredDatabase,
  type DatabaseHealth,
  explaining,
  openDatabase,
  openFailure,
  opening,
  sameDatabase,
  watchDatabase,
  withoutHungReads
} from './sql/connect.js'
import type { Database } from './sql/engines/engine.js'
import { toDomainError } from './sql/engines/sessions.js'
import { createOutboxStore } from './sql/own-rows/outbox.js'
import { SqlReadStore } from './sql/entity-rows/reads.js'
import { RowModels } from './sql/entity-rows/statements/row-models.js'
import { CacheUse } from './sql/entity-rows/statements/statements.js'
import { createWriteStore } from './sql/entity-rows/writes.js'

/** Milliseconds between attempts to reach a second store that is down. */
const RETRY_SECOND_STORE = 5000

export interface OpenStores {
  /** Those of the application, with the tables that they have in this database. */
  readonly entities: readonly Entity[]
  /** Which of them are out of service, since their tables do not fit. */
  readonly fit: TableFit
  /** Which of them shows the audit entries. */
  readonly auditTrail: string | undefined
  readonly memory: MemoryGuard
  readonly read: ReadStore
  readonly write: WriteStore
  readonly auth: AuthStore
  readonly outbox: OutboxStore
  /** The health of the primary database. */
  readonly health: DatabaseHealth
  /** By name: those of the databases, and that of log-ins. */
  readonly pools: () => ReadonlyMap<string, PoolState>
  /** How often the text of a statement was kept. */
  readonly statementUse: CacheState
}

interface HowToOpen {
  readonly schema: SchemaAtStart
  readonly log: Logger
  /** Everything that is opened is registered here, and closed with it. */
  readonly opened: Opened
  readonly stopping: AbortSignal
  /** From 0 up to 1. */
  readonly random: () => number
  /** Called after the COMMIT of a transaction that has emitted events. */
  readonly onEmitted: () => void
  /** Whether it waits until somebody else has run pending migrations, and does not run them. */
  readonly awaitMigrations: boolean
  /** Milliseconds between two looks at tables of others. */
  readonly lookEvery: number | undefined
}

/**
 * Migrates if MIGRATE_AT_START is on, loads the sample rows if SAMPLE_DATA is on, and checks tables and indexes against the
 * entities. The second store may be down: it is brought up to date as soon as it can be reached, and nothing else waits for it.
 */
export async function openStores(
  config: DataServiceConfig,
  application: ServedApplication,
  how: HowToOpen
): Promise<OpenStores> {
  const { schema, opened, random } = how
  const versionKey = versionKeyOf(config, application)
  const first = config.databases.primary
  const primary = await opening(first, () => openDatabase(first.url, config.databasePoolSize))
  opened.add(primary, ({ sequelize }) => sequelize.close())
  const { schemaMismatch: mismatch, ownNames, migrateAtStart: mayMigrate } = config
  const { tables, entities, facts, fit } = await schema.primary(
    primary,
    { configured: first, ownNames, mayMigrate, mismatch, log: how.log },
    how.awaitMigrations ? how.stopping : undefined
  )
  const second = await openSample(config, { ...how, primary, entities })
  const health = opened.add(await watchDatabase(primary), (watch) => watch.close())
  // Nobody watches the health of the second store. A read of it takes the children of one page and never as long as this.
  const readable = {
    primary: withoutHungReads(primary, () => !health.isServing),
    second: second && withoutHungReads(second, () => true)
  }
  const statementUse = new CacheUse()
  const models = new RowModels(primary.sequelize, entities, 'primary')
  const close = (store: { close(): Promise<void> }): Promise<void> => store.close()
  const memory = new MemoryGuard(how.log)
  const transactions = primary.openTransactions()
  const rowVersions = pooledBytes(randomBytes)
  const { onEmitted } = how
  const shared = { facts, tables, statementUse, models, versionKey }
  const read = opened.add(new SqlReadStore(readable, entities, { ...shared, memory }), close)
  const writing = { ...shared, transactions, random, randomBytes: rowVersions, onEmitted }
  const write = opened.add(createWriteStore(primary, entities, writing), close)
  const outbox = opened.add(createOutboxStore(readable.primary, { tables, transactions, random }), close)
  const auth = opened.add(openAuthStore(primary, { tables, transactions, random, onEmitted }), close)
  const watching = fit.watch({ onFacts: () => statementUse.forget(), stopping: how.stopping, every: how.lookEvery })
  opened.add('tables', () => watching)
  return {
    entities,
    fit,
    auditTrail: entities.find(({ table }) => table === `${tables.prefix}audit_entries`)?.name,
    memory,
    read,
    write,
    auth,
    outbox,
    health,
    statementUse,
    pools: () => {
      const states = { primary: primary.poolState(), second: second?.poolState(), logins: auth.poolState() }
      return new Map(Object.entries(states).flatMap(([name, state]) => (state === undefined ? [] : [[name, state]])))
    }
  }
}

/** The key of row versions that are made of content. Throws where an entity has some, and the settings have no secret for it. */
function versionKeyOf(config: DataServiceConfig, application: ServedApplication): string | undefined {
  const missing = missingVersionSecret(config, application)
  if (missing !== undefined) throw new StartError(missing)
  const { rowVersionSecret } = config
  return rowVersionSecret === undefined ? undefined : contentKey(rowVersionSecret)
}

/** Loads the sample rows if the settings ask for them, and opens the second store, which holds a part of them. */
async function openSample(
  config: DataServiceConfig,
  how: HowToOpen & Pick<PreparedPrimary, 'entities'> & { readonly primary: Database }
): Promise<Database | undefined> {
  const { schema, log, opened, stopping, primary, entities } = how
  const loadSample = async (second: Database | undefined): Promise<void> => {
    if (config.sampleData && (await schema.loadSample({ primary, second }, entities))) log.info('sample rows loaded')
  }
  const { primary: first, second: other } = config.databases
  if (other === undefined) {
    await explaining(first, () => loadSample(undefined))
    return undefined
  }
  return openSecondStore(other, primary, { config, schema, log, opened, stopping, loadSample })
}

/** Opens the second store. One that is down is brought up to date later, and the rest of the service does not wait for it. */
async function openSecondStore(
  other: ConfiguredDatabase,
  primary: Database,
  how: {
    readonly config: DataServiceConfig
    readonly schema: SchemaAtStart
    readonly log: Logger
    readonly opened: Opened
    readonly stopping: AbortSignal
    readonly loadSample: (second: Database) => Promise<void>
  }
): Promise<Database> {
  const { config, schema, log, opened, stopping, loadSample } = how
  const second = await opening(other, () => openDatabase(other.url, config.databasePoolSize))
  opened.add(second, ({ sequelize }) => sequelize.close())
  const prepare = async (): Promise<void> => {
    if (await sameDatabase(primary, second)) {
      const [name, taken] = [other.setting, config.databases.primary.setting]
      throw new StartError(`${name} leads to the database of ${taken} by another name. Name another.`)
    }
    const { ownNames, migrateAtStart: mayMigrate } = config
    await schema.second(second, { configured: other, ownNames, mayMigrate, log })
    await loadSample(second)
  }
  try {
    await prepare()
  } catch (error) {
    const failure = openFailure(error, other)
    const kind = second.classifyError(error)
    if (!(toDomainError(error, kind, 'The second database') instanceof DomainError)) throw failure
    log.error(reasonOf(failure), 'second store not reached: what includes its children is answered 503 until it is')
    void repeatUntilDone(prepare, { log, stopping, database: other })
  }
  return second
}

/** The log members of a failure: the message of a StartError, any other error with its stack. */
function reasonOf(failure: unknown): object {
  return failure instanceof StartError ? { reason: failure.message } : { err: failure }
}

/** Repeats `work` until it succeeds or the process stops. It never rejects. */
async function repeatUntilDone(
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
