import mysql2, { type Connection as MysqlConnection } from 'mysql2'
import { type Options, Sequelize, Transaction } from 'sequelize'
import type { DatabaseSettings, MysqlSettings, SqliteSettings } from './database-url.js'
import { driverOptions } from './mysql/mysql-options.js'
import { prepareSession } from './mysql/mysql-session.js'
import { sqlite3Module } from './sqlite/sqlite3-module.js'

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
