import type { Value } from '../../entity/field.js'
import type { BoundValues, Statement, StatementText } from './statement.js'

/** One connection for as long as one piece of work takes. */
export interface ReadSession {
  /** Rows decoded, in the order of the statement's columns. */
  run(statement: Statement, values: BoundValues): Promise<Value[][]>
}

/** A connection of its own on which every statement sees the same state of the database. */
export interface Snapshot extends ReadSession {
  /** Rows to ask for with one statement. */
  readonly batch: number
  /** Ends it, whatever state it is in. Calling it twice is harmless. */
  close(): Promise<void>
}

/**
 * Runs compiled statements on one database. An aborted signal stops the running statement in the database and rejects
 * with the signal's reason; a database that cannot be reached is DomainError `upstream.unavailable`.
 */
export interface Reader {
  read<Result>(signal: AbortSignal, work: (session: ReadSession) => Promise<Result>): Promise<Result>
  snapshot(signal: AbortSignal): Promise<Snapshot>
  /** Waits for what still runs. */
  close(): Promise<void>
}

/** What a statement did. */
export interface Changed {
  readonly rows: number
  /** The number that the database gave a single inserted row, as the driver has it. */
  readonly insertedId: string | number | bigint
}

/** What a transaction's statements are sent to. */
export interface WriteSession extends ReadSession {
  change(text: StatementText, values: BoundValues): Promise<Changed>
}

/** A transaction that has begun, on a connection that is its own until it ends. */
export interface OpenTransaction extends WriteSession {
  /** Index of the Galera node that the transaction runs on; undefined where no other node can take writes. */
  readonly node: number | undefined
  /** As `change`, but waits no longer than some whole seconds for a lock; the error tells as `troubleOf` says. */
  changeWithin(seconds: number, text: StatementText, values: BoundValues): Promise<Changed>
  /** Not to be stopped. A rejection leaves no transaction open, and tells by `troubleOf` what became of it. */
  commit(): Promise<void>
  /** Undoes everything and lets the connection go, whatever state that is in. Never rejects. */
  rollback(): Promise<void>
}

export interface Beginning {
  /** Stops whatever statement of the transaction runs when it is aborted, and its beginning. */
  readonly signal: AbortSignal
  /** Longest wait for the one writer's place in the embedded database, in ms; then the error tells of a lock-wait. */
  readonly patience: number
}

/** A COMMIT of which nobody can tell whether it will last. */
export class UnsureCommit extends Error {
  override readonly name = 'UnsureCommit'
}

/** The transactions of one database. */
export interface Transactions {
  begin(beginning: Beginning): Promise<OpenTransaction>
  /** Waits for what still runs. */
  close(): Promise<void>
}

/** The work's outcome, or a rejection with the signal's reason as soon as that is aborted; the work itself goes on. */
export function beforeAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    const settled = (): void => signal.removeEventListener('abort', abort)
    work.then(
      (result) => {
        settled()
        resolve(result)
      },
      (error: unknown) => {
        settled()
        reject(error)
      }
    )
  })
}

interface Entry<Value> {
  readonly value: Value
  readonly weight: number
}

/** A map whose entries weigh no more than the limit in all, and that forgets what was not asked for longest. */
export class LruCache<Key, Value> {
  readonly #entries = new Map<Key, Entry<Value>>()
  readonly #limit: number
  readonly #weigh: (key: Key, value: Value) => number
  #weight = 0

  /** Unless `weigh` says otherwise, the limit is a number of entries. */
  constructor(limit: number, weigh: (key: Key, value: Value) => number = () => 1) {
    this.#limit = limit
    this.#weigh = weigh
  }

  /** The value kept under the key, else a new one, which is kept unless it weighs more than all may. */
  get(key: Key, make: () => Value): Value {
    const kept = this.#entries.get(key)
    if (kept !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, kept)
      return kept.value
    }
    const value = make()
    const weight = this.#weigh(key, value)
    if (weight <= this.#limit) this.#keep(key, { value, weight })
    return value
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  #keep(key: Key, entry: Entry<Value>): void {
    this.#entries.set(key, entry)
    this.#weight += entry.weight
    for (const [oldest, { weight }] of this.#entries) {
      if (this.#weight <= this.#limit) return
      this.#entries.delete(oldest)
      this.#weight -= weight
    }
  }
}

/** Where a database is: what `connect` opens. */
export type DatabaseSettings = SqliteSettings | MysqlSettings

export interface SqliteSettings {
  readonly kind: 'sqlite'
  readonly file: string
}

/** MySQL or MariaDB: which of the two is asked of the server. */
export interface MysqlSettings {
  readonly kind: 'mysql'
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** TLS with the server's certificate verified. */
  readonly ssl?: boolean
}

const FORMS = 'sqlite:<file>, mysql://<user>:<password>@<host>:<port>/<database> or mariadb:// with the same parts'

/**
 * Parses `sqlite:<file>`, `mysql://…` and `mariadb://…`, the latter two with an optional `?ssl=true`. Throws an Error
 * whose message says what would be right and repeats no part of the URL, which may hold a password.
 */
export function parseDatabaseUrl(url: string): DatabaseSettings {
  if (url.startsWith('sqlite:')) return sqliteSettings(url.slice('sqlite:'.length))
  if (/^(mysql|mariadb):\/\//.test(url)) return mysqlSettings(url)
  throw new Error(`must be ${FORMS}`)
}

function sqliteSettings(file: string): SqliteSettings {
  if (file === '') throw new Error('names no file: sqlite:<file>')
  if (file === ':memory:') throw new Error('must name a file, since an in-memory database is private to one connection')
  return { kind: 'sqlite', file }
}

function mysqlSettings(url: string): MysqlSettings {
  const { hostname, port, username, password, pathname, searchParams } = parts(url)
  const database = decoded(pathname.replace(/^\//, ''))
  if (hostname === '') throw new Error(`names no host: ${FORMS}`)
  if (database === '' || database.includes('/')) throw new Error(`must name one database after the host: ${FORMS}`)
  return {
    kind: 'mysql',
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 3306 : Number(port),
    user: decoded(username),
    password: decoded(password),
    database,
    ...ssl(searchParams)
  }
}

function parts(url: string): URL {
  try {
    return new URL(url)
  } catch {
    throw new Error(`is no valid URL: ${FORMS}; percent-encode special characters of the password`)
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Error('has a % that begins no percent-encoded character; write it as %25')
  }
}

function ssl(parameters: URLSearchParams): { readonly ssl?: boolean } {
  for (const name of parameters.keys()) {
    if (name !== 'ssl') throw new Error(`has the unknown parameter ${name}; ssl=true or ssl=false is the only one`)
  }
  const value = parameters.get('ssl')
  if (value === null) return {}
  if (value !== 'true' && value !== 'false') throw new Error('has an ssl that is neither true nor false')
  return { ssl: value === 'true' }
}
