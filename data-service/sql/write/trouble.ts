import { SqliteError } from '../sqlite/sqlite-error.js'
import { UnsureCommit } from './transactions.js'

/**
 * What stands behind an error of a statement: another transaction was first (`deadlock`, or any other `lost-race`), it
 * keeps a lock for too long (`lock-wait`), a unique or foreign key forbids it, the connection is gone, or nobody can
 * tell whether a COMMIT took place. undefined for everything else.
 */
export type Trouble = 'deadlock' | 'lock-wait' | 'lost-race' | 'violation' | 'lost-connection' | 'unknown-outcome'

/** Error numbers of MySQL and MariaDB. */
const MYSQL: ReadonlyMap<number, Trouble> = new Map([
  // Galera reports a failed certification, and a transaction that a replicated one pushed aside, as deadlocks too.
  [1213, 'deadlock'],
  [1205, 'lock-wait'],
  // The row was changed after this transaction's snapshot (innodb_snapshot_isolation).
  [1020, 'lost-race'],
  // Stopped from outside, by an operator or on behalf of a replicated transaction; it is rolled back whole then.
  [1317, 'lost-race'],
  // Duplicate key.
  [1062, 'violation'],
  [1586, 'violation'],
  // Foreign key: no parent row, or rows that still refer to it.
  [1216, 'violation'],
  [1217, 'violation'],
  [1451, 'violation'],
  [1452, 'violation'],
  // A Galera node that lost its cluster while it committed.
  [1180, 'unknown-outcome'],
  // The server goes down, or an operator ended the connection.
  [1053, 'lost-connection'],
  [1927, 'lost-connection']
])

const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6

/** Extended codes: foreign key, primary key, unique, row id. */
const SQLITE_VIOLATIONS: ReadonlySet<number> = new Set([787, 1555, 2067, 2579])

/** Tells the errors of a transaction's statements apart, whichever driver they come from. */
export function troubleOf(error: unknown): Trouble | undefined {
  if (error instanceof SqliteError) return sqliteTrouble(error.errno)
  if (error instanceof UnsureCommit) return 'unknown-outcome'
  if (!(error instanceof Error)) return undefined
  const known = 'errno' in error && typeof error.errno === 'number' ? MYSQL.get(error.errno) : undefined
  // The driver marks the errors that its connection does not outlive.
  return known ?? ('fatal' in error && error.fatal === true ? 'lost-connection' : undefined)
}

function sqliteTrouble(code: number): Trouble | undefined {
  if (SQLITE_VIOLATIONS.has(code)) return 'violation'
  return [SQLITE_BUSY, SQLITE_LOCKED].includes(code & 0xff) ? 'lock-wait' : undefined
}
