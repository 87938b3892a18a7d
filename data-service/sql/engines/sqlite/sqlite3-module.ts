import {
  SqliteConnection,
  type SqliteParameter,
  type SqliteParameters,
  type SqliteValue,
  retryWhileBusy,
  WriteQueue
} from './sqlite-connection.js'

/** The `this` of a callback. Sequelize reads both members, and recognises this class by its name. */
class Statement {
  readonly lastID: number
  readonly changes: number

  constructor(lastID: number, changes: number) {
    this.lastID = lastID
    this.changes = changes
  }
}

type Callback = (this: Statement, error: unknown, rows?: readonly Record<string, unknown>[]) => void

interface StatementOutcome {
  readonly statement: Statement
  readonly error: unknown
  readonly rows: readonly Record<string, unknown>[]
}

interface Opening {
  readonly file: string
  readonly writes: WriteQueue
  readonly opened: (error: unknown) => void
}

/**
 * A `Database` like that of the `sqlite3` package. Statements run in the given order after the database was opened. A wait
 * for the lock of another process happens between statements, never inside one. A write transaction (BEGIN IMMEDIATE)
 * waits for its turn in the queue of this process, and the first one switches the file to WAL mode.
 */
class Sqlite3Database {
  readonly filename: string
  readonly #writes: WriteQueue
  readonly #connection: Promise<SqliteConnection>
  #tail: Promise<unknown>
  #leaveQueue: (() => void) | undefined
  #isWal = false

  constructor({ file, writes, opened }: Opening) {
    this.filename = file
    this.#writes = writes
    this.#connection = Promise.resolve().then(() => SqliteConnection.openAsItIs(file))
    this.#tail = this.#connection.then(
      () => opened(null),
      (error: unknown) => opened(error)
    )
  }

  serialize(step: () => void): void {
    step()
  }

  all(sql: string, ...rest: readonly unknown[]): this {
    return this.#enqueue(sql, rest)
  }

  run(sql: string, ...rest: readonly unknown[]): this {
    return this.#enqueue(sql, rest)
  }

  close(closed?: (error: unknown) => void): void {
    this.#tail = this.#tail.then(async () => {
      try {
        const connection = await this.#connection
        connection.close()
        closed?.(null)
      } catch (error) {
        closed?.(error)
      } finally {
        this.#leaveQueue?.()
      }
    })
  }

  #enqueue(sql: string, rest: readonly unknown[]): this {
    const callback = rest.findLast(isCallback)
    const parameters = rest.find(isParameters) ?? []
    this.#tail = this.#tail.then(async () => {
      const { statement, error, rows } = await this.#outcome(sql, parameters)
      callback?.call(statement, error, rows)
    })
    return this
  }

  async #outcome(sql: string, parameters: SqliteParameters): Promise<StatementOutcome> {
    try {
      const { rows, changes } = await this.#inTurn(sql, (connection) => connection.run(sql, parameters))
      const statement = new Statement(Number(changes.lastInsertRowid), Number(changes.changes))
      return { statement, error: null, rows: rows.map(plainRow) }
    } catch (error) {
      return { statement: new Statement(0, 0), error, rows: [] }
    }
  }

  async #inTurn<Result>(sql: string, work: (connection: SqliteConnection) => Result): Promise<Result> {
    const connection = await this.#connection
    const begins = /^\s*BEGIN\s+(IMMEDIATE|EXCLUSIVE)/i.test(sql)
    if (begins) this.#leaveQueue = await this.#writes.enter()
    try {
      if (begins && !this.#isWal) {
        await connection.useWal()
        this.#isWal = true
      }
      return await retryWhileBusy(() => work(connection))
    } finally {
      if (!connection.inTransaction) this.#leaveQueue?.()
    }
  }
}

function isCallback(argument: unknown): argument is Callback {
  return typeof argument === 'function'
}

function isParameters(argument: unknown): argument is Record<string, SqliteParameter> {
  return typeof argument === 'object' && argument !== null
}

function plainRow(row: Readonly<Record<string, SqliteValue>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plainValue(value)]))
}

/** Integers as a number if it represents them exactly, else as their digits. */
function plainValue(value: SqliteValue): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString()
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value
}

/**
 * The part of the `sqlite3` package that Sequelize 6 uses, built on the embedded driver, for its `dialectModule`. Make one
 * module for each file: all connections opened through it share one queue of write transactions.
 */
export function sqlite3Module(): object {
  const writes = new WriteQueue()
  return {
    OPEN_READONLY: 1,
    OPEN_READWRITE: 2,
    OPEN_CREATE: 4,
    Database: class extends Sqlite3Database {
      constructor(file: string, _mode: number, opened: Opening['opened']) {
        super({ file, writes, opened })
      }
    }
  }
}
