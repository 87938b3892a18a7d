import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import mysql2, { type Connection as MysqlConnection } from 'mysql2'
import { BaseError, ConnectionError, type Options, QueryTypes, Sequelize, Transaction } from 'sequelize'
import { redactUrl } from '../../shared/settings.js'
import { messageOf, StartError } from '../../shared/start-error.js'
import { type DatabaseSettings, type MysqlSettings, parseDatabaseUrl, type SqliteSettings } from './engines/engine.js'
import { driverOptions, prepareSession } from './engines/mysql-connection.js'
import { sqlite3Module } from './engines/sqlite3-module.js'

/** A database and the Sequelize instance that reaches it. */
export type Database =
  | { readonly kind: 'sqlite'; readonly settings: SqliteSettings; readonly sequelize: Sequelize }
  | { readonly kind: 'mysql'; readonly settings: MysqlSettings; readonly sequelize: Sequelize }

const POOL = { min: 0, idle: 60_000, acquire: 10_000 }

/**
 * Opens a database lazily: nothing is sent before the first statement, so one that is down does not fail here.
 * `sequelize.close()` ends it. Transactions begin IMMEDIATE on SQLite, one after the other within this process.
 * `poolSize` is the most connections of the pool, which the embedded database does not have.
 */
export function connect(settings: DatabaseSettings, poolSize = 10): Database {
  if (settings.kind === 'sqlite') return { kind: 'sqlite', settings, sequelize: sqlite(settings) }
  return { kind: 'mysql', settings, sequelize: mysql(settings, poolSize) }
}

const COMMON: Options = {
  logging: false,
  timezone: '+00:00',
  // Who may repeat what is decided by the callers, statement by statement.
  retry: { max: 1 },
  define: { timestamps: false, freezeTableName: true }
}

function sqlite({ file }: SqliteSettings): Sequelize {
  return new Sequelize({
    ...COMMON,
    dialect: 'sqlite',
    dialectModule: sqlite3Module(),
    storage: file,
    transactionType: Transaction.TYPES.IMMEDIATE
  })
}

