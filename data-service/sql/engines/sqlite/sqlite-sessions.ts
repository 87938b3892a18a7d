import { type FileHandle, open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { BaseError, ConnectionError } from 'sequelize'
import { type Cancellation, shareKeyOf, throwIfAborted, raceAbort } from '../../../../shared/transport/cancellation.js'
import { Turns } from '../../../../shared/turns.js'
import type { Value } from '../../../entity/fields/field.js'
import {
  assertOneRow,
  type BoundBatch,
  type BatchStatement,
  type BeginOptions,
  type Changed,
  CommitUnknown,
  type ErrorKind,
  type LastChange,
  oneByOne,
  type OpenTransaction,
  type Reader,
  type ReaderSession,
  type Snapshot,
  toDomainError,
  type Transactions
} from '../sessions.js'
import type { AnswerBytes } from '../answer-bytes.js'
import { LongTexts } from '../long-texts.js'
import { LongTurns, TURN_MS } from './long-turns.js'
import { busy, ReadThreads, type SnapshotConnection } from './read-threads.js'
import {
  type BoundSelect,
  retryWhileBusy,
  SqliteConnection,
  SqliteError,
  type SqliteValue,
  StatementStopped,
  WriteQueue
} from './sqlite-connection.js'
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

/** Reads of a caller that begin in a turn of the event loop. Each may take some milliseconds of it. */
const OF_TURN = 4

/**
 * Reads from the embedded database, on separate connections so that they do not see open transactions. The driver is
 * synchronous, so a statement runs on the main thread for as long as it is short: an aborted signal takes effect between
 * two of these. What takes longer, and every snapshot, runs in a thread, where an aborted signal stops it.
 */
export class SqliteReader implements Reader {
  readonly #file: string
  readonly #what: string
  readonly #turns: LongTurns
  /** Reads that are not long, of which a caller may have hundreds under way, would hold the process together. */
  readonly #begun = new Turns(OF_TURN)
  readonly #threads: ReadThreads
  /** These run in a thread. */
  readonly #long = new LongTexts(TURN_MS)
  readonly #snapshots = new Set<SqliteSnapshot>()
  #shared: SqliteConnection | undefined

  /** `now`: milliseconds. Default: `performance.now`. */
  constructor(file: string, what: string, now = (): number => performance.now()) {
    this.#file = file
    this.#what = what
    this.#turns = new LongTurns(now)
    this.#threads = new ReadThreads({ file, took: (sql, milliseconds) => this.#long.ran(sql, milliseconds) })
  }

  async read<Result>(signal: Cancellation, work: (session: ReaderSession) => Promise<Result>): Promise<Result> {
    try {
      throwIfAborted(signal)
      const run: ReaderSession['run'] = (statement, values) =>
        decodedRows(this.#rows({ statement, values, signal }), (row) => decodeRow(statement, row))
      const rows: ReaderSession['rows'] = (statement, values, bytes) =>
        decodedRows(this.#rows({ statement, values, signal, bytes }), (row) => new DecodedRow(statement, row))
      // The connections are read-only.
      return await work({ run, rows, runReadOnly: run })
    } catch (error) {
      throw toDomainError(error, classifySqliteError(error), this.#what)
    }
  }

  /** Threads serve callers in turns, and most reads need none. */
  isFull(): boolean {
    return false
  }

  snapshot(signal: AbortSignal): Promise<Snapshot> {
    signal.throwIfAborted()
    const snapshot = new SqliteSnapshot({
      connection: this.#threads.snapshot(),
      signal,
      what: this.#what,
      closed: () => this.#snapshots.delete(snapshot)
    })
    this.#snapshots.add(snapshot)
    return Promise.resolve(snapshot)
  }

  async close(): Promise<void> {
    for (const snapshot of this.#snapshots) await snapshot.close()
    await this.#threads.close()
    this.#shared?.close()
    this.#shared = undefined
  }

  async #rows(bound: BoundStatement): Promise<readonly (readonly unknown[])[]> {
    const rows = await this.#read(bound)
    bound.bytes?.check(rows)
    return rows
  }

  async #read(bound: BoundStatement): Promise<readonly (readonly unknown[])[]> {
    const { signal } = bound
    const select = selectOf(bound)
    if (!this.#long.has(select.sql)) {
      const shareKey = shareKeyOf(signal)
      if (shareKey !== '' && !this.#begun.beginsNow(shareKey)) {
        await new Promise<void>((resolve) => this.#begun.enter(shareKey, resolve))
        throwIfAborted(signal)
      }
      try {
        return await retryWhileBusy(() => this.#rowsInTurn(select, shareKey), signal)
      } catch (error) {
        if (!(error instanceof StatementStopped)) throw error
      }
    }
    return retryWhileBusy(() => this.#threads.rows(select, signal), signal)
  }

  #rowsInTurn(select: BoundSelect, shareKey: string): SqliteValue[][] {
    // The first read that finds the file opens it.
    this.#shared ??= SqliteConnection.openReadOnly(this.#file)
    const turn = this.#turns.begin(shareKey)
    try {
      return this.#shared.rowsUntil(turn.isOver, select)
    } finally {
      this.#long.ran(select.sql, turn.end())
    }
  }
}

interface SnapshotOptions {
  readonly connection: SnapshotConnection
  readonly signal: AbortSignal
  readonly what: string
  readonly closed: () => void
}

/** Milliseconds after which other calls have a turn: between two rows that are decoded, or two statements of a transaction. */
const OWN_TURN_MS = 10
/** Rows that one statement reads. Other calls wait while they are written. */
const ROWS_PER_TURN = 250

class SqliteSnapshot implements Snapshot {
  readonly batch = ROWS_PER_TURN
  readonly #options: SnapshotOptions
  #open = true

  constructor(options: SnapshotOptions) {
    this.#options = options
  }

  async each({ statement, values, bytes }: BoundBatch, take: (row: CsvRow) => void): Promise<void> {
    const { connection, signal, what } = this.#options
    try {
      if (!this.#open) throw new Error('The snapshot was closed')
      const select = { ...selectOf({ statement, values }), bytes }
      const rows = await retryWhileBusy(() => connection.rows(select, signal), signal)
      for (const row of rows) take(new DecodedRow(statement, row))
    } catch (error) {
      throw toDomainError(error, classifySqliteError(error), what)
    }
  }

  close(): Promise<void> {
    if (!this.#open) return Promise.resolve()
    this.#open = false
    this.#options.connection.end()
    this.#options.closed()
    return Promise.resolve()
  }
}

interface BoundStatement {
  readonly statement: Statement
  readonly values: BoundValues
  readonly signal: Cancellation
  /** What the rows are counted in, where that is needed. */
  readonly bytes?: AnswerBytes | undefined
}

function selectOf({ statement, values, bytes }: Omit<BoundStatement, 'signal'>): BoundSelect {
  return { sql: statement.sql, parameters: valuesOf(statement, values), exact: statement.exact, bytes: bytes?.bound }
}

/** The decoded rows. To decode many of them, or large ones of JSON, takes long: other requests have a turn meanwhile. */
export async function decodedRows<Row>(
  raw: Promise<readonly (readonly unknown[])[]>,
  decode: (row: readonly unknown[]) => Row
): Promise<Row[]> {
  const rows: Row[] = []
  let until = performance.now() + OWN_TURN_MS
  for (const row of await raw) {
    rows.push(decode(row))
    if (performance.now() < until) continue
    await setImmediate()
    until = performance.now() + OWN_TURN_MS
  }
  return rows
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

interface SqliteTransactionOptions {
  readonly connection: SqliteConnection
  readonly signal: Cancellation
  readonly wal: WalSync
  readonly ended: () => void
}

class SqliteTransaction implements OpenTransaction {
  readonly node = undefined
  readonly isGuarding = false
  readonly #options: SqliteTransactionOptions
  #turnBegan = performance.now()
  #hasEnded = false

  constructor(options: SqliteTransactionOptions) {
    this.#options = options
  }

  run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    return this.#step((connection) =>
      connection.rows(selectOf({ statement, values })).map((row) => decodeRow(statement, row))
    )
  }

  rows(statement: ShownStatement, values: BoundValues): Promise<FoundRow[]> {
    return this.#step((connection) =>
      connection.rows(selectOf({ statement, values })).map((row) => new DecodedRow(statement, row))
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
    this.#end()
    await flushed(this.#options.wal)
  }

  rollback(): Promise<void> {
    try {
      // After some errors SQLite has rolled back already.
      if (this.#options.connection.inTransaction) this.#options.connection.execute('ROLLBACK')
    } catch {
      // `ended` closes the connection.
    }
    this.#end()
    return Promise.resolve()
  }

  #end(): void {
    this.#hasEnded = true
    this.#options.ended()
  }

  /** Only reads run in the meantime: they have a connection of their own, and other transactions wait for the end of this one. */
  async #step<Result>(work: (connection: SqliteConnection) => Result): Promise<Result> {
    if (performance.now() - this.#turnBegan > OWN_TURN_MS) {
      await setImmediate()
      this.#turnBegan = performance.now()
    }
    // It would run by itself, or within the next transaction.
    if (this.#hasEnded) throw new Error('The transaction ended before its statement')
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
const TABLE_LOCKED = 6

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
  if (code === BUSY || code === TABLE_LOCKED) return 'lockTimeout'
  if (code === CANNOT_OPEN) return 'unreachable'
  return TEMPORARY_FAILURES.includes(code) ? 'unavailable' : 'other'
}
