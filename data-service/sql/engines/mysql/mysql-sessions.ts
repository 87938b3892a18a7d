import { setTimeout as wait } from 'node:timers/promises'
import type { Connection } from 'mysql2'
import { BaseError, ConnectionError, type Sequelize } from 'sequelize'
import type { Value } from '../../../entity/fields/field.js'
import {
  type BatchStatement,
  type BeginOptions,
  type Changed,
  type ErrorKind,
  oneByOne,
  type OpenTransaction,
  raceAbort,
  runOne,
  type Reader,
  type ReaderSession,
  type Snapshot,
  toDomainError,
  type Transactions
} from '../sessions.js'
import {
  command,
  execute,
  executeChange,
  executeEach,
  executeRows,
  MANY_ROWS,
  MysqlPool,
  type MysqlSettings,
  openConnection,
  pipelined,
  serverBehind,
  stopStatement
} from './mysql-connection.js'
import {
  type BoundValues,
  decodeRow,
  type FoundRow,
  type ShownStatement,
  type Statement,
  type StatementText,
  valuesOf
} from '../statement.js'

interface SessionOptions {
  readonly connection: Connection
  readonly settings: MysqlSettings
  /** Aborting it stops the running statement. */
  readonly signal: AbortSignal
}

/** The statements of one piece of work on one connection. */
class MysqlSession implements ReaderSession {
  protected readonly connection: Connection
  protected readonly signal: AbortSignal
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
    this.signal.throwIfAborted()
    const rows = await this.untilAborted(execute(this.connection, statement, valuesOf(statement, values)))
    return rows.map((row) => decodeRow(statement, row))
  }

  async rows(statement: ShownStatement, values: BoundValues): Promise<FoundRow[]> {
    this.signal.throwIfAborted()
    return await this.untilAborted(executeRows(this.connection, statement, valuesOf(statement, values)))
  }

  async runReadOnly(statement: Statement, values: BoundValues): Promise<Value[][]> {
    const session = this.connection.promise()
    this.signal.throwIfAborted()
    await session.query('START TRANSACTION READ ONLY')
    try {
      return await this.run(statement, values)
    } finally {
      // A connection whose statement is being stopped will be closed.
      if (this.#stopped === undefined) await session.query('ROLLBACK')
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
const BATCH = 1000

/** Milliseconds to wait for the server to close the connection of a snapshot. */
const CLOSE_TIMEOUT_MS = 2000

interface ReaderOptions {
  readonly sequelize: Sequelize
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

  constructor({ sequelize, settings, what }: ReaderOptions) {
    this.#settings = settings
    this.#what = what
    this.#pool = new MysqlPool(sequelize)
  }

  async read<Result>(signal: AbortSignal, work: (session: ReaderSession) => Promise<Result>): Promise<Result> {
    try {
      const connection = await this.#pool.acquire(signal)
      const session = new MysqlSession({ connection, settings: this.#settings, signal })
      try {
        return await work(session)
      } finally {
        this.#pool.release(connection, session.stopped)
      }
    } catch (error) {
      throw toDomainError(error, classifyMysqlError(error), this.#what)
    }
  }

  async snapshot(signal: AbortSignal): Promise<Snapshot> {
    try {
      signal.throwIfAborted()
      const settings = this.#settings
      const connection = await openConnection(settings, MANY_ROWS)
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

class MysqlSnapshot extends MysqlSession implements Snapshot {
  readonly batch = BATCH
  readonly #what: string

  constructor(options: SessionOptions, what: string) {
    super(options)
    this.#what = what
  }

  async begin(): Promise<void> {
    try {
      const session = this.connection.promise()
      await session.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ')
      await session.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
    } catch (error) {
      this.connection.destroy()
      throw error
    }
  }

  async each(statement: Statement, values: BoundValues, take: (row: readonly Value[]) => void): Promise<void> {
    try {
      this.signal.throwIfAborted()
      const bound = { statement, values: valuesOf(statement, values) }
      await this.untilAborted(executeEach(this.connection, bound, (row) => take(decodeRow(statement, row))))
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

/** SERVER_STATUS_IN_TRANS, in the response to every statement. */
const IN_TRANSACTION = 1

/**
 * A Galera node may roll a transaction back between two statements, in favour of one of another node. If its next answer
 * reports no error, the following statements would run outside of a transaction. It is treated as a deadlock.
 */
class LostTransaction extends Error {
  override readonly name = 'LostTransaction'
  /** ER_LOCK_DEADLOCK. */
  readonly errno = 1213

  constructor() {
    super('The server had given the transaction up before this statement')
  }
}

const START = 'START TRANSACTION'

/** Transactions of MySQL and MariaDB on the connections of Sequelize's pool, READ COMMITTED as their session says. */
export class MysqlTransactions implements Transactions {
  readonly classifyError = classifyMysqlError
  readonly #settings: MysqlSettings
  readonly #pool: MysqlPool

  constructor({ sequelize, settings }: Omit<ReaderOptions, 'what'>) {
    this.#settings = settings
    this.#pool = new MysqlPool(sequelize)
  }

  async begin({ signal, isForChangeWithin = false }: BeginOptions): Promise<OpenTransaction> {
    const connection = await this.#pool.acquire(signal)
    const { server, node } = serverBehind(connection)
    // On MySQL other statements come before that change, and on a cluster each answer is looked at before the next is sent.
    const isStarted = !(isForChangeWithin && server === 'mariadb' && node === undefined)
    try {
      if (isStarted) await command(connection, START)
    } catch (error) {
      this.#pool.discard(connection)
      throw error
    }
    return new MysqlTransaction({ connection, settings: this.#settings, signal }, this.#pool, isStarted)
  }

  close(): Promise<void> {
    return this.#pool.settle()
  }
}

class MysqlTransaction extends MysqlSession implements OpenTransaction {
  readonly #pool: MysqlPool
  /** If not, `changeWithin` starts the transaction together with its statement. */
  #isStarted: boolean

  constructor(options: SessionOptions, pool: MysqlPool, isStarted: boolean) {
    super(options)
    this.#pool = pool
    this.#isStarted = isStarted
  }

  get node(): number | undefined {
    return serverBehind(this.connection).node
  }

  async change(text: StatementText, values: BoundValues): Promise<Changed> {
    this.signal.throwIfAborted()
    const running = executeChange(this.connection, text, valuesOf(text, values))
    const { affectedRows, insertId, serverStatus } = await this.untilAborted(running)
    if ((serverStatus & IN_TRANSACTION) === 0) throw new LostTransaction()
    return { rows: affectedRows, insertedId: unsigned(insertId) }
  }

  async batch(statements: readonly BatchStatement[]): ReturnType<OpenTransaction['batch']> {
    // A cluster may give a transaction up between two statements, so that each answer is looked at before the next is sent.
    if (this.node !== undefined) return await oneByOne(statements, this)
    return await Promise.allSettled(pipelined(this.connection, () => statements.map((one) => runOne(one, this))))
  }

  async changeWithin(seconds: number, text: StatementText, values: BoundValues): Promise<Changed> {
    if (serverBehind(this.connection).server === 'mariadb') {
      const sql = `SET STATEMENT innodb_lock_wait_timeout = ${seconds} FOR ${text.sql}`
      const within = { ...text, sql }
      return this.#isStarted ? await this.change(within, values) : await this.#startWith(within, values)
    }
    const session = this.connection.promise()
    await session.query(
      `SET @lock_wait = @@SESSION.innodb_lock_wait_timeout, SESSION innodb_lock_wait_timeout = ${seconds}`
    )
    try {
      return await this.change(text, values)
    } finally {
      // A connection whose statement is being stopped will be closed, so its settings need no reset.
      if (this.stopped === undefined) {
        await session.query('SET SESSION innodb_lock_wait_timeout = @lock_wait')
      }
    }
  }

  /**
   * Starts the transaction with a statement that is harmless outside of one. If the server does not start it (an operator
   * may stop that very statement), the change is committed by itself, and this rejects.
   */
  async #startWith(text: StatementText, values: BoundValues): Promise<Changed> {
    this.signal.throwIfAborted()
    this.#isStarted = true
    const [started, changed] = pipelined(
      this.connection,
      () => [command(this.connection, START), this.change(text, values)] as const
    )
    await Promise.allSettled([started, changed])
    await started
    return await changed
  }

  async commit(): Promise<void> {
    try {
      // Sent as text: a prepared COMMIT may hide from its caller that Galera rolled the transaction back (MDEV-35446).
      await command(this.connection, 'COMMIT')
    } catch (error) {
      await this.rollback()
      throw error
    }
    this.#pool.release(this.connection)
  }

  async rollback(): Promise<void> {
    if (!this.#isStarted) return this.#pool.release(this.connection)
    if (this.stopped !== undefined) return this.#pool.release(this.connection, this.stopped)
    try {
      await command(this.connection, 'ROLLBACK')
      this.#pool.release(this.connection)
    } catch {
      this.#pool.discard(this.connection)
    }
  }
}

/** mysql2 reads the id that the server gave to a row as a signed number, and the servers mean an unsigned one. */
function unsigned(insertId: string | number): string | number | bigint {
  return Number(insertId) < 0 ? BigInt.asUintN(64, BigInt(insertId)) : insertId
}

/** Error numbers of MySQL and MariaDB. */
const KIND_BY_NUMBER: ReadonlyMap<number, ErrorKind> = new Map([
  // ER_LOCK_DEADLOCK: also for a failed certification in Galera, and a transaction that gave way to a replicated one.
  [1213, 'deadlock'],
  // ER_CHECKREAD: the row was changed after this transaction's snapshot (innodb_snapshot_isolation).
  [1020, 'lostRace'],
  // ER_QUERY_INTERRUPTED: stopped by an operator or for a replicated transaction, and rolled back as a whole.
  [1317, 'lostRace'],
  // ER_LOCK_WAIT_TIMEOUT
  [1205, 'lockTimeout'],
  // ER_DUP_ENTRY, ER_DUP_ENTRY_WITH_KEY_NAME
  [1062, 'constraint'],
  [1586, 'constraint'],
  // Foreign key: there is no parent row, or rows still refer to it.
  [1216, 'constraint'],
  [1217, 'constraint'],
  [1451, 'constraint'],
  [1452, 'constraint'],
  [1644, 'forbidden'], // ER_SIGNAL_EXCEPTION: a trigger
  [3819, 'forbidden'], // ER_CHECK_CONSTRAINT_VIOLATED of MySQL
  [4025, 'forbidden'], // ER_CONSTRAINT_FAILED of MariaDB: a CHECK
  // ER_ERROR_DURING_COMMIT: a Galera node lost its cluster during the commit.
  [1180, 'commitUnknown'],
  // ER_SERVER_SHUTDOWN
  [1053, 'connectionLost'],
  // ER_CONNECTION_KILLED: an operator ended the connection.
  [1927, 'connectionLost'],
  [1040, 'unreachable'], // ER_CON_COUNT_ERROR: it takes no more connections
  [1047, 'unreachable'], // ER_UNKNOWN_COM_ERROR: a Galera node outside of its cluster
  [1203, 'unreachable'], // ER_TOO_MANY_USER_CONNECTIONS
  [1226, 'unreachable'], // ER_USER_LIMIT_REACHED
  [3032, 'unreachable'], // ER_SERVER_OFFLINE_MODE
  [4031, 'unreachable'], // ER_CLIENT_INTERACTION_TIMEOUT: the server ended it for being idle
  [3, 'unavailable'], // EE_WRITE: a file cannot be written, the disk being full
  [1021, 'unavailable'], // ER_DISK_FULL
  [1026, 'unavailable'], // ER_ERROR_ON_WRITE
  [1037, 'unavailable'], // ER_OUTOFMEMORY
  [1041, 'unavailable'], // ER_OUT_OF_RESOURCES
  [1114, 'unavailable'], // ER_RECORD_FILE_FULL: no room left in the tables' space
  [1461, 'unavailable'], // ER_MAX_PREPARED_STMT_COUNT_REACHED
  [1792, 'unavailable'], // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: the server begins all of them so
  [1836, 'unavailable'], // ER_READ_ONLY_MODE: innodb_read_only
  [1874, 'unavailable'] // ER_INNODB_READ_ONLY
])

/** Network errors which mean that the server cannot be reached at the moment. */
const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'PROTOCOL_CONNECTION_LOST'
])

/** ER_OPTION_PREVENTS_STATEMENT. Its message names the option; a server turns a read-only option off after a fail-over. */
const OPTION_PREVENTS = 1290
const READ_ONLY = /read[-_]only/i

/** ER_GET_ERRNO. Its message ends in the operating system's number: no space left, or over the quota. */
const STORAGE_ENGINE = 1030
const NO_SPACE = /\b(28|122)\b/

/** The kind of an error of the driver, which Sequelize may have wrapped. */
export function classifyMysqlError(error: unknown): ErrorKind {
  if (!(error instanceof Error)) return 'other'
  // Connecting failed for any reason, or the pool had no free connection in time.
  if (error instanceof ConnectionError) return 'unreachable'
  if (error instanceof BaseError && 'parent' in error) return classifyMysqlError(error.parent)
  const errno = 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined
  const kind = errno === undefined ? undefined : KIND_BY_NUMBER.get(errno)
  // The driver marks errors after which the connection is lost.
  const isFatal = 'fatal' in error && error.fatal === true
  if (isFatal && (kind === undefined || kind === 'unreachable' || kind === 'unavailable')) return 'connectionLost'
  if (kind !== undefined) return kind
  if ('code' in error && typeof error.code === 'string' && NETWORK_CODES.has(error.code)) return 'unreachable'
  if (errno === OPTION_PREVENTS) return READ_ONLY.test(error.message) ? 'unavailable' : 'other'
  if (errno === STORAGE_ENGINE) return NO_SPACE.test(error.message) ? 'unavailable' : 'other'
  return 'other'
}

/** The server's error number, also of a wrapped error. undefined if there is none. */
export function errnoOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  if ('errno' in error && typeof error.errno === 'number') return error.errno
  return errnoOf('parent' in error ? error.parent : error.cause)
}
