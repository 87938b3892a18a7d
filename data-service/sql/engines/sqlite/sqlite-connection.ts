import { BoundedRows, bytesOf, type RowsBound } from '../answer-bytes.js'
import { setTimeout as wait } from 'node:timers/promises'
import type * as sqliteDriver from '@photostructure/sqlite'
import { LRUCache } from 'lru-cache'
import { type Cancellation, throwIfAborted } from '../../../../shared/transport/cancellation.js'
import { requireOptional } from '../../../../shared/optional-package.js'
import { contentVersion, nextRowVersion } from '../../../entity/fields/row-version.js'
import { forNoCall, observedAtOnce, rowsRead } from '../../../observe/call-scope.js'
import { quotientKey } from './exact-sums.js'
import { matchKey, sortKey } from './text-keys.js'

/**
 * The driver, which an installation for MySQL or MariaDB does not need. Throws a StartError with the command that installs
 * it if it is missing.
 */
export function loadSqlite(): typeof sqliteDriver {
  return requireOptional(
    { neededBy: 'An embedded SQLite database', packages: ['@photostructure/sqlite'] },
    (require) => require('@photostructure/sqlite') as typeof sqliteDriver
  )
}

/** Names of the primary result codes that are distinguished (https://sqlite.org/rescode.html). */
const NAMES: ReadonlyMap<number, string> = new Map([
  [5, 'SQLITE_BUSY'],
  [6, 'SQLITE_LOCKED'],
  [8, 'SQLITE_READONLY'],
  [10, 'SQLITE_IOERR'],
  [11, 'SQLITE_CORRUPT'],
  [13, 'SQLITE_FULL'],
  [14, 'SQLITE_CANTOPEN'],
  [19, 'SQLITE_CONSTRAINT'],
  [26, 'SQLITE_NOTADB']
])

/** SQLITE_ERROR. */
const UNKNOWN_CODE = 1

/** SQLITE_BUSY_SNAPSHOT: another connection wrote after this transaction's snapshot, so waiting does not help. */
const BUSY_SNAPSHOT = 517

/** An error of the embedded database with the `code` that Sequelize and this folder check. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError'
  readonly code: string
  /** Extended result code. */
  readonly errno: number

  constructor(code: string, errno: number, cause: Error) {
    // Sequelize parses the message of a constraint error, so the driver's message is kept.
    super(`${code}: ${cause.message}`, { cause })
    this.code = code
    this.errno = errno
  }
}

/** The driver loses the result code of an error in a statement that returns rows. Only the message is left. */
const CODES_BY_MESSAGE: readonly (readonly [RegExp, number])[] = [
  [/^database is locked/, 5],
  [/^database table is locked/, 6],
  [/^attempt to write a readonly database/, 8],
  [/^disk I\/O error/, 10],
  [/^database or disk is full/, 13],
  [/unable to open database file/, 14],
  [/constraint failed/, 19]
]

/** Converts the driver's error to a SqliteError. Any other error is returned unchanged. */
function sqliteError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_SQLITE_ERROR') return error
  const errno =
    'errcode' in error && typeof error.errcode === 'number'
      ? error.errcode
      : (CODES_BY_MESSAGE.find(([message]) => message.test(error.message))?.[1] ?? UNKNOWN_CODE)
  return new SqliteError(NAMES.get(errno & 0xff) ?? 'SQLITE_ERROR', errno, error)
}

/** Whether another connection holds a lock that it will release. */
function isBusy(error: unknown): boolean {
  return error instanceof SqliteError && error.code === 'SQLITE_BUSY' && error.errno !== BUSY_SNAPSHOT
}

const MIN_WAIT_MS = 1
const MAX_WAIT_MS = 50
const BUSY_TIMEOUT_MS = 10_000

/**
 * Runs a step, and repeats it while another process holds the file's lock, for 10 s by default. The driver's
 * own busy handler would block the event loop; here other requests go on. Rejects with the signal's reason if it is
 * aborted.
 */
