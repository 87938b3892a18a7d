import { setTimeout as wait } from 'node:timers/promises'
import type { Connection } from 'mysql2'
import { executeCall, markUsed } from './driver/mysql-calls.js'
import { classifyMysqlError, errnoOf } from './driver/mysql-errors.js'
import { type Cancellation, throwIfAborted, raceAbort } from '../../../../shared/transport/cancellation.js'
import type { Value } from '../../../entity/fields/field.js'
import type { AnswerBytes } from '../answer-bytes.js'
import { type BoundBatch, type Reader, type ReaderSession, type Snapshot, toDomainError } from '../sessions.js'
import {
  answeredInTime,
  runCommand,
  execute,
  executeEach,
  executeRows,
  type MysqlSettings,
  openConnection,
  stopStatement
} from './driver/mysql-connection.js'
import { type MysqlPool } from './mysql-pool.js'
import {
  type BoundValue,
  type BoundValues,
  type CsvRow,
  decodeRow,
  type FoundRow,
  type ShownStatement,
  type Statement,
  valuesOf
} from '../statement.js'

/** ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION */
const WRITES_IN_READ = 1792

export interface SessionOptions {
  readonly connection: Connection
  readonly settings: MysqlSettings
  /** Aborting it stops the running statement. */
  readonly signal: Cancellation
}

/** The statements of one piece of work on one connection. */
export class MysqlSession implements ReaderSession {
  protected readonly connection: Connection
  protected readonly signal: Cancellation
  readonly #settings: MysqlSettings
  #stopped: Promise<void> | undefined

  constructor({ connection, settings, signal }: SessionOptions) {
    this.connection = connection
    this.signal = signal
    this.#settings = settings
  }

  /** Set if a statement was stopped: resolves when the server has ended it. The connection cannot be used again. */
  get stopped(): Promise<void> | undefined {
    return this.#stopped
  }

  async run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    throwIfAborted(this.signal)
    const rows = await this.untilAborted(this.#sent(statement, valuesOf(statement, values)))
    return rows.map((row) => decodeRow(statement, row))
  }

  #sent(statement: Statement, values: BoundValue[]): Promise<readonly (readonly unknown[])[]> {
    const { procedure } = statement
    if (procedure === undefined) return execute(this.connection, statement, values)
    markUsed(this.connection)
    return executeCall(this.connection, { ...statement, procedure }, values)
  }

  async rows(statement: ShownStatement, values: BoundValues, bytes?: AnswerBytes): Promise<FoundRow[]> {
    throwIfAborted(this.signal)
    const bound = { statement, values: valuesOf(statement, values) }
    return await this.untilAborted(executeRows(this.connection, bound, bytes))
  }

  async runReadOnly(statement: Statement, values: BoundValues): Promise<Value[][]> {
    throwIfAborted(this.signal)
    if (statement.procedure !== undefined) return await this.#callReadOnly(statement, values, statement.procedure.name)
    await this.untilAborted(runCommand(this.connection, 'START TRANSACTION READ ONLY'))
    try {
      return await this.run(statement, values)
    } finally {
      // A connection whose statement is being stopped will be closed.
      if (this.#stopped === undefined) await answeredInTime(this.connection, runCommand(this.connection, 'ROLLBACK'))
    }
  }

  /** A procedure could end a transaction and begin others, so that its whole session can only read, until it is renewed. */
  async #callReadOnly(statement: Statement, values: BoundValues, name: string): Promise<Value[][]> {
    markUsed(this.connection)
    await this.untilAborted(runCommand(this.connection, 'SET SESSION TRANSACTION READ ONLY'))
    try {
      return await this.run(statement, values)
    } catch (error) {
      if (errnoOf(error) !== WRITES_IN_READ) throw error
      throw new TypeError(`The procedure ${name} changes something, which a GET may not: make it a POST`, {
        cause: error
      })
    }
  }

  /** Waits for a sent statement, and stops it if the signal is aborted. */
  protected async untilAborted<Result>(running: Promise<Result>): Promise<Result> {
    try {
      return await raceAbort(running, this.signal)
    } catch (error) {
      if (this.signal.aborted) this.#stopped ??= stopStatement(this.connection, this.#settings, running)
      throw error
    }
  }
}

/** Rows that one statement of a snapshot reads. */
const SNAPSHOT_BATCH = 1000

/** Milliseconds to wait for the server to close the connection of a snapshot. */
const CLOSE_TIMEOUT_MS = 2000

