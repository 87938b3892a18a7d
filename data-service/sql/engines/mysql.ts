import { setTimeout as wait } from 'node:timers/promises'
import type { Connection, ResultSetHeader } from 'mysql2'
import type { Sequelize } from 'sequelize'
import type { Field, FieldType, Operand, Value } from '../../entity/field.js'
import {
  beforeAbort,
  type Beginning,
  type Changed,
  type MysqlSettings,
  type OpenTransaction,
  type Reader,
  type ReadSession,
  type Snapshot,
  type Transactions
} from './engine.js'
import { unreachable } from './error-classes.js'
import { execute, executeChange, MysqlPool, openConnection, sessionOf, stopStatement } from './mysql-connection.js'
import {
  type BoundValues,
  decodeRow,
  type SqlDialect,
  type Statement,
  type StatementText,
  type TextMatch,
  undecodable,
  valuesOf
} from './statement.js'

/** MySQL and MariaDB: the columns' collations compare text, casts keep bound digits from becoming doubles. */
export const mysqlDialect: SqlDialect = {
  keyFunction: () => undefined,
  operand: (name, field) => (castType(field) === undefined ? `$${name}` : `CAST($${name} AS ${castType(field)})`),
  bind: boundOperand,
  matchFunction: () => undefined,
  bindMatch: likePattern,
  runsAsRanges: true,
  decode: (type) => (raw) => (raw === null ? null : decoded(type, raw))
}

function castType({ type, precision, scale }: Field): string | undefined {
  switch (type) {
    case 'bool':
    case 'int':
    case 'long':
      return 'SIGNED'
    case 'decimal':
      // Two digits more than the column has, for operands beyond its range to stay beyond it.
      return `DECIMAL(${Math.min(precision + 2, 65)},${scale})`
    case 'dateTime':
      return 'DATETIME(3)'
    case 'string':
    case 'guid':
      return undefined
  }
}

function boundOperand(operand: Operand, { type }: Field): string {
  if (type === 'bool') return operand === true ? '1' : '0'
  // 2026-01-31T08:00:00.000Z in the form the server parses, the session being in UTC.
  if (type === 'dateTime') return String(operand).replace('T', ' ').replace('Z', '')
  return String(operand)
}

/** `!` escapes: unlike the backslash it means the same in every sql_mode. */
function likePattern(operand: string, match: TextMatch): string {
  const plain = operand.replace(/[!%_]/g, '!$&')
  return `${match === 'startsWith' ? '' : '%'}${plain}${match === 'endsWith' ? '' : '%'}`
}

function decoded(type: FieldType, raw: unknown): Value {
  switch (type) {
    case 'bool':
      return Number(raw) !== 0
    case 'int':
      return Number(raw)
    case 'long':
    case 'decimal':
    case 'string':
    case 'guid':
      return String(raw)
    case 'dateTime':
      if (typeof raw !== 'string') throw undecodable(type, raw)
      return isoTime(raw)
  }
}

