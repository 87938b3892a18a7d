import { connect as connectTo, isIP, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import mysql2, { type Connection, type ConnectionOptions, type ResultSetHeader, type RowDataPacket } from 'mysql2'
import { ConnectionError } from 'sequelize'
import { forNoCall, observed, rowsRead } from '../../../../observe/call-scope.js'
import {
  type BoundValue,
  type CsvRow,
  DecodedRow,
  type FoundRow,
  type ShownStatement,
  type Statement,
  type StatementText
} from '../../statement.js'
import { type AnswerBytes, BoundedRows, type RowsBound } from '../../answer-bytes.js'
import { MysqlRow } from './mysql-rows.js'
import { type DriverWay, installedDriver } from './mysql-ways.js'

/** The place of a MySQL or MariaDB server. A query at the server finds out which of the two it is. */
export interface MysqlSettings {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** TLS with the server's certificate verified, and the name or address in it. */
  readonly ssl?: boolean
  /** Certificates of the authorities that vouch for it, as PEM; those that Node knows without it. */
  readonly ca?: string
  /** How statements are handed to the driver. Tests alone set it; else the installed driver decides. */
  readonly way?: DriverWay
}

const CONNECT_TIMEOUT_MS = 5000

/** Prepared statements of each connection. Multiplied by the connections it is far below max_prepared_stmt_count. */
const MAX_PREPARED_STATEMENTS = 256

/**
 * The driver options of every connection: it reads longs and decimals as their digits, dates as UTC text and JSON as text,
 * so that no value becomes a double or a local time.
 */
export function driverOptions(settings: MysqlSettings): ConnectionOptions {
  return {
    charset: 'utf8mb4',
    timezone: '+00:00',
    supportBigNumbers: true,
    bigNumberStrings: true,
    decimalNumbers: false,
    dateStrings: true,
    // The driver would parse what MariaDB calls JSON, and lose digits.
    jsonStrings: true,
    typeCast: true,
    maxPreparedStatements: MAX_PREPARED_STATEMENTS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    ...(settings.ssl === true ? tlsOptions(settings) : {})
  }
}

/** The certificate has to be of a known authority, and for the host. */
function tlsOptions({ host, port, ca }: MysqlSettings): ConnectionOptions {
  const ssl = { rejectUnauthorized: true, verifyIdentity: true, ...(ca === undefined ? {} : { ca }) }
  return isIP(host) === 0 ? { ssl } : { ssl, stream: () => socketTo(host, port) }
}

/**
 * Connects to an IP address. The driver gives Node no name for one, and Node then compares the certificate with the socket's
 * `_host`, which it sets itself for names only; without it, with `localhost`. The rest is as the driver does it.
 */
function socketTo(host: string, port: number): Socket {
  return Object.assign(connectTo({ host, port, keepAlive: true, noDelay: true }), { _host: host })
}

/** Options of connections outside of Sequelize's pool, for exports and to stop statements. */
function connectionOptions(settings: MysqlSettings): ConnectionOptions {
  const { host, port, user, password, database } = settings
  // As in Sequelize: affected rows are changed rows.
  return { ...driverOptions(settings), host, port, user, password, database, flags: ['-FOUND_ROWS'] }
}

/** The two servers' names of the same order of text: it ignores letter case, and accents and trailing spaces count. */
const COLLATIONS = { mariadb: 'utf8mb4_uca1400_nopad_as_ci', mysql: 'utf8mb4_0900_as_ci' } as const

export type MysqlServer = keyof typeof COLLATIONS

/** The server behind a connection, as it was when the connection was opened. */
interface ConnectedServer {
  readonly server: MysqlServer
  /** The node's index in a Galera cluster, each of whose nodes may take writes. undefined for a single server. */
  readonly node: number | undefined
  readonly way: DriverWay
}

/**
 * Seconds that a statement waits for a row lock. Multiplied by the tries of a transaction it is below the deadline of a
 * call, so that a caller whose wait fails gets the reason and not a timeout.
 */
const LOCK_WAIT_SECONDS = 1

/**
 * A value that does not fit its column is an error: the server truncates and rounds nothing, and rejects dates of zeros.
 * ONLY_FULL_GROUP_BY is left out, because it would apply to the views of others too: a view that shows more columns than it
 * groups by, such as the other columns of the row whose key it groups by on MariaDB, could not be read.
 */
export const SQL_MODE = [
  'STRICT_ALL_TABLES',
  'NO_ZERO_DATE',
  'NO_ZERO_IN_DATE',
  'ERROR_FOR_DIVISION_BY_ZERO',
  'NO_ENGINE_SUBSTITUTION'
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

/** Bytes: the keys of some 2000 characters. */
const MAX_SORT_LENGTH = 65_536

/**
 * A read and the beginning of a transaction on a node of Galera wait until the node has applied what any node had
 * acknowledged before. What the server asks for besides stays. docs/decisions/052.
 */
const WAIT_FOR_OTHER_NODES = 'SET SESSION wsrep_sync_wait = @@SESSION.wsrep_sync_wait | 1'

/** The first statements of a new connection; `isNode` for one to a node of Galera. */
function sessionStatements(server: MysqlServer, isNode: boolean): readonly string[] {
  const collation = collationOf(server)
  const all = [
    `SET NAMES utf8mb4 COLLATE ${collation}`,
    `SET SESSION sql_mode = '${SQL_MODE}', time_zone = '+00:00', innodb_lock_wait_timeout = ${LOCK_WAIT_SECONDS}`,
    // A sort without an index compares only so many bytes. Of the collation's keys the accents come last: with the
    // default of 1024 bytes "Café" and "Cafe" would be equal in such a sort and different in comparisons and indexes, and
    // pages would repeat rows and leave others out.
    `SET SESSION max_sort_length = ${MAX_SORT_LENGTH}`,
    // After waiting for a lock a write sees the row that the other transaction committed, and no gaps are locked.
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    ...(isNode ? [WAIT_FOR_OTHER_NODES] : [])
  ]
  // MariaDB converts an `in` list of 1000 or more members to a table, in which bound values lose their type.
  return server === 'mariadb' ? [...all, 'SET SESSION in_predicate_conversion_threshold = 0'] : all
}

/** Sets the service's collation, SQL mode and time zone on a new connection, and records its server. */
export async function prepareSession(connection: Connection, settings: MysqlSettings): Promise<void> {
  const variables = await shownValues(connection, WHICH_SERVER)
  const server = serverOf(variables.get('version') ?? '')
  const isNode = variables.get('wsrep_on') === 'ON' && !['', 'none'].includes(variables.get('wsrep_provider') ?? '')
  for (const statement of sessionStatements(server, isNode)) await forNoCall(() => runCommand(connection, statement))
  const index = isNode ? Number((await shownValues(connection, WHICH_NODE)).get('wsrep_local_index')) : undefined
  const { way = installedDriver().way } = settings
  servers.set(connection, { server, node: index !== undefined && Number.isNaN(index) ? 0 : index, way })
}

/** Makes the session of a connection as new: without variables, temporary tables and statements of what ran on it before. */
export async function renewSession(connection: Connection): Promise<void> {
  const { server, node } = serverBehind(connection)
  await new Promise<void>((resolve, reject) => {
    connection.reset((error) => (error === null ? resolve() : reject(error)))
  })
  for (const statement of sessionStatements(server, node !== undefined))
    await forNoCall(() => runCommand(connection, statement))
}

/** The server that prepareSession recorded for a connection. */
export function serverBehind(connection: Connection): ConnectedServer {
  const server = servers.get(connection)
  if (server === undefined) throw new TypeError('The session of a connection was not prepared')
  return server
}

/** The rows of a `SHOW VARIABLES` or `SHOW STATUS`, by name. */
export async function shownValues(connection: Connection, statement: string): Promise<ReadonlyMap<string, string>> {
  const pairs = await forNoCall(() =>
    observed(
      { sql: statement, system: systemOf(connection), rows: rowsRead },
      async (): Promise<readonly unknown[]> => {
        const [rows] = await connection.promise().query({ sql: statement, rowsAsArray: true })
        return Array.isArray(rows) ? rows : []
      }
    )
  )
  return new Map(
    pairs.flatMap((pair): [string, string][] => (Array.isArray(pair) ? [[String(pair[0]), String(pair[1])]] : []))
  )
}

/** Characters. The server keeps every prepared statement of every connection in memory, so longer ones are closed after use. */
const MAX_PREPARED_LENGTH = 32_768

/** Opens a connection outside of the pool with the same session settings. Throws Sequelize's ConnectionError. */
export async function openConnection(settings: MysqlSettings): Promise<Connection> {
  const connection = await openBareConnection(settings)
  try {
    await prepareSession(connection, settings)
    return connection
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/** The same without the session settings. */
export async function openBareConnection(settings: MysqlSettings): Promise<Connection> {
  const connection = mysql2.createConnection(connectionOptions(settings))
  // The next statement reports the loss of an idle connection. Without a listener the loss would end the process.
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

type Parameter = BoundValue | ReturnType<typeof mysql2.TypedParameter.NEWDECIMAL>

/**
 * The values as the driver takes them. It sends a bigint as text, which the server would compare with a column as a double:
 * one that a double cannot hold is sent as a decimal.
 */
export function parametersOf(values: readonly BoundValue[]): Parameter[] {
  return values.map((value) =>
    typeof value === 'bigint' && !Number.isSafeInteger(Number(value))
      ? mysql2.TypedParameter.NEWDECIMAL(String(value))
      : value
  )
}

/** Sends what `issue` tells the connection to do, in one go where the way of the connection can. */
export function pipelined<Issued>(connection: Connection, issue: () => Issued): Issued {
  return serverBehind(connection).way.pipelined(connection, issue)
}

/** Runs a prepared SELECT, whose text is prepared once per connection and whose values are sent apart. Rows are arrays. */
export function execute(
  connection: Connection,
  statement: Statement,
  values: BoundValue[]
): Promise<readonly (readonly unknown[])[]> {
  // rowsAsArray makes each row an array.
  return executeCommand(connection, statement, { values }) as Promise<unknown[][]>
}

/** The same, with rows as the way of the connection keeps them. Rejects with AnswerTooLarge once the server has sent them all. */
export async function executeRows(
  connection: Connection,
  { statement, values }: { readonly statement: ShownStatement; readonly values: BoundValue[] },
  bytes?: AnswerBytes
): Promise<FoundRow[]> {
  const rows = await executeCommand(connection, statement, { values, shown: statement, bytes })
  // The way of the connection has counted the rows that it keeps.
  bytes?.check(rows.filter((row) => Array.isArray(row)))
  return rows.map((row) => asFound(row, statement))
}

/** A row that the way did not keep is an array, by rowsAsArray. */
function asFound(row: unknown, statement: ShownStatement): CsvRow {
  return row instanceof MysqlRow ? row : new DecodedRow(statement, row as unknown[])
}

function executeCommand(
  connection: Connection,
  { sql }: Statement,
  { values, shown, bytes }: Readonly<{ values: BoundValue[]; shown?: ShownStatement; bytes?: AnswerBytes | undefined }>
): Promise<readonly unknown[]> {
  const { way } = serverBehind(connection)
  const run = (): Promise<readonly unknown[]> =>
    new Promise((resolve, reject) => {
      const prepared = { sql, rowsAsArray: true, values: parametersOf(values) } as const
      const command = way.runPrepared<RowDataPacket[]>(connection, prepared, (error, rows) => {
        if (error !== null) return reject(error)
        if (sql.length > MAX_PREPARED_LENGTH) way.unprepare(connection, { sql, rowsAsArray: true })
        if (!Array.isArray(rows)) return reject(new TypeError('A SELECT answered no rows'))
        resolve(rows)
      })
      if (shown !== undefined) way.keepRows(command, shown, bytes)
    })
  return observed({ sql, system: systemOf(connection), values, rows: rowsRead }, run)
}

/** As traces and the log name it. */
export function systemOf(connection: Connection): string {
  return servers.get(connection)?.server ?? 'mysql'
}

function rowsChanged({ affectedRows }: ResultSetHeader): number {
  return affectedRows
}

/**
 * The same, with each row handed over as it arrives and kept nowhere. Rejects with what `take` throws, and with AnswerTooLarge,
 * once the server has sent the rest: the connection stays in order.
 */
export function executeEach(
  connection: Connection,
  { statement, values, bytes }: { readonly statement: ShownStatement; readonly values: BoundValue[]; bytes: RowsBound },
  take: (row: CsvRow) => void
): Promise<void> {
  const { sql } = statement
  const bounded = new BoundedRows(bytes)
  const { way } = serverBehind(connection)
  const text = { sql, rowsAsArray: true }
  let rows = 0
  const run = (): Promise<void> =>
    new Promise((resolve, reject) => {
      let failure: { readonly error: unknown } | undefined
      const settled = (): void => {
        connection.off('error', lost)
        if (sql.length > MAX_PREPARED_LENGTH) way.unprepare(connection, text)
        if (failure === undefined) resolve()
        else reject(failure.error)
      }
      // The driver tells a command without a callback nothing of a lost connection, and emits no end for it.
      const lost = (error: Error): void => {
        failure ??= { error }
        settled()
      }
      connection.on('error', lost)
      const command = connection.execute({ ...text, values: parametersOf(values) })
      way.keepRows(command, statement)
      command
        .on('result', (row: unknown) => {
          if (failure !== undefined) return
          rows += 1
          try {
            const found = asFound(row, statement)
            if (bounded.holds(found.bytes)) take(found)
            else failure = { error: bounded.tooLarge() }
          } catch (error) {
            failure = { error }
          }
        })
        .on('error', (error: Error) => {
          failure ??= { error }
        })
        .on('end', settled)
    })
  return observed({ sql, system: systemOf(connection), values, rows: () => rows }, run)
}

/** Runs a prepared statement that changes rows. */
export function executeChange(
  connection: Connection,
  { sql }: Pick<StatementText, 'sql'>,
  values: BoundValue[]
): Promise<ResultSetHeader> {
  const { way } = serverBehind(connection)
  const run = (): Promise<ResultSetHeader> =>
    new Promise((resolve, reject) => {
      way.runPrepared<ResultSetHeader>(connection, { sql, values: parametersOf(values) }, (error, header) => {
        if (error === null) resolve(header)
        else reject(error)
      })
    })
  return observed({ sql, system: systemOf(connection), values, rows: rowsChanged }, run)
}

/** Runs a statement without values and without an answer that anybody reads, such as COMMIT, as text. */
export function runCommand(connection: Connection, sql: string): Promise<void> {
  const run = (): Promise<void> =>
    new Promise((resolve, reject) => {
      connection.query(sql, (error) => {
        if (error === null) resolve()
        else reject(error)
      })
    })
  return observed({ sql, system: systemOf(connection) }, run)
}

/** Longest wait for the answer to a COMMIT or ROLLBACK, in ms. */
const END_TIMEOUT_MS = 10_000

/** What a COMMIT or ROLLBACK comes to that has no answer: the connection counts as lost. */
class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  /** As the driver marks errors after which the connection is lost. */
  readonly fatal = true

  constructor() {
    super('The server did not answer to the end of a transaction')
  }
}

/**
 * The outcome of what ends a transaction, which its caller cannot abort. It rejects, and closes the connection, when the
 * server does not answer: a server that vanished without a word would otherwise hold its place in the pool until TCP gives up.
 */
export async function answeredInTime<Outcome>(connection: Connection, running: Promise<Outcome>): Promise<Outcome> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      connection.destroy()
      reject(new NoAnswer())
    }, END_TIMEOUT_MS)
  })
  try {
    return await Promise.race([running, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Longest wait for the end of a stopped statement, in ms. */
const STOP_TIMEOUT_MS = 5000

/**
 * Stops the statement that runs on a connection: from a second connection it makes the server close the first one. KILL
 * QUERY would have no effect between the preparation and the execution of a statement, and a late one would stop the
 * next statement. Never rejects.
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
      await runCommand(side, `KILL CONNECTION ${connection.threadId}`)
    } finally {
      side.destroy()
    }
    await Promise.race([ended, wait(STOP_TIMEOUT_MS, undefined, { ref: false })])
  } catch {
    // Without a second connection only this end of the connection can be closed.
  } finally {
    connection.destroy()
  }
}