function mysql(settings: MysqlSettings, poolSize: number): Sequelize {
  const sequelize = new Sequelize({
    ...COMMON,
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
  sequelize.addHook('afterConnect', async (connection: unknown) => {
    // The mysql dialect hands out connections of the module it was given above.
    const opened = connection as MysqlConnection
    try {
      await prepareSession(opened)
    } catch (error) {
      opened.destroy()
      throw error
    }
  })
  return sequelize
}

/** A database as its operator knows it. */
export interface ConfiguredDatabase {
  /** The setting that names it. */
  readonly setting: string
  readonly url: string
}

interface Advice {
  readonly wrong: string
  readonly remedy: string
}

const REFUSED: Advice = {
  wrong: 'the server refuses this user or password',
  remedy: 'Correct them, or create the user and grant it the database; percent-encode special characters.'
}
const UNREACHED: Advice = {
  wrong: 'no server answers there',
  remedy: 'Start it, or correct host and port.'
}
const NO_FOLDER: Advice = {
  wrong: 'a part of the path is a file, not a directory',
  remedy: 'Name a file in a directory that exists or can be made.'
}
const FORBIDDEN: Advice = {
  wrong: 'this user may not read and write there',
  remedy: 'Grant that, or name another file.'
}

const ADVICE: Readonly<Record<string, Advice>> = {
  ER_ACCESS_DENIED_ERROR: REFUSED,
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: REFUSED,
  ER_DBACCESS_DENIED_ERROR: {
    wrong: 'this user may not use the database, or there is none of this name',
    remedy: 'Create it with CREATE DATABASE, and grant it to the user.'
  },
  ER_HOST_NOT_PRIVILEGED: { wrong: 'the server takes no connection from this host', remedy: 'Allow it on the server.' },
  ER_BAD_DB_ERROR: {
    wrong: 'the server has no database of this name',
    remedy: 'Create it with CREATE DATABASE: its tables are made at start, the database is not.'
  },
  ECONNREFUSED: UNREACHED,
  ETIMEDOUT: UNREACHED,
  EHOSTUNREACH: UNREACHED,
  ENETUNREACH: UNREACHED,
  ENOTFOUND: { wrong: 'there is no host of this name', remedy: 'Correct it.' },
  EAI_AGAIN: { wrong: 'the name of the host cannot be looked up just now', remedy: 'Try again, or correct it.' },
  HANDSHAKE_NO_SSL_SUPPORT: {
    wrong: 'the server has no TLS',
    remedy: 'Set it up there, or leave out ssl=true.'
  },
  SQLITE_CANTOPEN: {
    wrong: 'this is no file that can be opened for writing',
    remedy: 'Name a file in a directory that this user may write to, not a directory.'
  },
  SQLITE_NOTADB: { wrong: 'the file is no SQLite database', remedy: 'Name another, or one that is not there yet.' },
  SQLITE_READONLY: FORBIDDEN,
  ENOENT: { wrong: 'no directory can be made there', remedy: NO_FOLDER.remedy },
  NO_ANSWER: { wrong: 'the file system gives no answer', remedy: 'Mount it again, or name a file elsewhere.' },
  EEXIST: NO_FOLDER,
  ENOTDIR: NO_FOLDER,
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: { wrong: 'the file system is read-only', remedy: 'Name a file elsewhere.' }
}

/**
 * Why a database could not be opened, as a StartError that says which setting, what is wrong and what to do. What is no
 * such failure comes back as it is.
 */
export function openFailure(error: unknown, { setting, url }: ConfiguredDatabase): unknown {
  if (error instanceof StartError) {
    return new StartError(`${setting}, ${redactUrl(url)}: ${error.message}`, { cause: error })
  }
  const code = codeOf(error)
  const advice = code === undefined ? undefined : ADVICE[code]
  if (advice === undefined && !(error instanceof ConnectionError)) return error
  const { wrong, remedy } = advice ?? { wrong: messageOf(error), remedy: 'Correct that, or name another database.' }
  const also = code === undefined ? '' : ` (${code})`
  return new StartError(`${setting}, ${redactUrl(url)}, cannot be opened: ${wrong}${also}. ${remedy}`, {
    cause: error
  })
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof BaseError && 'parent' in error) return codeOf(error.parent)
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

const THIS_MACHINE: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1'])

/** Whether two URLs of databases spell the same one, as far as the texts tell. */
export function sameUrl(one: string, other: string): boolean {
  return spellingOf(one) === spellingOf(other)
}

function spellingOf(url: string): string {
  const settings = parseDatabaseUrl(url)
  if (settings.kind === 'sqlite') return `sqlite:${resolve(settings.file)}`
  const host = settings.host.toLowerCase()
  return `mysql://${THIS_MACHINE.has(host) ? 'localhost' : host}:${settings.port}/${settings.database}`
}

/**
 * Whether two databases are one, whatever name leads to them: two links to one file, two names of one server, two nodes
 * of one Galera cluster. Both have to be reachable; a file that is not there yet is nobody's.
 */
export async function sameDatabase(one: Database, other: Database): Promise<boolean> {
  const [first, second] = [await identityOf(one), await identityOf(other)]
  return first.some((name) => second.includes(name))
}

/** Names that only this database has. */
async function identityOf(database: Database): Promise<readonly string[]> {
  if (database.kind === 'sqlite') {
    const file = await stat(database.settings.file, { bigint: true }).catch(() => undefined)
    return file === undefined ? [] : [`file ${file.dev}:${file.ino}`]
  }
  return await serverIdentity(database.sequelize, database.settings)
}

async function serverIdentity(
  sequelize: Database['sequelize'],
  { database }: MysqlSettings
): Promise<readonly string[]> {
  const [server] = await sequelize.query<{ name: string }>(
    "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir) AS name",
    { type: QueryTypes.SELECT }
  )
  const [cluster] = await sequelize.query<{ Value: string }>("SHOW STATUS LIKE 'wsrep_cluster_state_uuid'", {
    type: QueryTypes.SELECT
  })
  return [
    `server ${server?.name ?? ''}/${database}`,
    ...(cluster === undefined || cluster.Value === '' ? [] : [`cluster ${cluster.Value}/${database}`])
  ]
}
