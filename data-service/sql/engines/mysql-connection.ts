import { setTimeout as wait } from 'node:timers/promises'
import { type Connection, type ConnectionOptions, createConnection, type ResultSetHeader } from 'mysql2'
import { ConnectionError, type Sequelize } from 'sequelize'
import { raceAbort } from './engine.js'
import type { BoundValue, Statement, StatementText } from './statement.js'

/** Where a MySQL or MariaDB server is. Which of the two it is, the server is asked. */
export interface MysqlSettings {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** TLS with the server's certificate verified. */
  readonly ssl?: boolean
}

const CONNECT_TIMEOUT_MS = 5000

/** Statements kept prepared on each connection; times connections it stays far below max_prepared_stmt_count. */
const STATEMENTS_KEPT = 256

/**
 * How every connection reads values: longs and decimals as their digits, dates as UTC text, so that nothing passes
 * through a double or a local time.
 */
export function driverOptions(settings: MysqlSettings): ConnectionOptions {
  return {
    charset: 'utf8mb4',
    timezone: '+00:00',
    supportBigNumbers: true,
    bigNumberStrings: true,
    decimalNumbers: false,
    dateStrings: true,
    typeCast: true,
    maxPreparedStatements: STATEMENTS_KEPT,
    connectTimeout: CONNECT_TIMEOUT_MS,
    ...(settings.ssl === true ? { ssl: { rejectUnauthorized: true } } : {})
  }
}

/** Options of a connection outside Sequelize's pool: exports, and stopping a statement. */
export function connectionOptions(settings: MysqlSettings): ConnectionOptions {
  const { host, port, user, password, database } = settings
  // As in Sequelize: affected rows are changed rows.
  return { ...driverOptions(settings), host, port, user, password, database, flags: ['-FOUND_ROWS'] }
}

/** What the two servers call the same order of text: letter case ignored, accents told apart, trailing spaces count. */
const COLLATIONS = { mariadb: 'utf8mb4_uca1400_nopad_as_ci', mysql: 'utf8mb4_0900_as_ci' } as const

export type MysqlServer = keyof typeof COLLATIONS

/** The server behind a connection, as it was when the connection was opened. */
export interface ConnectedServer {
  readonly server: MysqlServer
  /** The node's index in its Galera cluster, each of whose nodes may take writes; undefined for a server by itself. */
  readonly node: number | undefined
}

/**
 * Seconds that a statement waits for the lock of a row. Multiplied by the tries of a transaction it stays below the
 * deadline of a call, so that a caller who waits in vain gets an answer that says so, and no timeout.
 */
const LOCK_WAIT = 1

/** What does not fit its column is an error: the server cuts and rounds no value, and takes no date of zeros. */
const SQL_MODE = [
  'STRICT_ALL_TABLES',
  'NO_ZERO_DATE',
  'NO_ZERO_IN_DATE',
  'ERROR_FOR_DIVISION_BY_ZERO',
  'NO_ENGINE_SUBSTITUTION',
  'ONLY_FULL_GROUP_BY'
].join(',')

/** A server without Galera may have no variable of the other two names, or a provider called `none`. */
const WHICH_SERVER = "SHOW VARIABLES WHERE Variable_name IN ('version', 'wsrep_on', 'wsrep_provider')"

const WHICH_NODE = "SHOW GLOBAL STATUS LIKE 'wsrep_local_index'"

const servers = new WeakMap<Connection, ConnectedServer>()

export function serverOf(version: string): MysqlServer {
  return /mariadb/i.test(version) ? 'mariadb' : 'mysql'
}

export function collationOf(server: MysqlServer): string {
  return COLLATIONS[server]
}

/** The statements that a new connection starts with. */
function sessionStatements(server: MysqlServer): readonly string[] {
  const collation = collationOf(server)
  const all = [
    `SET NAMES utf8mb4 COLLATE ${collation}`,
    `SET SESSION sql_mode = '${SQL_MODE}', time_zone = '+00:00', innodb_lock_wait_timeout = ${LOCK_WAIT}`,
    // A write that waited for a lock goes on with what the other one made of the row, and no gaps are locked.
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED'
  ]
  // From 1000 members on MariaDB makes a table of an `in` list, which loses the type of bound values.
  return server === 'mariadb' ? [...all, 'SET SESSION in_predicate_conversion_threshold = 0'] : all
}

/** Gives a new connection the service's collation, strictness and time zone, and notes which server it leads to. */
export async function prepareSession(connection: Connection): Promise<void> {
  const variables = await namedValues(connection, WHICH_SERVER)
  const server = serverOf(variables.get('version') ?? '')
  for (const statement of sessionStatements(server)) await connection.promise().query(statement)
  const isNode = variables.get('wsrep_on') === 'ON' && !['', 'none'].includes(variables.get('wsrep_provider') ?? '')
  const index = isNode ? Number((await namedValues(connection, WHICH_NODE)).get('wsrep_local_index')) : undefined
  servers.set(connection, { server, node: index !== undefined && Number.isNaN(index) ? 0 : index })
}

/** What prepareSession noted of a connection. */
export function serverBehind(connection: Connection): ConnectedServer {
  const server = servers.get(connection)
  if (server === undefined) throw new TypeError('The session of a connection was not prepared')
  return server
}

