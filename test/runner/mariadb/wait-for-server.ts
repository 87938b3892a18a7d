import { setTimeout as pause } from 'node:timers/promises'
import type { RowDataPacket } from 'mysql2'
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
    const [rows] = await connection.query<({ version: string } & RowDataPacket)[]>('SELECT VERSION() AS version')
    return rows[0]?.version ?? ''
  } finally {
    await connection.end()
  }
}
