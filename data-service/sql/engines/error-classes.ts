import { BaseError, ConnectionError } from 'sequelize'
import { DomainError } from '../../../shared/errors.js'
import { UnsureCommit } from './engine.js'
import { SqliteError } from './sqlite-connection.js'

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

const RETRY_AFTER_S = 1

/** Errors of the network and of the file that say the database cannot be reached just now, and may go by themselves. */
const CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'PROTOCOL_CONNECTION_LOST',
  // The file cannot be opened.
  'SQLITE_CANTOPEN'
])

/** The same of a MySQL or MariaDB server. */
const SERVER_ERRORS: ReadonlySet<number> = new Set([
  1040, // ER_CON_COUNT_ERROR: it takes no more connections
  1047, // ER_UNKNOWN_COM_ERROR: a Galera node outside of its cluster
  1053, // ER_SERVER_SHUTDOWN
  1203, // ER_TOO_MANY_USER_CONNECTIONS
  1226, // ER_USER_LIMIT_REACHED
  1927, // ER_CONNECTION_KILLED: an operator ended the connection
  3032, // ER_SERVER_OFFLINE_MODE
  4031 // ER_CLIENT_INTERACTION_TIMEOUT: the server ended it for being idle
])

/** A database that is reached, and refuses what it takes at other times. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  // Another process held the file's lock for too long.
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'SQLITE_FULL',
  'SQLITE_READONLY',
  'SQLITE_IOERR'
])

const PASSING_SERVER_ERRORS: ReadonlySet<number> = new Set([
  3, // EE_WRITE: a file cannot be written, the disk being full
  1021, // ER_DISK_FULL
  1026, // ER_ERROR_ON_WRITE
  1037, // ER_OUTOFMEMORY
  1041, // ER_OUT_OF_RESOURCES
  1114, // ER_RECORD_FILE_FULL: no room left in the tables' space
  1205, // ER_LOCK_WAIT_TIMEOUT
  1461, // ER_MAX_PREPARED_STMT_COUNT_REACHED
  1792, // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: the server begins all of them so
  1836, // ER_READ_ONLY_MODE: innodb_read_only
  1874 // ER_INNODB_READ_ONLY
])

/** ER_OPTION_PREVENTS_STATEMENT, whose message names the option: of these two a server is rid after a fail-over. */
const OPTION_PREVENTS = 1290
const READ_ONLY = /read[-_]only/i

/** ER_GET_ERRNO, whose message ends in the operating system's number: no space left, or over the quota. */
const STORAGE_ENGINE = 1030
const NO_SPACE = /\b(28|122)\b/

/**
 * The error as the service's callers are to see it: what says that the database cannot be reached, or refuses for a
 * reason that passes, is `upstream.unavailable`. What is not of these kinds is a fault, and stays what it is. `what`
 * names the database to them.
 */
export function unreachable(error: unknown, what: string): unknown {
  if (error instanceof DomainError) return error
  if (saysUnreachable(error)) return unavailable(`${what} cannot be reached. Try again.`, error)
  if (saysLater(error)) return unavailable(`${what} cannot do this just now. Try again.`, error)
  return error
}

function unavailable(detail: string, cause: unknown): DomainError {
  return new DomainError('upstream.unavailable', detail, { retryAfter: RETRY_AFTER_S, cause })
}

function saysUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // Failing to connect, whatever the reason, and no free connection within the pool's limit.
  if (error instanceof ConnectionError) return true
  // The driver's word for a connection that is of no more use.
  if ('fatal' in error && error.fatal === true) return true
  if ('code' in error && typeof error.code === 'string' && CODES.has(error.code)) return true
  if ('errno' in error && typeof error.errno === 'number' && SERVER_ERRORS.has(error.errno)) return true
  return error instanceof BaseError && 'parent' in error && saysUnreachable(error.parent)
}

function saysLater(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof BaseError && 'parent' in error) return saysLater(error.parent)
  if ('code' in error && typeof error.code === 'string' && error.code.startsWith('SQLITE_')) {
    return PASSING_CODES.has(error.code)
  }
  if (!('errno' in error) || typeof error.errno !== 'number') return false
  if (error.errno === OPTION_PREVENTS) return READ_ONLY.test(error.message)
  if (error.errno === STORAGE_ENGINE) return NO_SPACE.test(error.message)
  return PASSING_SERVER_ERRORS.has(error.errno)
}
