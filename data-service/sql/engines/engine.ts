import type { Options, Sequelize, Transaction } from 'sequelize'
import { DomainError } from '../../../shared/errors.js'
import type { Field, FieldType, Operand, Value } from '../../entity/field.js'
import type { BoundValue, BoundValues, Statement, StatementText } from './statement.js'

/**
 * A kind of database: how its URLs look, and how one is opened. The list in `engines.ts` is the only place outside of an
 * engine's own files that names it; everything else works with the `Database` that it opens.
 */
export interface Engine {
  /** What its URLs begin with, as `mysql://`. */
  readonly schemes: readonly string[]
  /** How its URLs are written, for messages to the operator. */
  readonly urlForm: string
  /** What is wrong and what to do when a database cannot be opened, by the `code` of the error. */
  readonly openingAdvice: Readonly<Record<string, OpeningAdvice>>
  /**
   * Parses a URL and opens nothing. Throws an Error whose message says what would be right, with `urlForms` (those of
   * all engines) where the whole form is wrong, and repeats no part of the URL, which may hold a password.
   */
  locate(url: string, urlForms: string): DatabaseLocation
}

export interface OpeningAdvice {
  readonly wrong: string
  readonly remedy: string
}

/** Where a database is, as its URL says. */
export interface DatabaseLocation {
  /** Equal for two URLs that spell the same database, as far as the texts tell. */
  readonly spelling: string
  /** Makes what has to be there before the database can be opened, as the folder of a file. */
  prepare(): Promise<void>
  /**
   * Opens it lazily: nothing is sent before the first statement, so a database that is down does not fail here.
   * `poolSize` is the most connections of its pool, 10 by default; an engine without a pool ignores it.
   */
  open(poolSize?: number): Database
}

/** A database that was opened, with everything in which kinds of database differ. `sequelize.close()` ends it. */
export interface Database {
  readonly sequelize: Sequelize
  readonly dialect: SqlDialect
  readonly schema: SchemaTools
  /** Reads outside of transactions. `what` names the database in errors, as `The database`. */
  openReader(what: string): Reader
  /** One object for all who write: where there is one writer at a time, they wait for each other in it. */
  openTransactions(): Transactions
  /**
   * The same database with a pool of its own, whose waits take no connection from others; undefined where writers wait
   * for each other anyway.
   */
  withOwnPool(connections: number): Database | undefined
  classifyError(error: unknown): ErrorKind
  openProbe(): Probe
  /** Names that this database alone has. It has to be reachable; one that is not there yet has none. */
  identity(): Promise<readonly string[]>
}

/** Options that Sequelize gets for every kind of database. */
export const SEQUELIZE_OPTIONS: Options = {
  logging: false,
  timezone: '+00:00',
  // The callers decide, statement by statement, what is repeated.
  retry: { max: 1 },
  define: { timestamps: false, freezeTableName: true }
}

/**
 * What stands behind an error:
 * - `deadlock`: the database chose this transaction as the victim; on a Galera cluster also a failed certification
 * - `lostRace`: any other reason for which another transaction was first
 * - `lockTimeout`: another transaction or process keeps a lock for too long
 * - `constraint`: a unique or foreign key forbids the change
 * - `connectionLost`: the connection broke, or the server ended it
 * - `commitUnknown`: a COMMIT was sent, and nobody can tell whether it took place
 * - `unreachable`: the database cannot be reached just now
 * - `unavailable`: it is reached, and refuses what it takes at other times, as with a full disk
 * - `other`: a fault of this service
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

/** A COMMIT of which nobody can tell whether it will last. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown'
}

/** Seconds. */
const RETRY_AFTER = 1

/**
 * An error as the service's callers see it: `upstream.unavailable` for a database that cannot be reached or refuses for
 * a reason that passes; any other error comes back unchanged. `what` names the database to callers.
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

/** Comparisons that look inside a text. */
export type TextMatch = 'contains' | 'startsWith' | 'endsWith'

/** Differences in the text of statements and in their values. */
export interface SqlDialect {
  /** Function around a column of the type wherever it is compared or sorted by, for its order to be the contract's. */
  readonly keyFunction: (type: FieldType) => string | undefined
  /** SQL of an operand bound under a name, typed so that the column is compared in its own type, not as a double. */
  readonly operand: (name: string, field: Field) => string
  /** An operand as it is bound in a comparison. All but strings are stored in the same form. */
  readonly bind: (operand: Operand, field: Field) => BoundValue
  /** A function of (column, operand) that answers 1 or 0; where there is none, LIKE does it. */
  readonly matchFunction: (match: TextMatch) => string | undefined
  readonly bindMatch: (operand: string, match: TextMatch) => BoundValue
  /** Whether the optimizer reads on inside a run of equal values only when the run is written as a range. */
  readonly runsAsRanges: boolean
  /** Decodes a value as the driver has it. */
  readonly decode: (type: FieldType, scale: number) => (raw: unknown) => Value
  /** An INSERT that changes nothing, but locks the row, where one with the same unique `key` is there already. */
  readonly insertOrKeep: (insert: string, key: string) => string
  /** An INSERT that does the assignment `update` to a row that is there already with the same unique `key`. */
  readonly insertOrUpdate: (insert: string, key: string, update: string) => string
  /** What stands behind a SELECT to lock its rows until the transaction ends; empty where one writer at a time runs. */
  readonly forUpdate: string
}

/** One connection for as long as one piece of work takes. */
export interface ReadSession {
  /** Rows decoded, in the order of the statement's columns. */
  run(statement: Statement, values: BoundValues): Promise<Value[][]>
}

