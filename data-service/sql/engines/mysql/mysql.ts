import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import mysql2, { type Connection } from 'mysql2'
import { type QueryOptions, QueryTypes, Sequelize } from 'sequelize'
import { isLoopback } from '../../../../shared/ip-address.js'
import { forNoCall, observed } from '../../../observe/call-scope.js'
import type { PoolState } from '../../../observe/data-service-metrics.js'
import {
  type BulkLoading,
  type Database,
  type DatabaseLocation,
  type Engine,
  type Examined,
  type OpeningAdvice,
  type Probe,
  SEQUELIZE_OPTIONS
} from '../engine.js'
import { poolOf, probeSequelize } from '../sequelize-inner.js'
import {
  driverOptions,
  type MysqlSettings,
  shownValues,
  openConnection,
  prepareSession,
  serverBehind
} from './driver/mysql-connection.js'
import { installedDriver } from './driver/mysql-ways.js'
import { mysqlDialect } from './mysql-dialect.js'
import { examineServer } from './mysql-server.js'
import { MysqlPool } from './mysql-pool.js'
import { MysqlReader } from './mysql-sessions.js'
import { classifyMysqlError, errnoOf } from './driver/mysql-errors.js'
import { MysqlTransactions } from './mysql-transactions.js'

const ACCESS_DENIED: OpeningAdvice = {
  wrong: 'the server refuses this user or password',
  remedy: 'Correct them, or create the user and grant it the database; percent-encode special characters.'
}
const NO_MORE_CONNECTIONS: OpeningAdvice = {
  wrong: 'the server takes no more connections',
  remedy: 'Raise max_connections there, or lower DATABASE_POOL_SIZE.'
}
const OLD_SERVER: OpeningAdvice = {
  wrong: 'the server is older than MySQL 8.0 and MariaDB 10.10',
  remedy: 'Update it, or name another.'
}
const NO_SUCH_THING: OpeningAdvice = {
  wrong: 'the tables are not as the migrations made them',
  remedy: '`uniform-rest migrate status` says what has run; restore what is missing.'
}
const NO_RIGHT: OpeningAdvice = {
  wrong: 'the account has not the right to it',
  remedy: '`uniform-rest migrate --grants <account>` prints what it takes.'
}
const READ_ONLY_SERVER: OpeningAdvice = { wrong: 'the server is read-only', remedy: 'Name one that takes writes.' }
const NO_ROOM: OpeningAdvice = { wrong: 'the server has no room left', remedy: 'Make some, and try again.' }
const DAMAGED: OpeningAdvice = {
  wrong: 'the table is damaged',
  remedy: 'CHECK TABLE says what is wrong with it; REPAIR TABLE or a backup restores it.'
}
const LOCKED: OpeningAdvice = { wrong: 'others hold a lock on it', remedy: 'Try again when they have ended.' }
const CLOSED: OpeningAdvice = {
  wrong: 'the server closed the connection',
  remedy: 'Its log says why, such as a statement that is larger than its max_allowed_packet.'
}
const NO_SERVER: OpeningAdvice = {
  wrong: 'no server answers there',
  remedy: 'Start it, or correct host and port.'
}

