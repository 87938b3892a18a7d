import type { Database } from '../connect.js'
import { MysqlTransactions } from './mysql-transactions.js'
import { SqliteTransactions } from './sqlite-transactions.js'
import type { Transactions } from './transactions.js'

/** The transactions of a database: one object for all who write to it, who wait for each other in it on SQLite. */
export function openTransactions(database: Database): Transactions {
  return database.kind === 'sqlite' ? new SqliteTransactions(database.settings.file) : new MysqlTransactions(database)
}
