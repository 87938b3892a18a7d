import { type FileHandle, open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import type { Value } from '../../entity/field.js'
import {
  beforeAbort,
  type Beginning,
  type Changed,
  type OpenTransaction,
  type Reader,
  type ReadSession,
  type Snapshot,
  type Transactions,
  UnsureCommit
} from './engine.js'
import { unreachable } from './error-classes.js'
import { SqliteConnection, SqliteError, untilFree, WriteQueue } from './sqlite-connection.js'
import { type BoundValues, decodeRow, type Statement, type StatementText, valuesOf } from './statement.js'

/**
 * Reads of the embedded database, on connections of their own so that no open transaction shows through. The driver is
 * synchronous: an aborted signal takes effect between two statements.
 */
export class SqliteReader implements Reader {
  readonly #file: string
  readonly #what: string
  #shared: SqliteConnection | undefined
  readonly #snapshots = new Set<SqliteSnapshot>()
  /** Connections of snapshots that ended. The driver has no way to close one's files before the garbage collector. */
  readonly #idle: SqliteConnection[] = []
  #turn: Promise<unknown> = Promise.resolve()

  constructor(file: string, what: string) {
    this.#file = file
    this.#what = what
  }

  async read<Result>(signal: AbortSignal, work: (session: ReadSession) => Promise<Result>): Promise<Result> {
    try {
      signal.throwIfAborted()
      const connection = this.#connection()
      return await work({ run: (statement, values) => rowsOf(connection, { statement, values, signal }) })
    } catch (error) {
      throw unreachable(error, this.#what)
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
        // Deferred: the first SELECT fixes what all of them see, and no writer waits for it.
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
      throw unreachable(error, this.#what)
    }
  }

  /** Resolves in a turn of the event loop that no other snapshot has, so that other requests go on between them. */
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

  /** Opened by the first read that finds the file. */
  #connection(): SqliteConnection {
    this.#shared ??= SqliteConnection.openReadOnly(this.#file)
    return this.#shared
  }
}

interface SnapshotOf {
  readonly connection: SqliteConnection
  readonly signal: AbortSignal
  readonly what: string
  /** Resolves when the next statement may run. */
  readonly turn: () => Promise<unknown>
  readonly closed: () => void
}

/** Rows that one statement reads while every other request waits. */
const BATCH = 250

class SqliteSnapshot implements Snapshot {
  readonly batch = BATCH
  readonly #of: SnapshotOf
  #open = true

  constructor(of: SnapshotOf) {
    this.#of = of
  }

  async run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    const { connection, signal, what, turn } = this.#of
    await turn()
    try {
      if (!this.#open) throw new Error('The snapshot was closed')
      return await rowsOf(connection, { statement, values, signal })
    } catch (error) {
      throw unreachable(error, what)
    }
  }

  close(): Promise<void> {
    if (this.#open) this.#of.closed()
    this.#open = false
    return Promise.resolve()
  }
}

interface Run {
  readonly statement: Statement
  readonly values: BoundValues
  readonly signal: AbortSignal
}

async function rowsOf(connection: SqliteConnection, { statement, values, signal }: Run): Promise<Value[][]> {
  const parameters = valuesOf(statement, values)
  const rows = await untilFree(() => connection.rows(statement.sql, parameters, statement.exact), signal)
  return rows.map((row) => decodeRow(statement, row))
}

/**
 * Transactions of the embedded database on a connection of their own, one after the other in this process; those of
 * other processes are waited for. They begin IMMEDIATE, so that none of them ever finds its reads overtaken.
 */
export class SqliteTransactions implements Transactions {
  readonly #file: string
  readonly #queue = new WriteQueue()
  readonly #wal: WalSync
  #connection: SqliteConnection | undefined

  constructor(file: string) {
    this.#file = file
    this.#wal = new WalSync(file)
  }

  async begin({ signal, patience }: Beginning): Promise<OpenTransaction> {
    const end = performance.now() + patience
    const leave = await this.#turn(signal, patience)
    try {
      // Between two transactions others get a word in: requests of this process, writers of another.
      await setImmediate()
      this.#connection ??= await SqliteConnection.open(this.#file)
      const connection = this.#connection
      await untilFree(() => connection.execute('BEGIN IMMEDIATE'), signal, Math.max(0, end - performance.now()))
      return new SqliteTransaction({ connection, signal, wal: this.#wal, ended: () => this.#ended(leave) })
    } catch (error) {
      leave()
      throw error
    }
  }

  async close(): Promise<void> {
    const leave = await this.#queue.enter()
    this.#connection?.close()
    this.#connection = undefined
    leave()
    await this.#wal.close()
  }

  async #turn(signal: AbortSignal, patience: number): Promise<() => void> {
    const late = AbortSignal.timeout(patience)
    const turn = this.#queue.enter()
    try {
      return await beforeAbort(turn, AbortSignal.any([signal, late]))
    } catch (error) {
      void turn.then((leave) => leave())
      throw signal.aborted ? error : busy()
    }
  }

  /** A connection that could not end its transaction is of no more use; closing it does. */
  #ended(leave: () => void): void {
    if (this.#connection?.inTransaction === true) {
      this.#connection.close()
      this.#connection = undefined
    }
    leave()
  }
}

/** What another process's lock would have come to. */
function busy(): SqliteError {
  return new SqliteError('SQLITE_BUSY', 5, new Error('the writers before took too long'))
}

interface TransactionOf {
  readonly connection: SqliteConnection
  readonly signal: AbortSignal
  readonly wal: WalSync
  readonly ended: () => void
}

class SqliteTransaction implements OpenTransaction {
  readonly node = undefined
  readonly #of: TransactionOf

  constructor(of: TransactionOf) {
    this.#of = of
  }

  run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    return this.#step((connection) =>
      connection
        .rows(statement.sql, valuesOf(statement, values), statement.exact)
        .map((row) => decodeRow(statement, row))
    )
  }

  change(text: StatementText, values: BoundValues): Promise<Changed> {
    return this.#step((connection) => {
      const { changes, lastInsertRowid } = connection.run(text.sql, valuesOf(text, values)).changes
      return { rows: Number(changes), insertedId: lastInsertRowid }
    })
  }

  /** The transaction holds the only lock there is. */
  changeWithin(_seconds: number, text: StatementText, values: BoundValues): Promise<Changed> {
    return this.change(text, values)
  }

  async commit(): Promise<void> {
    try {
      this.#of.connection.execute('COMMIT')
    } catch (error) {
      await this.rollback()
      throw error
    }
    this.#of.ended()
    try {
      await this.#of.wal.flush()
    } catch (error) {
      throw new UnsureCommit('The write-ahead log was not brought to the disk', { cause: error })
    }
  }

  rollback(): Promise<void> {
    try {
      // Some errors have rolled back already.
      if (this.#of.connection.inTransaction) this.#of.connection.execute('ROLLBACK')
    } catch {
      // `ended` closes the connection.
    }
    this.#of.ended()
    return Promise.resolve()
  }

  async #step<Result>(work: (connection: SqliteConnection) => Result): Promise<Result> {
    this.#of.signal.throwIfAborted()
    return await Promise.resolve(work(this.#of.connection))
  }
}

/**
 * Brings the embedded database's write-ahead log to the disk. `synchronous = FULL` would do so within every COMMIT and
 * hold the one thread of this process for it; here transactions that commit at about the same time share one sync, and
 * requests are served meanwhile. The log holds no lock of SQLite's, so a second handle of it is harmless.
 */
export class WalSync {
  readonly #log: string
  #handle: FileHandle | undefined
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(file: string) {
    this.#log = `${file}-wal`
  }

  /** Resolves when everything committed before the call would outlive a power cut. */
  flush(): Promise<void> {
    // A sync under way may have begun before the commit: the one after it counts.
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

/** undefined where the file system has no WAL mode: SQLite itself then syncs every commit. */
async function openIfThere(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r+')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
