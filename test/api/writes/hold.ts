import { setTimeout as sleep } from 'node:timers/promises'
import { openTestDatabase } from '../../oracle/test-database.js'

interface Stored {
  readonly databaseUrl: string
}

/** A lock on a connection of the test's own. */
interface Lock {
  release(): Promise<void>
}

/** As a request does that has claimed a key: every key there can be is locked. */
export const EVERY_KEY = 'SELECT key_hash FROM ur_idempotency_keys FOR UPDATE'

/** Locks the rows that a `SELECT … FOR UPDATE` of MariaDB answers; the embedded database has one lock for everything. */
export async function hold({ databaseUrl }: Stored, rows: string): Promise<Lock> {
  const database = await openTestDatabase(databaseUrl)
  if (database.kind === 'sqlite') await database.run('BEGIN IMMEDIATE')
  else {
    await database.run('START TRANSACTION')
    await database.run(rows)
  }
  return {
    async release() {
      await database.run('ROLLBACK')
      await database.close()
    }
  }
}

/** Short of every wait for a lock. */
const GATHERING_MS = 300

/** Lets the work come to the locked rows before it lets go of them: whoever waits there then races for real. */
export async function gathered<Result>(store: Stored, rows: string, work: () => Promise<Result>): Promise<Result> {
  const held = await hold(store, rows)
  const working = work()
  try {
    await Promise.race([working, sleep(GATHERING_MS)])
  } finally {
    await held.release()
  }
  return working
}
