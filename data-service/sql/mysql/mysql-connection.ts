import { type Connection, createConnection } from 'mysql2'
import { ConnectionError } from 'sequelize'
import type { MysqlSettings } from '../database-url.js'
import type { Statement } from '../statement.js'
import { connectionOptions } from './mysql-options.js'
import { prepareSession } from './mysql-session.js'

/** Opens a connection outside the pool, with the same session as those inside. Throws Sequelize's ConnectionError. */
export async function openConnection(settings: MysqlSettings): Promise<Connection> {
  const connection = createConnection(connectionOptions(settings))
  // A connection lost while idle shows in its next statement; without a listener it would end the process.
  connection.on('error', () => undefined)
  try {
    await new Promise<void>((resolve, reject) => {
      connection.connect((error) => (error === null ? resolve() : reject(error)))
    })
    await prepareSession(connection)
    return connection
  } catch (error) {
    connection.destroy()
    throw error instanceof Error ? new ConnectionError(error) : error
  }
}

/** Runs a prepared statement: its text is prepared once a connection, values travel beside it. */
export function execute(
  connection: Connection,
  { sql }: Statement,
  values: readonly (string | bigint)[]
): Promise<readonly (readonly unknown[])[]> {
  return new Promise((resolve, reject) => {
    connection.execute({ sql, values: [...values], rowsAsArray: true }, (error, rows) => {
      if (error !== null) reject(error)
      else if (Array.isArray(rows)) resolve(rows.filter((row) => Array.isArray(row)))
      else reject(new TypeError('A SELECT answered no rows'))
    })
  })
}
