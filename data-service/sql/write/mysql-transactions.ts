import type { Connection } from 'mysql2'
import type { Sequelize } from 'sequelize'
import type { Value } from '../../entity/value.js'
import type { BoundValues } from '../conditions.js'
import type { MysqlSettings } from '../database-url.js'
import { MysqlPool } from '../mysql/mysql-pool.js'
import { sessionOf } from '../mysql/mysql-session.js'
import { MysqlWork } from '../mysql/mysql-work.js'
import type { Statement, StatementText } from '../statement.js'
import type { Beginning, Changed, OpenTransaction, Transactions } from './transactions.js'

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
