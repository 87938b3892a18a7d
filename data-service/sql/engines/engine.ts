import type { Options, Sequelize, Transaction } from 'sequelize'
import { DomainError } from '../../../shared/errors.js'
import type { Field, FieldType, Operand, Value } from '../../entity/fields/field.js'
import type { ColumnTypes, StoredValues } from './live-schema/column-types.js'
import type { LiveColumn, LiveSchema } from './live-schema/live-schema.js'
import type { OwnTables, OwnTablesMigration } from './own-tables.js'
import type { ChecksOf } from './schema-checks.js'
import type { PresentTable, TableChange } from './tables.js'
import type { BoundValue, BoundValues, Expression, Statement, StatementText } from './statement.js'

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
  /** The same when it is open and rejects a statement. Codes that are in neither are told as the database says them. */
  readonly statementAdvice: Readonly<Record<string, OpeningAdvice>>
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
  /** Whether there is something to open. A server answers that itself, when it is asked. */
  exists(): Promise<boolean>
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
  readonly dialect: SqlDialect
  readonly schema: SchemaTools
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
  classifyError(error: unknown): ErrorKind
  openProbe(): Probe
  /** Unique names of this database, which has to be reachable. A database that does not exist yet has none. */
  identity(): Promise<readonly string[]>
}

/** Options that Sequelize gets for every kind of database. */
export const SEQUELIZE_OPTIONS: Options = {
  logging: false,
  timezone: '+00:00',
  // The callers decide for each statement whether it is repeated.
  retry: { max: 1 },
  define: { timestamps: false, freezeTableName: true }
}

/**
 * The kind of an error:
 * - `deadlock`: the database chose this transaction as the victim; on a Galera cluster also a failed certification
 * - `lostRace`: another transaction was first, for any other reason
 * - `lockTimeout`: another transaction or process holds a lock for too long
 * - `constraint`: a unique or foreign key forbids the change
 * - `connectionLost`: the connection broke, or the server ended it
 * - `commitUnknown`: a COMMIT was sent, and it is unknown whether it took effect
 * - `unreachable`: the database cannot be reached at the moment
 * - `unavailable`: the database is reached and rejects statements for a temporary reason, such as a full disk
 * - `other`: a defect of this service
 */
export type ErrorKind =
  | 'deadlock'
  | 'lostRace'
  | 'lockTimeout'
  | 'constraint'
  | 'connectionLost'
  | 'commitUnknown'
  | 'unreachable'
  | 'unavailable'
  | 'other'

/** It is unknown whether a COMMIT took effect. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown'
}

/** Seconds. */
const RETRY_AFTER = 1

/**
 * The error that callers see: `upstream.unavailable` for a database that cannot be reached or rejects statements for a
 * temporary reason. Any other error is returned unchanged. `what` names the database to callers.
 */
export function toDomainError(error: unknown, kind: ErrorKind, what: string): unknown {
  switch (kind) {
    case 'unreachable':
    case 'connectionLost':
      return upstreamUnavailable(`${what} cannot be reached. Try again.`, error)
    case 'lockTimeout':
    case 'unavailable':
      return upstreamUnavailable(`${what} cannot do this just now. Try again.`, error)
    case 'deadlock':
    case 'lostRace':
    case 'constraint':
    case 'commitUnknown':
    case 'other':
      return error
  }
}

export function upstreamUnavailable(detail: string, cause: unknown): DomainError {
  return new DomainError('upstream.unavailable', detail, { retryAfter: RETRY_AFTER, cause })
}

/** Comparisons with a part of a text. */
export type TextMatch = 'contains' | 'startsWith' | 'endsWith'

