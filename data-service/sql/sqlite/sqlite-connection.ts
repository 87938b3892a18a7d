import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite'
import { LruCache } from '../lru-cache.js'
import { matchKey, sortKey } from './sort-key.js'
import { sqliteError } from './sqlite-error.js'
import { untilFree } from './until-free.js'

/** What a parameter may be. Numbers that are safe integers are bound as integers, never as doubles. */
export type SqliteParameter = string | number | bigint | boolean | Buffer | Date | null | undefined
/** A value of a row: integers are bigint in exact statements. */
export type SqliteValue = string | number | bigint | Uint8Array | null

export type SqliteParameters = readonly SqliteParameter[] | Readonly<Record<string, SqliteParameter>>

export interface SqliteChanges {
  readonly changes: number
  readonly lastInsertRowid: number | bigint
}

interface Mode {
  /** Integers as bigint, where they may pass 2^53. */
  readonly exact: boolean
  /** Rows as arrays in place of objects. */
  readonly arrays: boolean
}

const STATEMENTS_KEPT = 256

/**
 * One connection to the embedded database, in WAL mode, with foreign keys on and the functions `sort_key(text)` and
 * `match_key(text)` that every comparison of text goes through. Its methods run to the end before they return, and
 * throw SqliteError, SQLITE_BUSY at once when another connection holds the lock: callers wait with `untilFree`.
 */
export class SqliteConnection {
  readonly #database: InstanceType<typeof DatabaseSync>
  readonly #statements = new LruCache<string, StatementSyncInstance>(STATEMENTS_KEPT)

  private constructor(file: string) {
    this.#database = attempt(() => new DatabaseSync(file, { timeout: 0, enableForeignKeyConstraints: true }))
    this.#database.function('sort_key', { deterministic: true }, ofText(sortKey))
    this.#database.function('match_key', { deterministic: true }, ofText(matchKey))
  }

  static async open(file: string): Promise<SqliteConnection> {
    const connection = new SqliteConnection(file)
    try {
      await untilFree(() => connection.execute('PRAGMA journal_mode = WAL'))
      connection.execute('PRAGMA synchronous = NORMAL')
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }

  /** Whether a transaction is open. */
  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  /** Runs statements that take no parameters and whose rows nobody wants. */
  execute(sql: string): void {
    attempt(() => this.#database.exec(sql))
  }

  /** Rows as arrays, in the order of the statement's columns. */
  rows(sql: string, parameters: readonly SqliteParameter[], exact: boolean): SqliteValue[][] {
    const statement = this.#prepared(sql, { exact, arrays: true })
    return attempt(() => statement.all(...parameters.map(bindable)))
  }

  /** Rows as objects by column name, integers as bigint. */
  objects(sql: string, parameters: SqliteParameters): Record<string, SqliteValue>[] {
    const statement = this.#prepared(sql, { exact: true, arrays: false })
    return attempt(() => statement.all(...bound(parameters)))
  }

  run(sql: string, parameters: SqliteParameters): SqliteChanges {
    const statement = this.#prepared(sql, { exact: true, arrays: false })
    return attempt(() => statement.run(...bound(parameters)))
  }

  /** Rolls back what is open. Closing twice is harmless. */
  close(): void {
    this.#statements.clear()
    if (this.#database.isOpen) attempt(() => this.#database.close())
  }

  #prepared(sql: string, mode: Mode): StatementSyncInstance {
    const key = `${mode.exact ? 'e' : '-'}${mode.arrays ? 'a' : '-'}${sql}`
    return this.#statements.get(key, () =>
      attempt(() => {
        const statement = this.#database.prepare(sql)
        statement.setReadBigInts(mode.exact)
        statement.setReturnArrays(mode.arrays)
        return statement
      })
    )
  }
}

function attempt<Result>(step: () => Result): Result {
  try {
    return step()
  } catch (error) {
    throw sqliteError(error)
  }
}

function ofText(key: (text: string) => string): (value: unknown) => unknown {
  return (value) => (typeof value === 'string' ? key(value) : value)
}

function bound(parameters: SqliteParameters): unknown[] {
  if (Array.isArray(parameters)) return parameters.map(bindable)
  const named = Object.entries(parameters).map(([name, value]) => [name, bindable(value)])
  return named.length === 0 ? [] : [Object.fromEntries(named)]
}

function bindable(value: SqliteParameter): string | number | bigint | Uint8Array | null {
  switch (typeof value) {
    case 'undefined':
      return null
    case 'boolean':
      return value ? 1n : 0n
    case 'number':
      return Number.isSafeInteger(value) ? BigInt(value) : value
    case 'string':
      return withoutNul(value)
    case 'bigint':
      return value
    default:
      return value instanceof Date ? value.toISOString() : value
  }
}

/** The driver cuts text at U+0000 without a word. */
function withoutNul(text: string): string {
  if (text.includes('\0')) throw new RangeError('The embedded database keeps no text with the character U+0000')
  return text
}
