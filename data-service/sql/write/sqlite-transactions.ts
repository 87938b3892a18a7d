import { setImmediate } from 'node:timers/promises'
import type { Value } from '../../entity/value.js'
import { beforeAbort } from '../before-abort.js'
import type { BoundValues } from '../conditions.js'
import { SqliteConnection } from '../sqlite/sqlite-connection.js'
import { SqliteError } from '../sqlite/sqlite-error.js'
import { untilFree } from '../sqlite/until-free.js'
import { WriteQueue } from '../sqlite/write-queue.js'
import { decodeRow, type Statement, type StatementText, valuesOf } from '../statement.js'
import { type Beginning, type Changed, type OpenTransaction, type Transactions, UnsureCommit } from './transactions.js'
import { WalSync } from './wal-sync.js'

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
