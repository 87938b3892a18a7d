import { setTimeout as pause } from 'node:timers/promises'
import { createConnection } from 'mysql2/promise'

/** Resolves with the server's version when it lets us in. Rejects with the last refusal when the signal aborts. */
export async function waitForServer(url: string, signal: AbortSignal): Promise<string> {
  for (;;) {
    try {
      return await versionOf(url)
    } catch (error) {
      if (signal.aborted) throw error
      await pause(100)
    }
  }
}

/** Connects once. */
export async function versionOf(url: string): Promise<string> {
  const connection = await createConnection({ uri: url, connectTimeout: 5_000 })
  try {
    const [[row]] =
      await connection.query<[{ version: string } & import('mysql2').RowDataPacket]>('SELECT VERSION() AS version')
    return row.version
  } finally {
    await connection.end()
  }
}
