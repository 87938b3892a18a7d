import type { Logger } from 'pino'
import type { Entity } from './entity/entity.js'
import type { ConfiguredDatabase } from './sql/connect.js'
import type { Database } from './sql/engines/engine.js'
import type { OwnNames, OwnTables } from './sql/engines/own-tables.js'
import type { TableFacts } from './sql/entity-rows/table-facts.js'

/** What a start asks of the schema of an application, `schemaAtStart` in schema/. No request asks it anything. */
export interface SchemaAtStart {
  /**
   * Brings the primary database up to date, and checks rights, tables and rows against the entities. Throws a StartError that
   * names the setting, the reason and the remedy where the service could not serve it. `awaitMigrations`: wait until somebody
   * else has run pending migrations instead of running them, and say so once.
   */
  primary(
    database: Database,
    how: Preparing & { readonly mismatch: SchemaMismatch },
    awaitMigrations?: AbortSignal
  ): Promise<PreparedPrimary>
  /** The same for the second store, whose errors are those of the database: it may be down, and is tried again. */
  second(database: Database, how: Preparing): Promise<void>
  /** Loads the sample rows of the application into empty databases. false where it has none, or a database has rows. */
  loadSample(
    stores: { readonly primary: Database; readonly second: Database | undefined },
    entities: readonly Entity[]
  ): Promise<boolean>
}

export interface Preparing {
  readonly configured: ConfiguredDatabase
  /** What ENGINE_TABLE_PREFIX says. */
  readonly ownNames: OwnNames
  /** Whether pending migrations run. Otherwise they are mistakes. */
  readonly mayMigrate: boolean
  readonly log: Logger
}

/** SCHEMA_MISMATCH; undefined: `isolate` for tables of others, `stop` for those that migrations of the application make. */
export type SchemaMismatch = 'isolate' | 'stop' | undefined

/** The primary database, ready for requests. */
export interface PreparedPrimary {
  readonly tables: OwnTables
  /** Those of the application, with the tables that they have in this database, and full-text searches only where it has them. */
  readonly entities: readonly Entity[]
  readonly facts: TableFacts
  readonly fit: TableFit
}

/**
 * Which resources are out of service because their tables do not fit, and why. It looks again every minute. It looks at
 * once after a call with an unforeseen error, but only once a minute for each resource.
 */
export interface TableFit {
  /** The reasons by resource. They name tables and columns, which no caller may see. */
  readonly isolated: ReadonlyMap<string, string>
  /** A call of the resource ended in an unforeseen error. */
  failed(resource: string): void
  /** Looks every minute until the process stops. Never rejects, and its timer keeps no process alive. */
  watch(how: WatchingFit): Promise<void>
}

export interface WatchingFit {
  /** Called when `facts` have changed. Statements that were made of them are then wrong. */
  readonly onFacts: () => void
  readonly stopping: AbortSignal
  /** Milliseconds from one look to the next. Default: a minute. */
  readonly every: number | undefined
}