/** `2026-01-31 08:00:00`, with or without a fraction, as `2026-01-31T08:00:00.000Z`. */
function isoTime(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, 23).padEnd(3, '0')}Z`
}

interface WorkOn {
  readonly connection: Connection
  readonly settings: MysqlSettings
  readonly signal: AbortSignal
}

/** The statements of one piece of work on one connection. */
export class MysqlWork implements ReadSession {
  readonly #connection: Connection
  readonly #settings: MysqlSettings
  readonly #signal: AbortSignal
  #stopped: Promise<void> | undefined

  constructor({ connection, settings, signal }: WorkOn) {
    this.#connection = connection
    this.#settings = settings
    this.#signal = signal
  }

  /** Set once a statement was stopped: resolves when the server is done with it. The connection is of no more use. */
  get stopped(): Promise<void> | undefined {
    return this.#stopped
  }

  async run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    const rows = await this.#stoppable(() => execute(this.#connection, statement, valuesOf(statement, values)))
    return rows.map((row) => decodeRow(statement, row))
  }

  /** Runs a statement that changes rows. */
  change(text: StatementText, values: BoundValues): Promise<ResultSetHeader> {
    return this.#stoppable(() => executeChange(this.#connection, text, valuesOf(text, values)))
  }

  async #stoppable<Result>(send: () => Promise<Result>): Promise<Result> {
    this.#signal.throwIfAborted()
    const running = send()
    try {
      return await beforeAbort(running, this.#signal)
    } catch (error) {
      if (this.#signal.aborted) this.#stopped = stopStatement(this.#connection, this.#settings, running)
      throw error
    }
  }
}

/** Rows that one statement of a snapshot reads. */
const BATCH = 1000

/** Milliseconds that the server gets to say goodbye to a snapshot's connection. */
const CLOSING_MS = 2000

interface ReaderOf {
  readonly sequelize: Sequelize
  readonly settings: MysqlSettings
  /** The database's name in errors. */
  readonly what: string
}

/**
 * Reads of MySQL and MariaDB, as prepared statements on the connections of Sequelize's pool. A snapshot lasts as long as
 * its reader takes, so it has a connection beside the pool; how many there are is for their callers to bound.
 */
export class MysqlReader implements Reader {
  readonly #of: ReaderOf
  readonly #pool: MysqlPool

  constructor(of: ReaderOf) {
    this.#of = of
    this.#pool = new MysqlPool(of.sequelize)
  }

  async read<Result>(signal: AbortSignal, work: (session: ReadSession) => Promise<Result>): Promise<Result> {
    try {
      const connection = await this.#pool.acquire(signal)
      const session = new MysqlWork({ connection, settings: this.#of.settings, signal })
      try {
        return await work(session)
      } finally {
        this.#pool.giveBack(connection, session.stopped)
      }
    } catch (error) {
      throw unreachable(error, this.#of.what)
    }
  }

  async snapshot(signal: AbortSignal): Promise<Snapshot> {
    try {
      signal.throwIfAborted()
      const connection = await openConnection(this.#of.settings)
      const snapshot = new MysqlSnapshot(connection, { ...this.#of, signal })
      await snapshot.begin()
      return snapshot
    } catch (error) {
      throw unreachable(error, this.#of.what)
    }
  }

  async close(): Promise<void> {
    await this.#pool.settle()
  }
}

class MysqlSnapshot implements Snapshot {
  readonly batch = BATCH
  readonly #connection: Connection
  readonly #work: MysqlWork
  readonly #what: string

  constructor(connection: Connection, of: Omit<ReaderOf, 'sequelize'> & { signal: AbortSignal }) {
    this.#connection = connection
    this.#work = new MysqlWork({ connection, settings: of.settings, signal: of.signal })
    this.#what = of.what
  }

  async begin(): Promise<void> {
    try {
      const session = this.#connection.promise()
      await session.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ')
      await session.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
    } catch (error) {
      this.#connection.destroy()
      throw error
    }
  }

  async run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    try {
      return await this.#work.run(statement, values)
    } catch (error) {
      throw unreachable(error, this.#what)
    }
  }

  async close(): Promise<void> {
    try {
      if (this.#work.stopped !== undefined) await this.#work.stopped
      else await Promise.race([this.#connection.promise().end(), wait(CLOSING_MS, undefined, { ref: false })])
    } catch {
      // Lost already.
    } finally {
      this.#connection.destroy()
    }
  }
}

/** SERVER_STATUS_IN_TRANS, which comes with the answer to every statement. */
const IN_TRANSACTION = 1

/**
 * A Galera node may give a transaction up between two statements, for one of another node. Should it not say so in the
 * next answer, what follows would be no part of any transaction: it counts as the deadlock that it is.
 */
class LostTransaction extends Error {
  override readonly name = 'LostTransaction'
  /** ER_LOCK_DEADLOCK. */
  readonly errno = 1213

  constructor() {
    super('The server had given the transaction up before this statement')
  }
}

interface TransactionsOf {
  readonly sequelize: Sequelize
  readonly settings: MysqlSettings
}

/** Transactions of MySQL and MariaDB on the connections of Sequelize's pool, READ COMMITTED as their session says. */
export class MysqlTransactions implements Transactions {
  readonly #settings: MysqlSettings
  readonly #pool: MysqlPool

  constructor({ sequelize, settings }: TransactionsOf) {
    this.#settings = settings
    this.#pool = new MysqlPool(sequelize)
  }

  async begin({ signal }: Beginning): Promise<OpenTransaction> {
    const connection = await this.#pool.acquire(signal)
    try {
      await connection.promise().query('START TRANSACTION')
    } catch (error) {
      this.#pool.discard(connection)
      throw error
    }
    const work = new MysqlWork({ connection, settings: this.#settings, signal })
    return new MysqlTransaction({ connection, work, pool: this.#pool })
  }

  close(): Promise<void> {
    return this.#pool.settle()
  }
}

interface TransactionOf {
  readonly connection: Connection
  readonly work: MysqlWork
  readonly pool: MysqlPool
}

class MysqlTransaction implements OpenTransaction {
  readonly #of: TransactionOf

  constructor(of: TransactionOf) {
    this.#of = of
  }

  get node(): number | undefined {
    return sessionOf(this.#of.connection).node
  }

  run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    return this.#of.work.run(statement, values)
  }

  async change(text: StatementText, values: BoundValues): Promise<Changed> {
    const { affectedRows, insertId, serverStatus } = await this.#of.work.change(text, values)
    if ((serverStatus & IN_TRANSACTION) === 0) throw new LostTransaction()
    return { rows: affectedRows, insertedId: insertId }
  }

  async changeWithin(seconds: number, text: StatementText, values: BoundValues): Promise<Changed> {
    if (sessionOf(this.#of.connection).server === 'mariadb') {
      const sql = `SET STATEMENT innodb_lock_wait_timeout = ${seconds} FOR ${text.sql}`
      return await this.change({ ...text, sql }, values)
    }
    const session = this.#of.connection.promise()
    await session.query(
      `SET @lock_wait = @@SESSION.innodb_lock_wait_timeout, SESSION innodb_lock_wait_timeout = ${seconds}`
    )
    try {
      return await this.change(text, values)
    } finally {
      // A connection whose statement is being stopped is closed, with its settings.
      if (this.#of.work.stopped === undefined) {
        await session.query('SET SESSION innodb_lock_wait_timeout = @lock_wait')
      }
    }
  }

  async commit(): Promise<void> {
    const { connection, pool } = this.#of
    try {
      // As text: a prepared COMMIT may hide from its caller that Galera had given the transaction up (MDEV-35446).
      await connection.promise().query('COMMIT')
    } catch (error) {
      await this.rollback()
      throw error
    }
    pool.giveBack(connection)
  }

  async rollback(): Promise<void> {
    const { connection, work, pool } = this.#of
    if (work.stopped !== undefined) return pool.giveBack(connection, work.stopped)
    try {
      await connection.promise().query('ROLLBACK')
      pool.giveBack(connection)
    } catch {
      pool.discard(connection)
    }
  }
}
