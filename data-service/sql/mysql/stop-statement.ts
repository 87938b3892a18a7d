import { setTimeout as wait } from 'node:timers/promises'
import type { Connection } from 'mysql2'
import type { MysqlSettings } from '../database-url.js'
import { openBareConnection } from './mysql-connection.js'

const PATIENCE_MS = 5000

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
    await Promise.race([ended, wait(PATIENCE_MS, undefined, { ref: false })])
  } catch {
    // No connection to be had: then closing this one is all that can be done.
  } finally {
    connection.destroy()
  }
}
