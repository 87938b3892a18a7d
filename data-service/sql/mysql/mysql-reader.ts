import { setTimeout as wait } from 'node:timers/promises'
import type { Connection } from 'mysql2'
import type { Sequelize } from 'sequelize'
import type { Value } from '../../entity/value.js'
import type { BoundValues } from '../conditions.js'
import type { MysqlSettings } from '../database-url.js'
import type { Reader, ReadSession, Snapshot } from '../reader.js'
import type { Statement } from '../statement.js'
import { unreachable } from '../unreachable.js'
import { openConnection } from './mysql-connection.js'
import { MysqlPool } from './mysql-pool.js'
import { MysqlWork } from './mysql-work.js'

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