/** The rows of a `SHOW VARIABLES` or `SHOW STATUS`, by name. */
export async function namedValues(connection: Connection, statement: string): Promise<ReadonlyMap<string, string>> {
  const [rows] = await connection.promise().query({ sql: statement, rowsAsArray: true })
  const pairs = Array.isArray(rows) ? (rows as unknown[]) : []
  return new Map(
    pairs.flatMap((pair): [string, string][] => (Array.isArray(pair) ? [[String(pair[0]), String(pair[1])]] : []))
  )
}

/** The server's memory holds every prepared statement of every connection: longer ones are closed after use. */
const LONGEST_KEPT = 32_768

/** Opens a connection outside the pool, with the same session as those inside. Throws Sequelize's ConnectionError. */
export async function openConnection(settings: MysqlSettings): Promise<Connection> {
  const connection = await openBareConnection(settings)
  try {
    await prepareSession(connection)
    return connection
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/** The same without the session. */
export async function openBareConnection(settings: MysqlSettings): Promise<Connection> {
  const connection = createConnection(connectionOptions(settings))
  // A connection lost while idle shows in its next statement; without a listener it would end the process.
  connection.on('error', () => undefined)
  try {
    await new Promise<void>((resolve, reject) => {
      connection.connect((error) => (error === null ? resolve() : reject(error)))
    })
    return connection
  } catch (error) {
    connection.destroy()
    throw error instanceof Error ? new ConnectionError(error) : error
  }
}

/** Runs a prepared SELECT: its text is prepared once a connection, values travel beside it. Rows come as arrays. */
export function execute(
  connection: Connection,
  { sql }: Statement,
  values: BoundValue[]
): Promise<readonly (readonly unknown[])[]> {
  const text = { sql, rowsAsArray: true }
  return new Promise((resolve, reject) => {
    connection.execute({ ...text, values }, (error, rows) => {
      if (error !== null) return reject(error)
      if (sql.length > LONGEST_KEPT) unprepare(connection, text)
      if (!Array.isArray(rows)) return reject(new TypeError('A SELECT answered no rows'))
      // rowsAsArray makes each row an array.
      resolve(rows as unknown[][])
    })
  })
}

/** Runs a prepared statement that changes rows. */
export function executeChange(
  connection: Connection,
  { sql }: StatementText,
  values: BoundValue[]
): Promise<ResultSetHeader> {
  return new Promise((resolve, reject) => {
    connection.execute<ResultSetHeader>({ sql, values }, (error, header) => {
      if (error === null) resolve(header)
      else reject(error)
    })
  })
}

/** The driver finds a statement by its text and options, though its types know of the text alone. */
function unprepare(connection: Connection, text: { readonly sql: string; readonly rowsAsArray: boolean }): void {
  const driver = connection as unknown as { unprepare(statement: typeof text): unknown }
  driver.unprepare(text)
}

/** Longest wait for a statement that was stopped to end, in ms. */
const STOP_TIMEOUT_MS = 5000

/**
 * Stops the statement that runs on a connection, from a connection beside it, by closing the connection at the server.
 * KILL QUERY would pass without effect between the preparation of a statement and its execution, and if late it would
 * hit whatever statement came next. Never rejects.
 */
export async function stopStatement(
  connection: Connection,
  settings: MysqlSettings,
  running: Promise<unknown>
): Promise<void> {
  const ended = running.then(
    () => undefined,
    () => undefined
  )
  try {
    const side = await openBareConnection(settings)
    try {
      await side.promise().query(`KILL CONNECTION ${connection.threadId}`)
    } finally {
      side.destroy()
    }
    await Promise.race([ended, wait(STOP_TIMEOUT_MS, undefined, { ref: false })])
  } catch {
    // Without a second connection all that can be done is to close this one.
  } finally {
    connection.destroy()
  }
}

/** The connections of Sequelize's pool, taken and given back one piece of work at a time. */
export class MysqlPool {
  readonly #manager: Sequelize['connectionManager']
  /** Work that goes on after its caller has gone: stopping statements, taking connections back. */
  readonly #endings = new Set<Promise<void>>()

  constructor(sequelize: Sequelize) {
    this.#manager = sequelize.connectionManager
  }

  /** A free connection. Rejects with the signal's reason once that is aborted. */
  async acquire(signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted()
    // Sequelize's connections are those of the module that it was given (mysql.ts).
    const waiting = this.#manager.getConnection({ type: 'write' }) as Promise<Connection>
    try {
      return await raceAbort(waiting, signal)
    } catch (error) {
      // The request stays queued in the pool: the connection that it gets goes straight back.
      if (signal.aborted) this.#later(waiting.then((connection) => this.#manager.releaseConnection(connection)))
      throw error
    }
  }

  /** Gives a connection back; one whose statement is being stopped goes once that is done. */
  giveBack(connection: Connection, stopped?: Promise<void>): void {
    if (stopped === undefined) this.#manager.releaseConnection(connection)
    else this.#later(stopped.then(() => this.#manager.destroyConnection(connection)))
  }

  /** Closes a connection whose state nobody knows. The server rolls back what it had not committed. */
  discard(connection: Connection): void {
    connection.destroy()
    this.#later(this.#manager.destroyConnection(connection))
  }

  /** Waits for what still goes on; the pool itself is Sequelize's to close. */
  async settle(): Promise<void> {
    await Promise.all(this.#endings)
  }

  #later(work: Promise<void>): void {
    const ending = work
      .catch(() => undefined)
      .then(() => {
        this.#endings.delete(ending)
      })
    this.#endings.add(ending)
  }
}