/** MySQL, MariaDB and Galera clusters. */
export const mysqlEngine: Engine = {
  schemes: ['mysql://', 'mariadb://'],
  hasSchemas: true,
  urlForm: 'mysql://<user>:<password>@<host>:<port>/<database> or mariadb:// with the same parts',
  openingAdvice: {
    ER_ACCESS_DENIED_ERROR: ACCESS_DENIED,
    ER_ACCESS_DENIED_NO_PASSWORD_ERROR: ACCESS_DENIED,
    ER_DBACCESS_DENIED_ERROR: {
      wrong: 'this user may not use the database, or there is none of this name',
      remedy: 'Create it with CREATE DATABASE, and grant it to the user.'
    },
    ER_HOST_NOT_PRIVILEGED: {
      wrong: 'the server takes no connection from this host',
      remedy: 'Allow it on the server.'
    },
    ER_BAD_DB_ERROR: {
      wrong: 'the server has no database of this name',
      remedy: 'Create it with CREATE DATABASE: its tables are made at start, the database is not.'
    },
    ECONNREFUSED: NO_SERVER,
    ETIMEDOUT: NO_SERVER,
    EHOSTUNREACH: NO_SERVER,
    ENETUNREACH: NO_SERVER,
    ENOTFOUND: { wrong: 'there is no host of this name', remedy: 'Correct it.' },
    EAI_AGAIN: { wrong: 'the name of the host cannot be looked up just now', remedy: 'Try again, or correct it.' },
    ER_CON_COUNT_ERROR: NO_MORE_CONNECTIONS,
    ER_TOO_MANY_USER_CONNECTIONS: NO_MORE_CONNECTIONS,
    ER_USER_LIMIT_REACHED: NO_MORE_CONNECTIONS,
    ER_UNKNOWN_COLLATION: OLD_SERVER,
    ER_UNKNOWN_CHARACTER_SET: OLD_SERVER,
    ER_ACCOUNT_HAS_BEEN_LOCKED: { wrong: 'the account is locked', remedy: 'Unlock it on the server.' },
    ER_MUST_CHANGE_PASSWORD: { wrong: 'the password has expired', remedy: 'Set another on the server.' },
    ER_MUST_CHANGE_PASSWORD_LOGIN: { wrong: 'the password has expired', remedy: 'Set another on the server.' },
    AUTH_SWITCH_PLUGIN_ERROR: {
      wrong: 'the account logs in by a plugin that the driver does not know',
      remedy: 'Let it log in by a password.'
    },
    PROTOCOL_CONNECTION_LOST: CLOSED,
    ECONNRESET: CLOSED,
    HANDSHAKE_SSL_ERROR: {
      wrong: 'no known authority vouches for the certificate of the server, or it is for another name',
      remedy: 'Name the authority of the server by ca=<file>, and the server as its certificate does.'
    },
    HANDSHAKE_NO_SSL_SUPPORT: {
      wrong: 'the server has no TLS',
      remedy: 'Set it up there, or leave out ssl=true.'
    }
  },
  statementAdvice: {
    ER_NO_SUCH_TABLE: NO_SUCH_THING,
    ER_BAD_FIELD_ERROR: NO_SUCH_THING,
    ER_TABLEACCESS_DENIED_ERROR: NO_RIGHT,
    ER_COLUMNACCESS_DENIED_ERROR: NO_RIGHT,
    ER_SPECIFIC_ACCESS_DENIED_ERROR: NO_RIGHT,
    ER_OPTION_PREVENTS_STATEMENT: READ_ONLY_SERVER,
    ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: READ_ONLY_SERVER,
    ER_READ_ONLY_MODE: READ_ONLY_SERVER,
    ER_RECORD_FILE_FULL: NO_ROOM,
    ER_DISK_FULL: NO_ROOM,
    ER_LOCK_WAIT_TIMEOUT: LOCKED,
    ER_LOCK_DEADLOCK: LOCKED,
    ER_NET_PACKET_TOO_LARGE: {
      wrong: 'the server takes no statement of this size',
      remedy: 'Raise its max_allowed_packet, or make several of it.'
    },
    ER_CRASHED_ON_USAGE: DAMAGED,
    ER_CRASHED_ON_REPAIR: DAMAGED,
    ER_NOT_KEYFILE: DAMAGED,
    ER_TABLE_DEF_CHANGED: { wrong: 'somebody altered the table meanwhile', remedy: 'Try again.' },
    ER_NO_DEFAULT_FOR_FIELD: {
      wrong: 'the table has a column that the statement does not fill',
      remedy: 'Give it a default, or say what fills it.'
    }
  },
  afterFailedMigration:
    'The statements before it stay. `uniform-rest migrate` runs the migration again from its start once the cause is ' +
    'mended, and leaves out what is there.',
  untestedDriver: () => installedDriver().untested,
  locate: (url, urlForms) => new MysqlLocation(parseMysqlUrl(url, urlForms))
}

/** `mysql://…` or `mariadb://…` with an optional `?ssl=true` and `&ca=<file>`. Errors as `Engine.locate` says. */
export function parseMysqlUrl(url: string, urlForms: string): MysqlSettings {
  const { hostname, port, username, password, pathname, searchParams } = parsedUrl(url, urlForms)
  const database = percentDecoded(pathname.replace(/^\//, ''))
  if (hostname === '') throw new Error(`names no host: ${urlForms}`)
  if (database === '' || database.includes('/')) throw new Error(`must name one database after the host: ${urlForms}`)
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 3306 : Number(port),
    user: percentDecoded(username),
    password: percentDecoded(password),
    database,
    ...sslSetting(searchParams)
  }
}

function parsedUrl(url: string, urlForms: string): URL {
  try {
    return new URL(url)
  } catch {
    throw new Error(`is no valid URL: ${urlForms}; percent-encode special characters of the password`)
  }
}

function percentDecoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Error('has a % that begins no percent-encoded character; write it as %25')
  }
}