/** The differences between databases in the text and the values of statements. */
export interface SqlDialect {
  /**
   * The function that a column of the type is compared and sorted by, to get the order of the contract. `equal` is for
   * comparisons that do not depend on an order.
   */
  readonly keyFunction: (type: FieldType, use: 'equal' | 'order') => string | undefined
  /** The SQL of an operand bound under a name, with a type so that the column is not compared as a double. */
  readonly operand: (name: string, field: Field) => string
  /** The bound form of an operand in a comparison. */
  readonly bind: (operand: Operand, field: Field) => BoundValue
  /** The bound form of a value that is written into a column. */
  readonly store: (value: Exclude<Value, null>, field: Field) => BoundValue
  /** Whether a set, a column's expression, has the word that is bound as an operand: an expression that is 1 or 0. */
  readonly hasWord: (column: Expression, operand: string) => Expression
  /**
   * A condition that a text column is exactly the operand, character by character, whatever its collation equates.
   * `column` is quoted, `operand` a `$name` that is bound as plain text. An index of the column serves it.
   */
  readonly isExactly: (column: string, operand: string) => string
  /** Rows whose columns are one of a list of tuples, by an index of the columns. All parts are quoted columns and `$names`. */
  readonly isOneOfTuples: (columns: readonly string[], tuples: readonly (readonly string[])[]) => string
  /** A function of (column, operand) that returns 1 or 0. undefined: LIKE is used. */
  readonly matchFunction: (match: TextMatch) => string | undefined
  readonly bindMatch: (operand: string, match: TextMatch) => BoundValue
  /**
   * Whether the optimizer reads an OR of ranges of one index as these ranges, in the order of the index. If not, each
   * range is a SELECT of its own, and UNION ALL joins them.
   */
  readonly readsRangesOfOr: boolean
  /** Whether a statement failed because an index that it names does not exist. */
  isIndexMissing(error: unknown): boolean
  /** Decodes a value of the driver. Throws `undecodable` for what is no value of the field. */
  readonly decode: (field: Field) => (raw: unknown) => Value
  /** An INSERT that only locks the row if one with the same unique `key` exists. */
  readonly insertOrKeep: (insert: string, key: string) => string
  /** An INSERT that makes the assignment `update` if a row with the same unique `key` exists. */
  readonly insertOrUpdate: (insert: string, key: string, update: string) => string
  /**
   * The version after the one in a column of 8 bytes: one more as a big-endian number, after the highest one 0. No version
   * of a row repeats, and two writers of a row cannot make the same one.
   */
  readonly nextVersion: (column: string) => string
  /** The end of a SELECT that locks its rows until the transaction ends. Empty if the database has one writer at a time. */
  readonly forUpdate: string
}

/** One connection for the duration of one piece of work. */
export interface ReadSession {
  /** The decoded rows, with values in the order of the statement's columns. */
  run(statement: Statement, values: BoundValues): Promise<Value[][]>
}

/** A connection of a Reader. */
export interface ReaderSession extends ReadSession {
  /** As `run`, for a text that the service did not write: the database lets it change nothing. */
  runReadOnly(statement: Statement, values: BoundValues): Promise<Value[][]>
}

/** Runs the statements of a transaction. */
export interface WriteSession extends ReadSession {
  change(text: StatementText, values: BoundValues): Promise<Changed>
}

/** The outcome of a statement that changes rows. */
export interface Changed {
  readonly rows: number
  /** The number that the database gave a single inserted row, in the driver's form. */
  readonly insertedId: string | number | bigint
}

/**
 * Runs compiled statements on one database. An aborted signal stops the running statement in the database and rejects
 * with the signal's reason. Errors are those of `toDomainError`.
 */
export interface Reader {
  read<Result>(signal: AbortSignal, work: (session: ReaderSession) => Promise<Result>): Promise<Result>
  /** Opens a connection on which every statement sees the same state of the database. */
  snapshot(signal: AbortSignal): Promise<Snapshot>
  /** Waits for running work. */
  close(): Promise<void>
}

export interface Snapshot extends ReadSession {
  /** Rows to read with one statement. */
  readonly batch: number
  /** Ends the snapshot in any state. Calling it twice is harmless. */
  close(): Promise<void>
}

/** The transactions of one database. Errors are the driver's own. */
export interface Transactions {
  readonly classifyError: (error: unknown) => ErrorKind
  begin(options: BeginOptions): Promise<OpenTransaction>
  /** Waits for running work. */
  close(): Promise<void>
}

export interface BeginOptions {
  /** Aborting it stops the running statement of the transaction, also the one that begins it. */
  readonly signal: AbortSignal
  /** Longest wait, in ms, for the place of a single writer. After it the error is a `lockTimeout`. */
  readonly timeout: number
}

/** A transaction that has begun. It has a connection of its own until it ends. */
export interface OpenTransaction extends WriteSession {
  /** The index of the transaction's node in its cluster. undefined if no other node can take writes. */
  readonly node: number | undefined
  /** As `change`, but it waits for a lock at most the given whole seconds. After them the error is a `lockTimeout`. */
  changeWithin(seconds: number, text: StatementText, values: BoundValues): Promise<Changed>
  /** Cannot be aborted. After a rejection no transaction is open, and the error's kind says what happened to it. */
  commit(): Promise<void>
  /** Rolls back and releases the connection in any state. Never rejects. */
  rollback(): Promise<void>
}

/** The outcome of the work, or a rejection with the signal's reason as soon as it is aborted. The work itself goes on. */
export function raceAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    const settled = (): void => signal.removeEventListener('abort', abort)
    work.then(
      (result) => {
        settled()
        resolve(result)
      },
      (error: unknown) => {
        settled()
        reject(error)
      }
    )
  })
}

/** Checks whether a database can serve, on a connection of its own. */
export interface Probe {
  /** Rejects if the database cannot serve. */
  look(): Promise<void>
  /** Closes what the probe holds, also during a check. The next check opens it again. */
  reset(): void
}