export async function retryWhileBusy<Result>(
  step: () => Result | Promise<Result>,
  signal?: Cancellation,
  limitMs = BUSY_TIMEOUT_MS
): Promise<Result> {
  const end = performance.now() + limitMs
  for (let longest = MIN_WAIT_MS; ; longest = Math.min(longest * 2, MAX_WAIT_MS)) {
    if (signal !== undefined) throwIfAborted(signal)
    try {
      return await step()
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error
      // Jitter, so that two processes do not collide again and again.
      await wait(longest * (0.5 + Math.random() / 2))
    }
  }
}

/** A queue of this process's writers to one file, in order of arrival. */
export class WriteQueue {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when it is the caller's turn, with the function that ends the turn. Calling it twice is harmless. */
  async enter(): Promise<() => void> {
    const before = this.#last
    let leave = (): void => undefined
    this.#last = new Promise((resolve) => {
      leave = resolve
    })
    await before
    return leave
  }
}

/** The types of parameters. Safe integers are bound as integers, never as doubles. */
export type SqliteParameter = string | number | bigint | boolean | Buffer | Date | null | undefined
/** A value of a row. Integers are bigint in exact statements. */
export type SqliteValue = string | number | bigint | Uint8Array | null

export type SqliteParameters = readonly SqliteParameter[] | Readonly<Record<string, SqliteParameter>>

interface SqliteChanges {
  /** A bigint if the statement is exact, although the driver's types say number. */
  readonly changes: number | bigint
  readonly lastInsertRowid: number | bigint
}

interface SqliteOutcome {
  readonly rows: readonly Readonly<Record<string, SqliteValue>>[]
  readonly changes: SqliteChanges
}

const NO_CHANGES: SqliteChanges = { changes: 0, lastInsertRowid: 0 }

/** A SELECT with its values. */
export interface BoundSelect {
  readonly sql: string
  readonly parameters: readonly SqliteParameter[]
  /** Whether integers are read as bigint. */
  readonly exact: boolean
  /** Bytes that the rows may have; undefined: any number. */
  readonly bytes?: RowsBound | undefined
}

interface Mode {
  /** Whether integers are read as bigint, since they may be beyond 2^53. */
  readonly exact: boolean
  /** Whether rows are arrays instead of objects. */
  readonly arrays: boolean
}

/** A statement was stopped while it ran. */
export class StatementStopped extends Error {
  override readonly name = 'StatementStopped'
}

/** Calls of functions of text between two looks whether a statement is to stop: a look costs a tenth of such a call. */
const CALLS_BETWEEN_LOOKS = 64

/** Characters of the texts of prepared statements. */
const MAX_PREPARED_TEXT = 1_000_000

/**
 * One connection to the embedded database, with foreign keys on. It defines the SQL functions that compare
 * text: `sort_key(text)`, `set_has(words, word)`, and `text_contains`, `text_starts_with` and `text_ends_with` of (text, match key of the
 * operand), which return 1 or 0; `quotient_key` and `go_on` of totals; `next_row_version(bytes)`; and `content_version(key, text)`. Its methods are synchronous and throw SqliteError. If another connection holds the lock,
 * that is SQLITE_BUSY at once: callers wait with `retryWhileBusy`.
 */