function sslSetting(parameters: URLSearchParams): Pick<MysqlSettings, 'ssl' | 'ca'> {
  for (const name of parameters.keys()) {
    if (name !== 'ssl' && name !== 'ca')
      throw new Error(`has the unknown parameter ${name}; ssl=true or ssl=false and ca=<file> are the only ones`)
  }
  const [ssl, file] = [parameters.get('ssl'), parameters.get('ca')]
  if (ssl !== null && ssl !== 'true' && ssl !== 'false') throw new Error('has an ssl that is neither true nor false')
  if (file !== null && ssl !== 'true') throw new Error('has a ca, by which no server is judged without ssl=true')
  return { ...(ssl === null ? {} : { ssl: ssl === 'true' }), ...(file === null ? {} : { ca: certificatesIn(file) }) }
}

/** The certificates of a PEM file, as it is at the start. */
function certificatesIn(file: string): string {
  try {
    const pem = readFileSync(file, 'utf8')
    // It throws for a text without a certificate, which Node would take, to trust nothing.
    void new X509Certificate(pem)
    return pem
  } catch (error) {
    const code = error instanceof Error && 'syscall' in error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new Error(`has a ca that is no readable PEM certificate${code}`, { cause: error })
  }
}

const THIS_MACHINE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])

export class MysqlLocation implements DatabaseLocation {
  readonly isEmbedded = false
  readonly #settings: MysqlSettings

  constructor(settings: MysqlSettings) {
    this.#settings = settings
  }

  get spelling(): string {
    const { port, database } = this.#settings
    const host = this.#settings.host.toLowerCase()
    return `mysql://${THIS_MACHINE.has(host) ? 'localhost' : host}:${port}/${database}`
  }

  get isClearText(): boolean {
    const { host, ssl } = this.#settings
    return ssl !== true && !isLoopback(host)
  }

  exists(): Promise<boolean> {
    return Promise.resolve(true)
  }

  /** The server itself says whether the database is there. */
  standIn(): DatabaseLocation {
    return this
  }

  /** Nothing to make: the operator creates the database. */
  prepare(): Promise<void> {
    return Promise.resolve()
  }

  open(poolSize = 10): Database {
    return new MysqlDatabase(this.#settings, poolSize)
  }
}

class MysqlDatabase implements Database {
  readonly name: string
  readonly sequelize: Sequelize
  readonly dialect = mysqlDialect
  readonly kind = 'mysql'
  readonly bulk: BulkLoading
  readonly classifyError = classifyMysqlError
  readonly #settings: MysqlSettings
  readonly #poolSize: number
  readonly #pool: MysqlPool

  constructor(settings: MysqlSettings, poolSize: number) {
    this.#settings = settings
    this.#poolSize = poolSize
    this.name = settings.database
    this.sequelize = sequelizeOf(settings, poolSize)
    this.#pool = new MysqlPool(this.sequelize, poolSize)
    this.bulk = mysqlBulk(this.sequelize)
  }