export interface ReaderOptions {
  readonly pool: MysqlPool
  readonly settings: MysqlSettings
  /** The database's name in errors. */
  readonly what: string
}

/**
 * Reads from MySQL and MariaDB with prepared statements on the connections of Sequelize's pool. A snapshot lasts as long
 * as its reader takes, so it has a connection outside of the pool. The callers limit the number of snapshots.
 */
export class MysqlReader implements Reader {
  readonly #settings: MysqlSettings
  readonly #what: string
  readonly #pool: MysqlPool

  constructor({ pool, settings, what }: ReaderOptions) {
    this.#settings = settings
    this.#what = what
    this.#pool = pool
  }

  isFull(signal: Cancellation): boolean {
    return this.#pool.isFull(signal)
  }

  async read<Result>(signal: Cancellation, work: (session: ReaderSession) => Promise<Result>): Promise<Result> {
    const session = new PooledSession(this.#pool, this.#settings, signal)
    try {
      throwIfAborted(signal)
      return await work(session)
    } catch (error) {
      throw toDomainError(error, classifyMysqlError(error), this.#what)
    } finally {
      await session.end()
    }
  }

  async snapshot(signal: AbortSignal): Promise<Snapshot> {
    try {
      signal.throwIfAborted()
      const settings = this.#settings
      const connection = await openConnection(settings)
      const snapshot = new MysqlSnapshot({ connection, settings, signal }, this.#what)
      await snapshot.begin()
      return snapshot
    } catch (error) {
      throw toDomainError(error, classifyMysqlError(error), this.#what)
    }
  }

  async close(): Promise<void> {
    await this.#pool.settle()
  }
}

/** Takes its connection with its first statement, whose text says whether the work is long. */
class PooledSession implements ReaderSession {
  readonly #pool: MysqlPool
  readonly #settings: MysqlSettings
  readonly #signal: Cancellation
  #opening: Promise<OnConnection> | undefined

  constructor(pool: MysqlPool, settings: MysqlSettings, signal: Cancellation) {
    this.#pool = pool
    this.#settings = settings
    this.#signal = signal
  }

  async run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    return (await this.#on(statement)).session.run(statement, values)
  }

  async rows(statement: ShownStatement, values: BoundValues, bytes?: AnswerBytes): Promise<FoundRow[]> {
    return (await this.#on(statement)).session.rows(statement, values, bytes)
  }

  async runReadOnly(statement: Statement, values: BoundValues): Promise<Value[][]> {
    return (await this.#on(statement)).session.runReadOnly(statement, values)
  }

  /** Releases the connection if there is one. Never rejects. */
  async end(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined)
    if (opened !== undefined) this.#pool.release(opened.connection, opened.session.stopped)
  }

  #on(first: Statement): Promise<OnConnection> {
    this.#opening ??= this.#open(first)
    return this.#opening
  }

  async #open({ sql }: Statement): Promise<OnConnection> {
    const [settings, signal] = [this.#settings, this.#signal]
    const connection = await this.#pool.acquire(signal, sql)
    return { connection, session: new MysqlSession({ connection, settings, signal }) }
  }
}

interface OnConnection {
  readonly connection: Connection
  readonly session: MysqlSession
}

class MysqlSnapshot extends MysqlSession implements Snapshot {
  readonly batch = SNAPSHOT_BATCH
  readonly #what: string

  constructor(options: SessionOptions, what: string) {
    super(options)
    this.#what = what
  }

  async begin(): Promise<void> {
    try {
      await runCommand(this.connection, 'SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ')
      await runCommand(this.connection, 'START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
    } catch (error) {
      this.connection.destroy()
      throw error
    }
  }

  async each({ statement, values, bytes }: BoundBatch, take: (row: CsvRow) => void): Promise<void> {
    try {
      throwIfAborted(this.signal)
      const bound = { statement, values: valuesOf(statement, values), bytes }
      await this.untilAborted(executeEach(this.connection, bound, take))
    } catch (error) {
      throw toDomainError(error, classifyMysqlError(error), this.#what)
    }
  }

  async close(): Promise<void> {
    try {
      if (this.stopped !== undefined) await this.stopped
      else await Promise.race([this.connection.promise().end(), wait(CLOSE_TIMEOUT_MS, undefined, { ref: false })])
    } catch {
      // The connection was lost before.
    } finally {
      this.connection.destroy()
    }
  }
}