/** What migrations and the checks at start need. Queries go through Sequelize; errors are its own. */
export interface SchemaTools {
  ddl(own: OwnTables): Promise<Ddl>
  /**
   * The tables and views of the database, or of another one of the same server (`OwnNames.schema`), by name. A server
   * hides those to which the account has no right at all.
   */
  present(schema?: string): Promise<ReadonlyMap<string, PresentRelation>>
  /**
   * The tables and views that are there now, whoever made them. The number of statements does not depend on that of the
   * tables. Needs only the right to SELECT; what an account may not see is missing (`LiveSchema`).
   */
  describe(): Promise<LiveSchema>
  /** What the service does with a column of each native type. */
  readonly columnTypes: ColumnTypes
  /** What the first hundred thousand rows of a table hold in columns whose declared type leaves it open. */
  storedValues(table: string, columns: readonly LiveColumn[]): Promise<ReadonlyMap<string, StoredValues>>
  /** Of all rows of a table or view: how many have NULL in one of the columns, and how many share all of them with another. */
  countKey(table: string, columns: readonly string[]): Promise<{ readonly nulls: number; readonly duplicates: number }>
  /**
   * The orders of rows that an index serves, as `products: category_id ASC,price DESC,id ASC`, each with the name of the
   * index. It matters only where the optimizer reads an OR of ranges (`SqlDialect.readsRangesOfOr`), and is empty
   * otherwise.
   */
  sortOrders(): Promise<ReadonlyMap<string, string>>
  /**
   * Names of the migrations that have run in the database, read without a lock. Empty if it has no record of them.
   */
  appliedMigrations(own: OwnTables): Promise<ReadonlySet<string>>
  /** What the operator can do about an error of a migration. undefined if that is not known. */
  migrationRemedy(error: unknown, own: OwnTables): Promise<string | undefined>
  /**
   * As `migrationRemedy`, before the first statement: where the server says that the account has not all rights that these
   * statements take. undefined if it has them, or if that cannot be known.
   */
  missingRights(statements: readonly string[], own: OwnTables): Promise<string | undefined>
  /** The SQL that an UPDATE sets a column to its default with. undefined for a column without a default. */
  defaultText(table: string, column: string): Promise<string | undefined>
  /** How columns of a live schema hold the values of fields, and how to mend them. */
  readonly checksOf: ChecksOf
  /**
   * Throws a StartError that names the missing rights: those `needed` for the tables of entities, and all to the tables of
   * the engine, of whose record of migrations SELECT is enough. Other tables are nobody's business. Writes nothing.
   */
  checkRights(needed: readonly TableRights[], own: OwnTables): Promise<void>
  /**
   * The GRANT statements for an account that migrates, and for one that serves with these rights. undefined for a kind of
   * database without accounts. Throws a StartError for an account that cannot be read.
   */
  grants(account: string, needed: readonly TableRights[], own: OwnTables): Promise<Grants | undefined>
  /**
   * Runs `work` in a transaction while no other process runs work under the same `name` against the same database;
   * others wait until it has committed. The lock of a process that dies is released. With `checkedAtEnd` an engine that
   * makes tables anew checks foreign keys at the end of the transaction and not before, and deletes no row for them.
   */
  withLock<Result>(
    name: string,
    work: (transaction: Transaction) => Promise<Result>,
    foreignKeys?: 'checkedAtEnd'
  ): Promise<Result>
}

export type TableRight = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE'

export interface Grants {
  readonly migrating: readonly string[]
  readonly serving: readonly string[]
}

/** What the service does with the rows of a table. */
export interface TableRights {
  readonly table: string
  readonly rights: readonly TableRight[]
  /** A column that an UPDATE can name. */
  readonly column: string
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

/** A table or a view that stands in a database. */
export interface PresentRelation {
  readonly kind: 'table' | 'view'
  readonly columns: ReadonlySet<string>
}

/** The texts of DDL statements. */
export interface Ddl {
  /** The name of the kind of database, an `EngineName` of engines.ts. */
  readonly engine: string
  /**
   * The statements of a change, repeatable: they leave out what `present` shows to be done. Without it they are those for a
   * table as the change expects it.
   */
  statements(change: TableChange, present?: PresentTable): readonly string[]
  /** A SELECT of all that a table has: `kind` (`column`, `index`, `foreignKey`, …), `name`, and the `text` that makes it. */
  presence(table: string): string
  /** Whether a change takes `foreignKeys: 'checkedAtEnd'` of `withLock`. */
  defersForeignKeys(change: TableChange): boolean
  /**
   * The statements of each migration of the service's own tables, with the names that these have in the database. They
   * are never changed after their release.
   */
  readonly ownTables: Readonly<Record<OwnTablesMigration, readonly string[]>>
  /** Whether a DDL statement failed because the column that it adds exists. */
  isColumnThere(error: unknown): boolean
  /** Makes the record of the migrations that have run. */
  readonly createMigrationRecord: string
  /** An INSERT of `$name` into it, which changes nothing if the name exists. */
  readonly recordMigration: string
  /** A DELETE of `$name` from it. */
  readonly forgetMigration: string
  /** A SELECT of each `name` in it. */
  readonly recorded: string
}