export class SqliteConnection {
  readonly #database: InstanceType<typeof sqliteDriver.DatabaseSync>
  readonly #statements = new LRUCache<string, sqliteDriver.StatementSyncInstance>({
    maxSize: MAX_PREPARED_TEXT,
    sizeCalculation: (_statement, sql) => sql.length
  })

  /** Asked while a statement runs. */
  #isToStop: (() => boolean) | undefined
  #isStopped = false
  #calls = 0

  private constructor(file: string, readOnly: boolean) {
    const options = { readOnly, timeout: 0, enableForeignKeyConstraints: true }
    const { DatabaseSync } = loadSqlite()
    this.#database = withSqliteErrors(() => new DatabaseSync(file, options))
    this.#define('sort_key', sortKey)
    this.#define('text_contains', (text, key) => Number(matchKey(text).includes(key)))
    this.#define('text_starts_with', (text, key) => Number(matchKey(text).startsWith(key)))
    this.#define('text_ends_with', (text, key) => Number(matchKey(text).endsWith(key)))
    this.#define('set_has', (words, word) => Number(words.split(',').includes(word)))
    this.#database.function('quotient_key', { deterministic: true, useBigIntArguments: true }, quotientKey)
    this.#database.function('go_on', () => {
      this.#goOn()
      return 1
    })
    this.#database.function('next_row_version', { deterministic: true }, (version: unknown) =>
      nextRowVersion(versionBytes(version))
    )
    this.#database.function('content_version', { deterministic: true }, (key: unknown, content: unknown) => {
      this.#goOn()
      return contentVersion(Buffer.from(String(key), 'hex'), String(content))
    })
  }

  /** Opens a file for reading only. A file that does not exist is an error (SQLITE_CANTOPEN). */
  static openReadOnly(file: string): SqliteConnection {
    return new SqliteConnection(file, true)
  }

  /** Opens a file for reading and writing, in WAL mode. A file that does not exist is made. */
  static async open(file: string): Promise<SqliteConnection> {
    const connection = SqliteConnection.openAsItIs(file)
    try {
      await forNoCall(() => connection.useWal())
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /**
   * As `open`, in the mode that the file has: WAL mode is written into the file, which may be somebody's who has not yet
   * said that anything may be written there.
   */
  static openAsItIs(file: string): SqliteConnection {
    return new SqliteConnection(file, false)
  }

  /** Switches the file to WAL mode, in which it stays. Outside of transactions alone. */
  async useWal(): Promise<void> {
    await retryWhileBusy(() => this.execute('PRAGMA journal_mode = WAL'))
    this.execute('PRAGMA synchronous = NORMAL')
  }

  /** Whether a transaction is open. */
  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  /** Runs statements without parameters and returns no rows. */
  execute(sql: string): void {
    observedAtOnce({ sql, system: 'sqlite' }, () => withSqliteErrors(() => this.#database.exec(sql)))
  }

  /** Rows as arrays, in the order of the statement's columns. Throws AnswerTooLarge. */
  rows(select: BoundSelect): SqliteValue[][] {
    try {
      return this.#rowsOf(select)
    } catch (error) {
      // An integer that no number holds, in a column that holds none: its row alone shows none (entity/fields/unshown.ts).
      if (select.exact || !String(error).includes(TOO_LARGE)) throw error
      return this.#rowsOf({ ...select, exact: true })
    }
  }

  #rowsOf({ sql, parameters, exact, bytes }: BoundSelect): SqliteValue[][] {
    const isMoved = (): boolean => this.#isStopped
    return observedAtOnce({ sql, system: 'sqlite', values: parameters, rows: rowsRead, isMoved }, () => {
      const mode = { exact, arrays: true }
      const statement = this.#prepared(sql, mode)
      // The driver's types say any; setReturnArrays made each row an array.
      const values = parameters.map(bindable)
      if (bytes === undefined) return withSqliteErrors(() => statement.all(...values) as SqliteValue[][])
      try {
        return withSqliteErrors(() => rowsWithin(bytes, statement.iterate(...values) as Iterable<SqliteValue[]>))
      } catch (error) {
        // The driver would tell an error of its rows again where the statement runs the next time.
        this.#statements.delete(keyOfStatement(sql, mode))
        throw error
      }
    })
  }

  /**
   * As `rows`, until `isToStop` answers true: then it throws StatementStopped. The driver has no way to interrupt a statement,
   * so it is asked where the statement compares text, which is what takes long. Any other statement runs to its end.
   */
  rowsUntil(isToStop: () => boolean, select: BoundSelect): SqliteValue[][] {
    this.#isToStop = isToStop
    try {
      return this.rows(select)
    } catch (error) {
      // Of an error that a function throws, the driver keeps the message alone.
      throw this.#isStopped ? new StatementStopped('The statement was stopped', { cause: error }) : error
    } finally {
      this.#isToStop = undefined
      this.#isStopped = false
    }
  }

  /** Runs any statement. Its rows are objects by column name, with integers as bigint. */
  run(sql: string, parameters: SqliteParameters): SqliteOutcome {
    return observedAtOnce({ sql, system: 'sqlite', values: parameters, rows: rowsReadOrChanged }, () => {
      const statement = this.#prepared(sql, { exact: true, arrays: false })
      return withSqliteErrors(() => {
        if (statement.columns().length > 0) return { rows: statement.all(...bound(parameters)), changes: NO_CHANGES }
        return { rows: [], changes: statement.run(...bound(parameters)) }
      })
    })
  }

  /** Rolls back an open transaction and frees the page cache. Statements stay prepared. */
  reset(): void {
    if (this.inTransaction) this.execute('ROLLBACK')
    this.execute('PRAGMA shrink_memory')
  }

  /** Rolls back an open transaction and closes the connection. Closing twice is harmless. */
  close(): void {
    this.#statements.clear()
    if (!this.#database.isOpen) return
    // With prepared statements the driver leaves the connection, and an open snapshot, to the garbage collector.
    if (this.inTransaction) this.execute('ROLLBACK')
    withSqliteErrors(() => this.#database.close())
  }

  /** Throws if the statement that runs is to stop. Looks at one of many calls. */
  #goOn(): void {
    if (this.#isToStop === undefined || ++this.#calls % CALLS_BETWEEN_LOOKS !== 0) return
    this.#isStopped = this.#isToStop()
    if (this.#isStopped) throw new Error('stopped')
  }

  /** Defines a pure SQL function of text that is null for null. The length of `of` is its number of arguments. */
  #define(name: string, of: ((text: string) => string) | ((text: string, key: string) => number)): void {
    const ofTexts =
      of.length === 1
        ? (text: unknown) => {
            this.#goOn()
            return typeof text === 'string' ? of(text, '') : null
          }
        : (text: unknown, key: unknown) => {
            this.#goOn()
            return typeof text === 'string' && typeof key === 'string' ? of(text, key) : null
          }
    this.#database.function(name, { deterministic: true }, ofTexts)
  }

  #prepared(sql: string, mode: Mode): sqliteDriver.StatementSyncInstance {
    const key = keyOfStatement(sql, mode)
    const kept = this.#statements.get(key)
    if (kept !== undefined) return kept
    const statement = withSqliteErrors(() => this.#database.prepare(sql))
    statement.setReadBigInts(mode.exact)
    statement.setReturnArrays(mode.arrays)
    this.#statements.set(key, statement)
    return statement
  }
}

function versionBytes(version: unknown): Buffer {
  if (!(version instanceof Uint8Array)) throw new TypeError(`A row version is a ${typeof version}`)
  return Buffer.from(version)
}

/** In the driver's message. */
const TOO_LARGE = 'too large to be represented as a JavaScript number'

function keyOfStatement(sql: string, { exact, arrays }: Mode): string {
  return `${exact ? 'e' : '-'}${arrays ? 'a' : '-'}${sql}`
}

function rowsWithin(bytes: RowsBound, found: Iterable<SqliteValue[]>): SqliteValue[][] {
  const rows: SqliteValue[][] = []
  const bounded = new BoundedRows(bytes)
  for (const row of found) {
    if (!bounded.holds(bytesOf(row))) throw bounded.tooLarge()
    rows.push(row)
  }
  return rows
}

const CHANGES_ROWS = /^\s*(?:INSERT|UPDATE|DELETE|REPLACE|WITH)\b/i

/** After a statement that changes no rows, `changes` is the count of an earlier one. */
function rowsReadOrChanged({ rows, changes }: SqliteOutcome, sql: string): number | undefined {
  if (changes === NO_CHANGES) return rows.length
  return CHANGES_ROWS.test(sql) ? Number(changes.changes) : undefined
}

function withSqliteErrors<Result>(step: () => Result): Result {
  try {
    return step()
  } catch (error) {
    throw sqliteError(error)
  }
}

function bound(parameters: SqliteParameters): unknown[] {
  if (Array.isArray(parameters)) return parameters.map(bindable)
  const named = Object.entries(parameters).map(([name, value]) => [name, bindable(value)])
  return named.length === 0 ? [] : [Object.fromEntries(named)]
}

function bindable(value: SqliteParameter): string | number | bigint | Uint8Array | null {
  switch (typeof value) {
    case 'undefined':
      return null
    case 'boolean':
      return value ? 1n : 0n
    case 'number':
      return Number.isSafeInteger(value) ? BigInt(value) : value
    case 'string':
      return withoutNul(value)
    case 'bigint':
      return value
    default:
      return value instanceof Date ? value.toISOString() : value
  }
}

/** Rejects U+0000, at which the driver truncates text without an error. */
function withoutNul(text: string): string {
  if (text.includes('\0')) throw new RangeError('The embedded database keeps no text with the character U+0000')
  return text
}