/** What a transaction's statements are sent to. */
export interface WriteSession extends ReadSession {
  change(text: StatementText, values: BoundValues): Promise<Changed>
}

/** What a statement did. */
export interface Changed {
  readonly rows: number
  /** The number that the database gave a single inserted row, as the driver has it. */
  readonly insertedId: string | number | bigint
}

/**
 * Runs compiled statements on one database. An aborted signal stops the running statement in the database and rejects
 * with the signal's reason. Errors are those of `toDomainError`.
 */
export interface Reader {
  read<Result>(signal: AbortSignal, work: (session: ReadSession) => Promise<Result>): Promise<Result>
  /** A connection of its own on which every statement sees the same state of the database. */
  snapshot(signal: AbortSignal): Promise<Snapshot>
  /** Waits for what still runs. */
  close(): Promise<void>
}

export interface Snapshot extends ReadSession {
  /** Rows to ask for with one statement. */
  readonly batch: number
  /** Ends it, whatever state it is in. Calling it twice is harmless. */
  close(): Promise<void>
}

/** The transactions of one database. Errors are the driver's own. */
export interface Transactions {
  readonly classifyError: (error: unknown) => ErrorKind
  begin(options: BeginOptions): Promise<OpenTransaction>
  /** Waits for what still runs. */
  close(): Promise<void>
}

export interface BeginOptions {
  /** Stops whatever statement of the transaction runs when it is aborted, and its beginning. */
  readonly signal: AbortSignal
  /** Longest wait, in ms, for the place of the one writer where there is one; then the error is a `lockTimeout`. */
  readonly timeout: number
}

/** A transaction that has begun, on a connection that is its own until it ends. */
export interface OpenTransaction extends WriteSession {
  /** Index of the node of a cluster that the transaction runs on; undefined where no other node can take writes. */
  readonly node: number | undefined
  /** As `change`, but waits no longer than some whole seconds for a lock; the error is then a `lockTimeout`. */
  changeWithin(seconds: number, text: StatementText, values: BoundValues): Promise<Changed>
  /** Not to be stopped. A rejection leaves no transaction open; its kind tells what became of it. */
  commit(): Promise<void>
  /** Undoes everything and lets the connection go, whatever state that is in. Never rejects. */
  rollback(): Promise<void>
}

/** The work's outcome, or a rejection with the signal's reason as soon as that is aborted; the work itself goes on. */
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

/** Looks whether a database can serve, on a connection that nothing else uses. */
export interface Probe {
  /** Rejects where it cannot. */
  look(): Promise<void>
  /** Gives up what the probe holds, a look under way included; the next look begins anew. */
  reset(): void
}

/** What migrations and the checks at start need. Queries go through Sequelize; errors are its own. */
export interface SchemaTools {
  ddl(): Promise<Ddl>
  /**
   * SELECTs of what stands in the database: `columns` answers `tableName` and `columnName`; `indexes` the same and
   * `isDescending` for the first key of each index that is not unique, all of which go on in order of the primary key.
   */
  readonly catalogue: { readonly columns: string; readonly indexes: string }
  /**
   * Names of the migrations that the database has had, read without a lock; none where it has no record of them. An
   * engine that answers none always leaves the question to the migrations' own transaction.
   */
  appliedMigrations(): Promise<ReadonlySet<string>>
  /** What the operator can do about an error of a migration; undefined where nothing is known. */
  migrationRemedy(error: unknown): Promise<string | undefined>
  /** Throws a StartError that says which rights to read and write the tables are missing. Writes nothing. */
  checkRights(): Promise<void>
  /**
   * Runs `work` in a transaction while no other process runs work under the same `name` against the same database;
   * others wait until it has committed. A process that dies gives the lock back.
   */
  withLock<Result>(name: string, work: (transaction: Transaction) => Promise<Result>): Promise<Result>
}

/** The texts of DDL statements. Each stands being repeated. */
export interface Ddl {
  /** A table with its indexes. */
  createTable(table: Table): readonly string[]
  /** Adds the columns of `table`, with their indexes, to the table of that name. */
  addColumns(table: Table): readonly string[]
  /** A SELECT of the `columnName` of every column of a table. */
  columnNames(table: string): string
  /** The statements of each migration of the service's own tables, as released: they are never changed. */
  readonly ownTables: Readonly<Record<OwnTablesMigration, readonly string[]>>
  /** Whether a statement of DDL failed because the column that it adds is there. */
  isColumnThere(error: unknown): boolean
  /** Makes the table `schema_migrations`. */
  readonly createMigrationRecord: string
  /** An INSERT of `$name` into it, which changes nothing where the name is there. */
  readonly recordMigration: string
}

/** Migrations of tables that belong to no entity; `engine-tables.ts` describes them. */
export type OwnTablesMigration =
  '005-idempotency-keys' | '007-accounts' | '008-sessions' | '033-look-up-guards' | '034-family-refs'

/** A table as DDL is made from it. Besides its columns it has a `row_version` of eight bytes. */
export interface Table {
  readonly name: string
  /** Columns with their fields. The first of a new table is `id`, the primary key; an int or long numbers itself. */
  readonly columns: readonly TableColumn[]
  readonly indexes: readonly TableIndex[]
  readonly foreignKeys: readonly ForeignKey[]
}

export interface TableColumn {
  readonly column: string
  readonly field: Field
}

export interface TableIndex {
  readonly name: string
  readonly unique: boolean
  readonly keys: readonly (TableColumn & { readonly descending: boolean })[]
}

/** From a column to the `id` of a table. */
export interface ForeignKey {
  readonly column: string
  readonly to: string
  readonly onDelete: 'CASCADE' | 'RESTRICT'
}
