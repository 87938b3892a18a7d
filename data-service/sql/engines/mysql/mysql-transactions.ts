import type { ResultSetHeader } from 'mysql2'
import { throwIfAborted } from '../../../../shared/transport/cancellation.js'
import type { Value } from '../../../entity/fields/field.js'
import {
  assertOneRow,
  type BatchOutcome,
  type BatchStatement,
  type BeginOptions,
  type Changed,
  type LastChange,
  oneByOne,
  type OpenTransaction,
  type Transactions
} from '../sessions.js'
import {
  answeredInTime,
  runCommand,
  execute,
  executeChange,
  executeRows,
  type MysqlServer,
  type MysqlSettings,
  pipelined,
  serverBehind
} from './driver/mysql-connection.js'
import {
  type BoundValue,
  type BoundValues,
  decodeRow,
  type FoundRow,
  type ShownStatement,
  type Statement,
  type StatementText,
  valuesOf
} from '../statement.js'
import { type MysqlPool } from './mysql-pool.js'
import { MysqlSession, type ReaderOptions, type SessionOptions } from './mysql-sessions.js'
import { classifyMysqlError, errnoOf } from './driver/mysql-errors.js'

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

/** ER_SP_DOES_NOT_EXIST, which servers answer for a savepoint too. */
const NO_SAVEPOINT = 1305
/** ER_LOCK_DEADLOCK */
const DEADLOCK = 1213

/**
 * Sent right behind the last change, before its answer is there: commits if it has changed one row, and else rolls back.
 * ROW_COUNT() is -1 after a statement that failed. A statement of this kind is MariaDB's alone.
 */
const COMMIT_IF_CHANGED =
  'BEGIN NOT ATOMIC IF ROW_COUNT() = 1 AND @@in_transaction = 1 THEN COMMIT; ' +
  "ELSE ROLLBACK; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The transaction was rolled back'; END IF; END"

/** Transactions of MySQL and MariaDB on the connections of Sequelize's pool, READ COMMITTED as their session says. */
export class MysqlTransactions implements Transactions {
  readonly classifyError = classifyMysqlError
  readonly #settings: MysqlSettings
  readonly #pool: MysqlPool

  constructor({ pool, settings }: Omit<ReaderOptions, 'what'>) {
    this.#settings = settings
    this.#pool = pool
  }

  /** Takes a connection. START TRANSACTION is sent with the first statement. */
  async begin({ signal }: BeginOptions): Promise<OpenTransaction> {
    const connection = await this.#pool.acquire(signal)
    return new MysqlTransaction({ connection, settings: this.#settings, signal }, this.#pool)
  }

  flushed(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return this.#pool.settle()
  }
}

class MysqlTransaction extends MysqlSession implements OpenTransaction {
  readonly #pool: MysqlPool
  readonly #server: MysqlServer
  readonly node: number | undefined
  readonly isGuarding: boolean
  /** Whether START TRANSACTION was sent. */
  #isStarted = false
  #isOver = false

  constructor(options: SessionOptions, pool: MysqlPool) {
    super(options)
    this.#pool = pool
    const { server, node } = serverBehind(options.connection)
    this.#server = server
    this.node = node
    this.isGuarding = server === 'mariadb' && node === undefined
  }

  override run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    const { procedure } = statement
    if (procedure !== undefined) return this.#started(() => this.#call(statement, values, procedure.name), false)
    return this.#started(() => super.run(statement, values), true)
  }

  /**
   * The savepoint is gone if the procedure has ended the transaction, also if it has begun another one or has failed behind
   * that: to try such an operation again would commit once more what it has committed.
   */
  async #call(statement: Statement, values: BoundValues, name: string): Promise<Value[][]> {
    await this.untilAborted(runCommand(this.connection, 'SAVEPOINT ur_call'))
    // An operation that did not wait for this may have been rolled back meanwhile.
    if (this.#isOver) throw new TypeError(`The transaction ended before the procedure ${name} was called`)
    const release = async (): Promise<void> => {
      try {
        await this.untilAborted(runCommand(this.connection, 'RELEASE SAVEPOINT ur_call'))
      } catch (error) {
        if (errnoOf(error) !== NO_SAVEPOINT) throw error
        throw new TypeError(`The procedure ${name} has ended the transaction of its operation`, { cause: error })
      }
    }
    let rows: Value[][]
    try {
      rows = await super.run(statement, values)
    } catch (error) {
      // A deadlock ends the transaction by itself, and a lost connection or an aborted call has no answer any more.
      const errno = errnoOf(error) ?? 0
      if (errno > 0 && errno !== DEADLOCK && !this.signal.aborted) await release()
      throw error
    }
    await release()
    return rows
  }

  override rows(statement: ShownStatement, values: BoundValues): Promise<FoundRow[]> {
    return this.#started(() => super.rows(statement, values), true)
  }

  change(text: StatementText, values: BoundValues): Promise<Changed> {
    const { sql, isHarmless } = this.#sentText(text)
    return this.#started(() => this.#change(sql, valuesOf(text, values)), isHarmless)
  }

  /** The text of a change, and whether it changes nothing outside of a transaction. */
  #sentText(text: StatementText): { readonly sql: string; readonly isHarmless: boolean } {
    const guarded = this.#server === 'mariadb' ? text.inTransaction : undefined
    return { sql: guarded ?? text.sql, isHarmless: guarded !== undefined }
  }

