import { type Connection, createConnection, type ResultSetHeader } from 'mysql2'
import { ConnectionError } from 'sequelize'
import type { MysqlSettings } from '../database-url.js'
import type { BoundValue } from '../dialect.js'
import type { Statement, StatementText } from '../statement.js'
import { connectionOptions } from './mysql-options.js'
import { prepareSession } from './mysql-session.js'

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

/** Runs a prepared SELECT: its text is prepared once a connection, values travel beside it. */
export async function execute(
  connection: Connection,
  { sql }: Statement,
  values: readonly BoundValue[]
): Promise<readonly (readonly unknown[])[]> {
  const text = { sql, rowsAsArray: true }
  const rows = await new Promise<unknown>((resolve, reject) => {
    connection.execute({ ...text, values: [...values] }, (error, result) =>
      error === null ? resolve(result) : reject(error)
    )
  })
  if (sql.length > LONGEST_KEPT) unprepare(connection, text)
  if (!Array.isArray(rows)) throw new TypeError('A SELECT answered no rows')
  // rowsAsArray makes each row an array.
  return rows as unknown[][]
}

/** Runs a prepared statement that changes rows. */
export function executeChange(
  connection: Connection,
  { sql }: StatementText,
  values: readonly BoundValue[]
): Promise<ResultSetHeader> {
  return new Promise((resolve, reject) => {
    connection.execute<ResultSetHeader>({ sql, values: [...values] }, (error, header) => {
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
