import { type FileHandle, open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { BaseError, ConnectionError } from 'sequelize'
import { type Cancellation, throwIfAborted } from '../../../../shared/transport/cancellation.js'
import type { Value } from '../../../entity/fields/field.js'
import {
  assertOneRow,
  type BatchStatement,
  type BeginOptions,
  type Changed,
  CommitUnknown,
  type ErrorKind,
  type LastChange,
  oneByOne,
  type OpenTransaction,
  raceAbort,
  type Reader,
  type ReaderSession,
  type Snapshot,
  toDomainError,
  type Transactions
} from '../sessions.js'
import { retryWhileBusy, SqliteConnection, SqliteError, WriteQueue } from './sqlite-connection.js'
import {
  type BoundValues,
  type CsvRow,
  DecodedRow,
  decodeRow,
  type FoundRow,
  type ShownStatement,
  type Statement,
  type StatementText,
  valuesOf
} from '../statement.js'

/**
 * Reads from the embedded database, on separate connections so that they do not see open transactions. The driver is
 * synchronous: an aborted signal takes effect between two statements.
 */
export class SqliteReader implements Reader {
  readonly #file: string
  readonly #what: string
  #shared: SqliteConnection | undefined
  readonly #snapshots = new Set<SqliteSnapshot>()
  /** Connections of ended snapshots, for reuse: the driver closes a file only when the connection is garbage-collected. */
  readonly #idle: SqliteConnection[] = []
  #turn: Promise<unknown> = Promise.resolve()

  constructor(file: string, what: string) {
    this.#file = file
    this.#what = what
  }

  async read<Result>(signal: Cancellation, work: (session: ReaderSession) => Promise<Result>): Promise<Result> {
    try {
      throwIfAborted(signal)
      const connection = this.#connection()
      const run: ReaderSession['run'] = (statement, values) => rowsOf(connection, { statement, values, signal })
      const rows: ReaderSession['rows'] = (statement, values) => foundRowsOf(connection, { statement, values, signal })
      // The connection itself is read-only.
      return await work({ run, rows, runReadOnly: run })
    } catch (error) {
      throw toDomainError(error, classifySqliteError(error), this.#what)
    }
  }

  snapshot(signal: AbortSignal): Promise<Snapshot> {
    return Promise.resolve().then(() => this.#snapshot(signal))
  }

  #snapshot(signal: AbortSignal): Snapshot {
    try {
      signal.throwIfAborted()
      const connection = this.#idle.pop() ?? SqliteConnection.openReadOnly(this.#file)
      try {
        // A deferred transaction: the first SELECT determines the state that all statements see, and no writer waits for it.
        connection.execute('BEGIN')
      } catch (error) {
        connection.close()
        throw error
      }
      const snapshot = new SqliteSnapshot({
        connection,
        signal,
        what: this.#what,
        turn: () => this.#nextTurn(),
        closed: () => {
          this.#snapshots.delete(snapshot)
          this.#takeBack(connection)
        }
      })
      this.#snapshots.add(snapshot)
      return snapshot
    } catch (error) {
      throw toDomainError(error, classifySqliteError(error), this.#what)
    }
  }

  /** Resolves in a turn of the event loop that no other snapshot uses, so that other requests run between them. */
  #nextTurn(): Promise<unknown> {
    this.#turn = this.#turn.then(() => setImmediate())
    return this.#turn
  }

  #takeBack(connection: SqliteConnection): void {
    try {
      connection.reset()
      this.#idle.push(connection)
    } catch {
      connection.close()
    }
  }

  async close(): Promise<void> {
    for (const snapshot of this.#snapshots) await snapshot.close()
    for (const connection of this.#idle.splice(0)) connection.close()
    this.#shared?.close()
    this.#shared = undefined
  }

  /** The connection of reads outside of snapshots. The first read that finds the file opens it. */
  #connection(): SqliteConnection {
    this.#shared ??= SqliteConnection.openReadOnly(this.#file)
    return this.#shared
  }
}

interface SnapshotOptions {
  readonly connection: SqliteConnection
  readonly signal: AbortSignal
  readonly what: string
  /** Resolves when the next statement may run. */
  readonly turn: () => Promise<unknown>
  readonly closed: () => void
}

/** Rows that one statement reads. Every other request waits meanwhile. */
const BATCH = 250

class SqliteSnapshot implements Snapshot {
  readonly batch = BATCH
  readonly #options: SnapshotOptions
  #open = true

  constructor(options: SnapshotOptions) {
    this.#options = options
  }

  async each(statement: ShownStatement, values: BoundValues, take: (row: CsvRow) => void): Promise<void> {
    const { connection, signal, what, turn } = this.#options
    await turn()
    try {
      if (!this.#open) throw new Error('The snapshot was closed')
      for (const row of await rawRowsOf(connection, { statement, values, signal })) take(new DecodedRow(statement, row))
    } catch (error) {
      throw toDomainError(error, classifySqliteError(error), what)
    }
  }

  close(): Promise<void> {
    if (this.#open) this.#options.closed()
    this.#open = false
    return Promise.resolve()
  }
}

interface BoundStatement {
  readonly statement: Statement
  readonly values: BoundValues
  readonly signal: Cancellation
}

/** The decoded rows. Where they are many, other requests have a turn before the next statement of the same read. */
async function decoded<Row>(
  raw: Promise<readonly (readonly unknown[])[]>,
  decode: (row: readonly unknown[]) => Row
): Promise<Row[]> {
  const rows = (await raw).map(decode)
  if (rows.length > BATCH) await setImmediate()
  return rows
}

function rowsOf(connection: SqliteConnection, bound: BoundStatement): Promise<Value[][]> {
  return decoded(rawRowsOf(connection, bound), (row) => decodeRow(bound.statement, row))
}

function foundRowsOf(
  connection: SqliteConnection,
  bound: BoundStatement & { readonly statement: ShownStatement }
): Promise<FoundRow[]> {
  return decoded(rawRowsOf(connection, bound), (row) => new DecodedRow(bound.statement, row))
}

function rawRowsOf(
  connection: SqliteConnection,
  { statement, values, signal }: BoundStatement
): Promise<readonly (readonly unknown[])[]> {
  const parameters = valuesOf(statement, values)
  return retryWhileBusy(() => connection.rows(statement.sql, parameters, statement.exact), signal)
}

/**
 * Transactions of the embedded database, on one connection and one after the other in this process. They wait for those
 * of other processes. They are IMMEDIATE transactions, so that no other writer can change what they have read.
 */
export class SqliteTransactions implements Transactions {
  readonly classifyError = classifySqliteError
  readonly #file: string
  readonly #queue = new WriteQueue()
  readonly #wal: WalSync
  #connection: SqliteConnection | undefined

  constructor(file: string) {
    this.#file = file
    this.#wal = new WalSync(file)
  }

  async begin({ signal, timeout }: BeginOptions): Promise<OpenTransaction> {
    const end = performance.now() + timeout
    const leave = await this.#enterQueue(signal, timeout)
    try {
      // Between two transactions other requests of this process and writers of other processes can run.
      await setImmediate()
      this.#connection ??= await SqliteConnection.open(this.#file)
      const connection = this.#connection
      await retryWhileBusy(() => connection.execute('BEGIN IMMEDIATE'), signal, Math.max(0, end - performance.now()))
      return new SqliteTransaction({ connection, signal, wal: this.#wal, ended: () => this.#ended(leave) })
    } catch (error) {
      leave()
      throw error
    }
  }

  flushed(): Promise<void> {
    return flushed(this.#wal)
  }

  async close(): Promise<void> {
    const leave = await this.#queue.enter()
    this.#connection?.close()
    this.#connection = undefined
    leave()
    await this.#wal.close()
  }

  async #enterQueue(signal: Cancellation, timeout: number): Promise<() => void> {
    const turn = this.#queue.enter()
    try {
      return await raceAbort(raceAbort(turn, signal), AbortSignal.timeout(timeout))
    } catch (error) {
      void turn.then((leave) => leave())
      throw signal.aborted ? error : busy()
    }
  }

  /** Closes the connection if it could not end its transaction. */
  #ended(leave: () => void): void {
    if (this.#connection?.inTransaction === true) {
      this.#connection.close()
      this.#connection = undefined
    }
    leave()
  }
}

/** The same error as for a lock of another process. */
function busy(): SqliteError {
  return new SqliteError('SQLITE_BUSY', 5, new Error('the writers before took too long'))
}

interface TransactionOptions {
  readonly connection: SqliteConnection
  readonly signal: Cancellation
  readonly wal: WalSync
  readonly ended: () => void
}

class SqliteTransaction implements OpenTransaction {
  readonly node = undefined
  readonly isGuarding = false
  readonly #options: TransactionOptions

  constructor(options: TransactionOptions) {
    this.#options = options
  }

  run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    return this.#step((connection) =>
      connection
        .rows(statement.sql, valuesOf(statement, values), statement.exact)
        .map((row) => decodeRow(statement, row))
    )
  }

  rows(statement: ShownStatement, values: BoundValues): Promise<FoundRow[]> {
    return this.#step((connection) =>
      connection
        .rows(statement.sql, valuesOf(statement, values), statement.exact)
        .map((row) => new DecodedRow(statement, row))
    )
  }

  change(text: StatementText, values: BoundValues): Promise<Changed> {
    return this.#step((connection) => {
      const { changes, lastInsertRowid } = connection.run(text.sql, valuesOf(text, values)).changes
      return { rows: Number(changes), insertedId: lastInsertRowid }
    })
  }

  batch(statements: readonly BatchStatement[]): ReturnType<OpenTransaction['batch']> {
    return oneByOne(statements, this)
  }

  /** Never waits: the transaction holds the only lock. */
  changeWithin(_seconds: number, text: StatementText, values: BoundValues): Promise<Changed> {
    return this.change(text, values)
  }

  async commit(last?: LastChange): Promise<void> {
    try {
      if (last !== undefined) assertOneRow((await this.change(last.text, last.values)).rows)
      this.#options.connection.execute('COMMIT')
    } catch (error) {
      await this.rollback()
      throw error
    }
    this.#options.ended()
    await flushed(this.#options.wal)
  }

  rollback(): Promise<void> {
    try {
      // After some errors SQLite has rolled back already.
      if (this.#options.connection.inTransaction) this.#options.connection.execute('ROLLBACK')
    } catch {
      // `ended` closes the connection.
    }
    this.#options.ended()
    return Promise.resolve()
  }

  async #step<Result>(work: (connection: SqliteConnection) => Result): Promise<Result> {
    throwIfAborted(this.#options.signal)
    return await Promise.resolve(work(this.#options.connection))
  }
}

async function flushed(wal: WalSync): Promise<void> {
  try {
    await wal.flush()
  } catch (error) {
    throw new CommitUnknown('The write-ahead log was not brought to the disk', { cause: error })
  }
}

/**
 * Syncs the embedded database's write-ahead log to the disk. `synchronous = FULL` would do so in every COMMIT and block
 * the only thread of this process. Here transactions that commit at about the same time share one sync, and requests are
 * served meanwhile. SQLite holds no lock on the log file, so a second handle of it is harmless.
 */
export class WalSync {
  readonly #log: string
  #handle: FileHandle | undefined
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(file: string) {
    this.#log = `${file}-wal`
  }

  /** Resolves when everything that was committed before the call survives a power failure. */
  flush(): Promise<void> {
    // A running sync may have begun before the commit, so the next one is needed.
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        this.#running = this.#sync()
        return this.#running
      })
    return this.#next
  }

  async close(): Promise<void> {
    await this.#next?.catch(() => undefined)
    await this.#running.catch(() => undefined)
    await this.#handle?.close()
    this.#handle = undefined
  }

  async #sync(): Promise<void> {
    this.#handle ??= await openIfThere(this.#log)
    await this.#handle?.datasync()
  }
}

/** undefined if there is no log: on a file system without WAL mode SQLite itself syncs every commit. */
async function openIfThere(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r+')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

const BUSY = 5
const LOCKED = 6

/** SQLITE_CANTOPEN. */
const CANNOT_OPEN = 14

/** SQLITE_READONLY, SQLITE_IOERR and SQLITE_FULL: the file exists, but cannot be written or read at the moment. */
const TEMPORARY_FAILURES: readonly number[] = [8, 10, 13]

/** Extended result codes: foreign key, primary key, unique, row id. */
const CONSTRAINTS: readonly number[] = [787, 1555, 2067, 2579]

/** SQLITE_CONSTRAINT_CHECK. */
const CHECK = 275
/** SQLITE_CONSTRAINT_TRIGGER: RAISE of a trigger, and a foreign key that says RESTRICT. */
const TRIGGER = 1811
const RESTRICTED = /FOREIGN KEY constraint failed/

/** The kind of an error of the driver, which Sequelize may have wrapped. */
export function classifySqliteError(error: unknown): ErrorKind {
  if (error instanceof ConnectionError) return 'unreachable'
  if (error instanceof BaseError && 'parent' in error) return classifySqliteError(error.parent)
  if (error instanceof CommitUnknown) return 'commitUnknown'
  if (!(error instanceof SqliteError)) return 'other'
  if (CONSTRAINTS.includes(error.errno)) return 'constraint'
  if (error.errno === TRIGGER) return RESTRICTED.test(error.message) ? 'constraint' : 'forbidden'
  if (error.errno === CHECK) return 'forbidden'
  const code = error.errno & 0xff
  if (code === BUSY || code === LOCKED) return 'lockTimeout'
  if (code === CANNOT_OPEN) return 'unreachable'
  return TEMPORARY_FAILURES.includes(code) ? 'unavailable' : 'other'
}
