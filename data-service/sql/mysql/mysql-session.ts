import type { Connection } from 'mysql2'

/** What the two servers call the same order of text: letter case ignored, accents told apart, trailing spaces count. */
const COLLATIONS = { mariadb: 'utf8mb4_uca1400_nopad_as_ci', mysql: 'utf8mb4_0900_as_ci' } as const

export type MysqlServer = keyof typeof COLLATIONS

/** The server behind a connection, as it was when the connection was opened. */
export interface MysqlSession {
  readonly server: MysqlServer
  /** The node's index in its Galera cluster, each of whose nodes may take writes; undefined for a server by itself. */
  readonly node: number | undefined
}

/**
 * Seconds that a statement waits for the lock of a row. Times the tries of a transaction it stays below the deadline of
 * a call, so that whoever waits in vain hears of a conflict, and not that nobody knows.
 */
const LOCK_WAIT = 1

/** Faults are errors: no value is cut or rounded into its column unseen, no date is zero. */
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

const sessions = new WeakMap<Connection, MysqlSession>()

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
  sessions.set(connection, { server, node: index !== undefined && Number.isNaN(index) ? 0 : index })
}

/** What prepareSession noted of a connection. */
export function sessionOf(connection: Connection): MysqlSession {
  const session = sessions.get(connection)
  if (session === undefined) throw new TypeError('The session of a connection was not prepared')
  return session
}

/** The rows of a `SHOW VARIABLES` or `SHOW STATUS`, by name. */
export async function namedValues(connection: Connection, statement: string): Promise<ReadonlyMap<string, string>> {
  const [rows] = await connection.promise().query({ sql: statement, rowsAsArray: true })
  const pairs = Array.isArray(rows) ? (rows as unknown[]) : []
  return new Map(
    pairs.flatMap((pair): [string, string][] => (Array.isArray(pair) ? [[String(pair[0]), String(pair[1])]] : []))
  )
}