  openReader(what: string): MysqlReader {
    return new MysqlReader({ pool: this.#pool, settings: this.#settings, what })
  }

  openTransactions(): MysqlTransactions {
    return new MysqlTransactions({ pool: this.#pool, settings: this.#settings })
  }

  withOwnPool(connections: number): Database {
    return new MysqlDatabase(this.#settings, connections)
  }

  poolState(): PoolState {
    const { maxSize: max, using: inUse, available: idle, waiting } = poolOf(this.sequelize)
    return { max, inUse, idle, waiting: waiting + this.#pool.waiting }
  }

  openProbe(): Probe {
    return new MysqlProbe(this.#settings)
  }

  examine(): Promise<readonly Examined[]> {
    return examineServer(this.#settings, this.#poolSize)
  }

  async identity(): Promise<readonly string[]> {
    const { database } = this.#settings
    const select = { type: QueryTypes.SELECT } as const
    const [server] = await this.sequelize.query<{ name: string }>(
      "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir) AS name",
      select
    )
    const [cluster] = await this.sequelize.query<{ Value: string }>(
      "SHOW STATUS LIKE 'wsrep_cluster_state_uuid'",
      select
    )
    return [
      `server ${server?.name ?? ''}/${database}`,
      // Every node of a cluster leads to the same database.
      ...(cluster === undefined || cluster.Value === '' ? [] : [`cluster ${cluster.Value}/${database}`])
    ]
  }
}

function mysqlBulk(sequelize: Sequelize): BulkLoading {
  return {
    maxValues: 16_000,
    /** Reads the counter from the table's DDL. information_schema may give an old value on MySQL. */
    async reserveIds(table, count, transaction) {
      await sequelize.query(`LOCK TABLES \`${table}\` WRITE`, { transaction })
      try {
        const [row] = await sequelize.query<{ 'Create Table': string }>(`SHOW CREATE TABLE \`${table}\``, {
          transaction,
          type: QueryTypes.SELECT
        })
        const first = Number(/ AUTO_INCREMENT=(\d+)/.exec(row?.['Create Table'] ?? '')?.[1] ?? 1)
        await sequelize.query(`ALTER TABLE \`${table}\` AUTO_INCREMENT = ${first + count}`, { transaction })
        return first
      } finally {
        await sequelize.query('UNLOCK TABLES', { transaction })
      }
    }
  }
}

const POOL = { min: 0, idle: 60_000, acquire: 10_000 }

function sequelizeOf(settings: MysqlSettings, poolSize: number): Sequelize {
  const sequelize = new Sequelize({
    ...SEQUELIZE_OPTIONS,
    dialect: 'mysql',
    dialectModule: mysql2,
    host: settings.host,
    port: settings.port,
    username: settings.user,
    password: settings.password,
    database: settings.database,
    pool: { ...POOL, max: poolSize },
    dialectOptions: driverOptions(settings)
  })
  observeStatements(sequelize)
  sequelize.addHook('afterConnect', async (connection: unknown) => {
    // Sequelize hands out connections of the module that it was given above.
    const opened = connection as Connection
    try {
      await prepareSession(opened, settings)
    } catch (error) {
      opened.destroy()
      throw error
    }
  })
  probeSequelize(sequelize, { hasPool: true })
  return sequelize
}

/**
 * Observes the statements that Sequelize sends itself, such as those of migrations and checks. None of them is of a request.
 * Its own log knows neither rows nor errors.
 */
function observeStatements(sequelize: Sequelize): void {
  type Query = (sql: string, options?: QueryOptions) => Promise<unknown>
  const query: Query = sequelize.query.bind(sequelize)
  const observedQuery: Query = (sql, options = {}) => {
    const rows = options.type === QueryTypes.SELECT ? sequelizeRowsRead : sequelizeRowsChanged
    const values = options.bind === undefined ? {} : { values: options.bind }
    return forNoCall(() => observed({ sql, system: 'mysql', ...values, rows }, () => query(sql, options)))
  }
  // The types of `query` have one form for each kind of answer.
  sequelize.query = observedQuery as typeof sequelize.query
}

function sequelizeRowsRead(answer: unknown): number | undefined {
  return Array.isArray(answer) ? answer.length : undefined
}

/** Sequelize answers a change with something and the count of its rows, or the driver's header that holds it. */
function sequelizeRowsChanged(answer: unknown): number | undefined {
  const second: unknown = Array.isArray(answer) ? answer[1] : undefined
  const count = typeof second === 'object' && second !== null && 'affectedRows' in second ? second.affectedRows : second
  return typeof count === 'number' ? count : undefined
}

/**
 * ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS, ER_USER_LIMIT_REACHED: the server accepts no more connections. The
 * existing ones, which serve requests, may still work.
 */
const CONNECTIONS_EXHAUSTED: readonly unknown[] = [1040, 1203, 1226]

const NODE_STATE = "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_status')"

/** A server can serve if it answers. A Galera node must also be ready and in the primary component. */
class MysqlProbe implements Probe {
  readonly #settings: MysqlSettings
  #opening: Promise<Connection> | undefined

  constructor(settings: MysqlSettings) {
    this.#settings = settings
  }

  async look(): Promise<void> {
    try {
      await this.#ask()
    } catch (error) {
      if (!CONNECTIONS_EXHAUSTED.includes(errnoOf(error))) throw error
      this.reset()
    }
  }

  reset(): void {
    this.#opening?.then(
      (connection) => connection.destroy(),
      () => undefined
    )
    this.#opening = undefined
  }

  async #ask(): Promise<void> {
    this.#opening ??= openConnection(this.#settings)
    const connection = await this.#opening
    if (serverBehind(connection).node === undefined) return connection.promise().ping()
    const state = await shownValues(connection, NODE_STATE)
    const isReady = state.get('wsrep_ready') === 'ON' && state.get('wsrep_cluster_status') === 'Primary'
    if (!isReady) throw new Error('The node is outside of its cluster')
  }
}