  async #change(sql: string, values: BoundValue[]): Promise<Changed> {
    throwIfAborted(this.signal)
    return changedBy(await this.untilAborted(executeChange(this.connection, { sql }, values)))
  }

  async batch(statements: readonly BatchStatement[]): ReturnType<OpenTransaction['batch']> {
    // A cluster may give a transaction up between two statements, so that each answer is looked at before the next is sent.
    if (this.node !== undefined) return await oneByOne(statements, this)
    // The changes behind the first one do nothing if it has changed no row.
    const first = statements.find((one) => one.kind === 'change')
    const isHarmless = first === undefined || this.#sentText(first.text).isHarmless
    if (!this.#isStarted && !isHarmless) await this.#start()
    throwIfAborted(this.signal)
    const isStarting = !this.#isStarted
    this.#isStarted = true
    const issues = statements.map((one) => this.#issue(one))
    const sent = pipelined(this.connection, () => {
      const started = isStarting ? [runCommand(this.connection, START)] : []
      return { started, outcomes: issues.map((issue) => issue()) }
    })
    // They are waited for together, since an abort ends all of them.
    const ended = Promise.all([Promise.allSettled(sent.started), Promise.allSettled(sent.outcomes)])
    const [[started], outcomes] = await this.untilAborted(ended)
    if (started?.status === 'rejected') throw started.reason
    return outcomes
  }

  /** What sends a statement of a batch and tells its outcome. Values that are missing are found before any is sent. */
  #issue(one: BatchStatement): () => Promise<BatchOutcome> {
    const { connection } = this
    switch (one.kind) {
      case 'run': {
        const values = valuesOf(one.statement, one.values)
        return async () =>
          (await execute(connection, one.statement, values)).map((row) => decodeRow(one.statement, row))
      }
      case 'rows': {
        const bound = { statement: one.statement, values: valuesOf(one.statement, one.values) }
        return () => executeRows(connection, bound)
      }
      case 'change':
      case 'changeWithin': {
        const values = valuesOf(one.text, one.values)
        const sql = one.kind === 'change' ? this.#sentText(one.text).sql : textWithin(one.text, one.seconds)
        return async () => changedBy(await executeChange(connection, { sql }, values))
      }
    }
  }

  async changeWithin(seconds: number, text: StatementText, values: BoundValues): Promise<Changed> {
    if (this.#server === 'mariadb') {
      const run = (): Promise<Changed> => this.#change(textWithin(text, seconds), valuesOf(text, values))
      return await this.#started(run, true)
    }
    if (!this.#isStarted) await this.#start()
    const limit = `SET @lock_wait = @@SESSION.innodb_lock_wait_timeout, SESSION innodb_lock_wait_timeout = ${seconds}`
    await this.untilAborted(runCommand(this.connection, limit))
    try {
      return await this.change(text, values)
    } finally {
      // A connection whose statement is being stopped will be closed, so its settings need no reset.
      if (this.stopped === undefined) {
        await this.untilAborted(runCommand(this.connection, 'SET SESSION innodb_lock_wait_timeout = @lock_wait'))
      }
    }
  }

  /**
   * Sends statements of the transaction. START TRANSACTION is sent before the first ones: together with them if they are
   * harmless outside of a transaction, because the server runs them although it did not start one (an operator may stop
   * that very statement). Then this rejects.
   */
  #started<Outcome>(send: () => Promise<Outcome>, isHarmless: boolean): Promise<Outcome> {
    if (this.#isStarted) return send()
    // On a cluster each answer is looked at before the next statement is sent.
    return isHarmless && this.node === undefined ? this.#startWith(send) : this.#start().then(send)
  }

  async #start(): Promise<void> {
    throwIfAborted(this.signal)
    this.#isStarted = true
    await this.untilAborted(runCommand(this.connection, START))
    // A unit of work that did not wait for this may have given the transaction up meanwhile.
    if (this.#isOver) throw new TypeError('The transaction ended before its first statement')
  }

  async #startWith<Outcome>(send: () => Promise<Outcome>): Promise<Outcome> {
    throwIfAborted(this.signal)
    this.#isStarted = true
    const start = (): Promise<void> => this.untilAborted(runCommand(this.connection, START))
    const [started, outcome] = pipelined(this.connection, () => [start(), send()] as const)
    await Promise.allSettled([started, outcome])
    await started
    return await outcome
  }

  async commit(last?: LastChange): Promise<void> {
    this.#isOver = true
    try {
      if (last !== undefined && this.isGuarding) await this.#commitWith(last)
      else {
        if (last !== undefined) assertOneRow((await this.change(last.text, last.values)).rows)
        // Sent as text: a prepared COMMIT may hide from its caller that Galera rolled the transaction back (MDEV-35446).
        await answeredInTime(this.connection, runCommand(this.connection, 'COMMIT'))
      }
    } catch (error) {
      await this.rollback()
      throw error
    }
    this.#pool.release(this.connection)
  }

  async #commitWith({ text, values }: LastChange): Promise<void> {
    const [changed, ended] = pipelined(
      this.connection,
      () =>
        [
          executeChange(this.connection, text, valuesOf(text, values)),
          runCommand(this.connection, COMMIT_IF_CHANGED)
        ] as const
    )
    await answeredInTime(this.connection, Promise.allSettled([changed, ended]))
    const { affectedRows, serverStatus } = await changed
    if ((serverStatus & IN_TRANSACTION) === 0) throw new LostTransaction()
    assertOneRow(affectedRows)
    await ended
  }

  async rollback(): Promise<void> {
    this.#isOver = true
    if (!this.#isStarted) return this.#pool.release(this.connection)
    if (this.stopped !== undefined) return this.#pool.release(this.connection, this.stopped)
    try {
      await answeredInTime(this.connection, runCommand(this.connection, 'ROLLBACK'))
      this.#pool.release(this.connection)
    } catch {
      this.#pool.discard(this.connection)
    }
  }
}

/** Throws unless the transaction is still open. */
function changedBy({ affectedRows, insertId, serverStatus }: ResultSetHeader): Changed {
  if ((serverStatus & IN_TRANSACTION) === 0) throw new LostTransaction()
  return { rows: affectedRows, insertedId: unsignedId(insertId) }
}

const textsWithin = new WeakMap<StatementText, { readonly seconds: number; readonly sql: string }>()

/** The text with a limit for the wait for a lock, as MariaDB takes it. Kept, since the driver finds prepared statements by text. */
function textWithin(text: StatementText, seconds: number): string {
  const kept = textsWithin.get(text)
  if (kept?.seconds === seconds) return kept.sql
  const sql = `SET STATEMENT innodb_lock_wait_timeout = ${seconds} FOR ${text.sql}`
  textsWithin.set(text, { seconds, sql })
  return sql
}

/** mysql2 reads the id that the server gave to a row as a signed number, and the servers mean an unsigned one. */
function unsignedId(insertId: string | number): string | number | bigint {
  return Number(insertId) < 0 ? BigInt.asUintN(64, BigInt(insertId)) : insertId
}
