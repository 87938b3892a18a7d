import type { Options, Sequelize, Transaction } from 'sequelize'
import type { PoolState } from '../../observe/data-service-metrics.js'
import type { Untested } from '../../../shared/inner-members.js'
import type { ErrorKind, Reader, Transactions } from './sessions.js'
import type { EngineName } from './engine-name.js'
import type { SqlDialect } from './statement.js'

/**
 * A kind of database: how its URLs look, and how one is opened. The list in `engines.ts` is the only place outside of an
 * engine's own files that names it. All other code uses the `Database` that it opens.
 */
export interface Engine {
  /** The beginnings of its URLs, such as `mysql://`. */
  readonly schemes: readonly string[]
  /** Whether a transaction reaches other databases of the same server (`OwnNames.schema`). */
  readonly hasSchemas: boolean
  /** How its URLs are written, for messages to the operator. */
  readonly urlForm: string
  /** What is wrong and what to do when a database cannot be opened, by the `code` of the error. */
  readonly openingAdvice: Readonly<Record<string, OpeningAdvice>>
  /** The same when it is open and rejects a statement. For any other code the message of the database is shown. */
  readonly statementAdvice: Readonly<Record<string, OpeningAdvice>>
  /** What has become of a migration of which the database rejected a statement. */
  readonly afterFailedMigration: string
  /** How the installed driver differs from the tested one, where it is used another, slower way then; undefined where not. */
  untestedDriver(): Untested | undefined
  /**
   * Parses a URL and opens nothing. Throws an Error whose message says what is right, with `urlForms` (those of all
   * engines) if the whole form is wrong. The message contains no part of the URL, which may contain a password.
   */
  locate(url: string, urlForms: string): DatabaseLocation
}

export interface OpeningAdvice {
  readonly wrong: string
  readonly remedy: string
}

/** The place of a database, from its URL. */
export interface DatabaseLocation {
  /** Equal for two URLs that name the same database, as far as their texts show. */
  readonly spelling: string
  /** Whether statements and rows go over a network that can be read on the way. */
  readonly isClearText: boolean
  /** Whether this process reads and writes the files itself. */
  readonly isEmbedded: boolean
  /** Whether there is something to open. A server answers that itself, when it is asked. */
  exists(): Promise<boolean>
  /** An empty database of this kind in a folder of the caller's, to be shown in the place of one that does not exist. */
  standIn(folder: string): DatabaseLocation
  /** Makes what the database needs before it can be opened, such as the folder of its file. */
  prepare(): Promise<void>
  /**
   * Opens it lazily: nothing is sent before the first statement, so a database that is down does not fail here.
   * `poolSize` is the maximum of its pool's connections, 10 by default. An engine without a pool ignores it.
   */
  open(poolSize?: number): Database
}

/** An opened database, with everything that depends on the kind of database. `sequelize.close()` closes it. */
export interface Database {
  /** The name for people: that of the database on its server, or of the file. */
  readonly name: string
  readonly sequelize: Sequelize
  readonly kind: EngineName
  readonly dialect: SqlDialect
  readonly bulk: BulkLoading
  /** Reads outside of transactions. `what` names the database in errors, as `The database`. */
  openReader(what: string): Reader
  /** Call it once for all writers: if the database has one writer at a time, they wait for each other in this object. */
  openTransactions(): Transactions
  /**
   * The same database with a pool of its own, so that waiting statements take no connection from others. undefined if the
   * database has one writer at a time, so that writers wait for each other anyway.
   */
  withOwnPool(connections: number): Database | undefined
  /** The connections of the pool at this moment; undefined for a database that has none. */
  poolState(): PoolState | undefined
  classifyError(error: unknown): ErrorKind
  openProbe(): Probe
  /** What a server or a file is set to, as far as it matters here. Rejects if it cannot be reached. Changes nothing. */
  examine(): Promise<readonly Examined[]>
  /** Unique names of this database, which has to be reachable. A database that does not exist yet has none. */
  identity(): Promise<readonly string[]>
}

/** One thing about a server or a file, for the operator. */
export interface Examined {
  /** Such as `clock` or `max_connections`. */
  readonly what: string
  readonly found: string
  /** `all`: nothing is safe as it is. `some`: some requests or some moments suffer. Absent where it is right. */
  readonly harms?: 'all' | 'some'
  /** What to do about it: a sentence. */
  readonly remedy?: string
}

/** Options that Sequelize gets for every kind of database. */
export const SEQUELIZE_OPTIONS: Options = {
  logging: false,
  timezone: '+00:00',
  // The callers decide for each statement whether it is repeated.
  retry: { max: 1 },
  define: { timestamps: false, freezeTableName: true }
}

/** Checks whether a database can serve, on a connection of its own. */
export interface Probe {
  /** Rejects if the database cannot serve. */
  look(): Promise<void>
  /** Closes what the probe holds, also during a check. The next check opens it again. */
  reset(): void
}

/** What loads many rows past the rules of their entities, such as a sample. */
export interface BulkLoading {
  /** The most values of one statement. */
  readonly maxValues: number
  /** A statement that comes first in a transaction that loads many rows. */
  readonly prepare?: string
  /**
   * Reserves `count` consecutive numbers of a table whose ids the database numbers, and returns the first. They are above
   * all that were ever given, and rows that others add meanwhile get higher ones.
   */
  reserveIds(table: string, count: number, transaction: Transaction): Promise<number>
}
