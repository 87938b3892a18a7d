import { BaseError, ConnectionError } from 'sequelize'
import type { ErrorKind } from '../../sessions.js'
import type { ViolatedKey } from '../../statement.js'

/** Error numbers of MySQL and MariaDB. */
const KIND_BY_NUMBER: ReadonlyMap<number, ErrorKind> = new Map([
  // ER_LOCK_DEADLOCK: also for a failed certification in Galera, and a transaction that gave way to a replicated one.
  [1213, 'deadlock'],
  // ER_CHECKREAD: the row was changed after this transaction's snapshot (innodb_snapshot_isolation).
  [1020, 'lostRace'],
  // ER_TRANSACTION_ROLLBACK_DURING_COMMIT: a member of MySQL Group Replication failed to certify the transaction.
  [3101, 'lostRace'],
  // ER_QUERY_INTERRUPTED: stopped by an operator or for a replicated transaction, and rolled back as a whole.
  [1317, 'lostRace'],
  // ER_LOCK_WAIT_TIMEOUT
  [1205, 'lockTimeout'],
  [3572, 'lockTimeout'], // ER_LOCK_NOWAIT of MySQL; MariaDB answers 1205 to NOWAIT
  // ER_DUP_ENTRY, ER_DUP_ENTRY_WITH_KEY_NAME
  [1062, 'constraint'],
  [1586, 'constraint'],
  // Foreign key: there is no parent row, or rows still refer to it.
  [1216, 'constraint'],
  [1217, 'constraint'],
  [1451, 'constraint'],
  [1452, 'constraint'],
  [1644, 'forbidden'], // ER_SIGNAL_EXCEPTION: a trigger or a procedure
  [3819, 'forbidden'], // ER_CHECK_CONSTRAINT_VIOLATED of MySQL
  [4025, 'forbidden'], // ER_CONSTRAINT_FAILED of MariaDB: a CHECK
  // ER_ERROR_DURING_COMMIT: a Galera node lost its cluster during the commit.
  [1180, 'commitUnknown'],
  // ER_SERVER_SHUTDOWN
  [1053, 'connectionLost'],
  // ER_CONNECTION_KILLED: an operator ended the connection.
  [1927, 'connectionLost'],
  [1040, 'unreachable'], // ER_CON_COUNT_ERROR: it takes no more connections
  [1047, 'unreachable'], // ER_UNKNOWN_COM_ERROR: a Galera node outside of its cluster
  [1203, 'unreachable'], // ER_TOO_MANY_USER_CONNECTIONS
  [1226, 'unreachable'], // ER_USER_LIMIT_REACHED
  [3032, 'unreachable'], // ER_SERVER_OFFLINE_MODE
  [4031, 'unreachable'], // ER_CLIENT_INTERACTION_TIMEOUT: the server ended it for being idle
  [3, 'unavailable'], // EE_WRITE: a file cannot be written, the disk being full
  [1021, 'unavailable'], // ER_DISK_FULL
  [1026, 'unavailable'], // ER_ERROR_ON_WRITE
  [1037, 'unavailable'], // ER_OUTOFMEMORY
  [1041, 'unavailable'], // ER_OUT_OF_RESOURCES
  [1114, 'unavailable'], // ER_RECORD_FILE_FULL: no room left in the tables' space
  [1461, 'unavailable'], // ER_MAX_PREPARED_STMT_COUNT_REACHED
  [1792, 'unavailable'], // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION: the server begins all of them so
  [1836, 'unavailable'], // ER_READ_ONLY_MODE: innodb_read_only
  [1874, 'unavailable'] // ER_INNODB_READ_ONLY
])

/** Network errors which mean that the server cannot be reached at the moment. */
const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'PROTOCOL_CONNECTION_LOST'
])

/** ER_OPTION_PREVENTS_STATEMENT. Its message names the option; a server turns a read-only option off after a fail-over. */
const OPTION_PREVENTS = 1290
const READ_ONLY = /read[-_]only/i

/** ER_GET_ERRNO. Its message ends in the operating system's number: no space left, or over the quota. */
const STORAGE_ENGINE = 1030
const NO_SPACE = /\b(28|122)\b/

/** The kind of an error of the driver, which Sequelize may have wrapped. */
export function classifyMysqlError(error: unknown): ErrorKind {
  if (!(error instanceof Error)) return 'other'
  // Connecting failed for any reason, or the pool had no free connection in time.
  if (error instanceof ConnectionError) return 'unreachable'
  if (error instanceof BaseError && 'parent' in error) return classifyMysqlError(error.parent)
  const errno = 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined
  const kind = errno === undefined ? undefined : KIND_BY_NUMBER.get(errno)
  // The driver marks errors after which the connection is lost.
  const isFatal = 'fatal' in error && error.fatal === true
  if (isFatal && (kind === undefined || kind === 'unreachable' || kind === 'unavailable')) return 'connectionLost'
  if (kind !== undefined) return kind
  if ('code' in error && typeof error.code === 'string' && NETWORK_CODES.has(error.code)) return 'unreachable'
  if (errno === OPTION_PREVENTS) return READ_ONLY.test(error.message) ? 'unavailable' : 'other'
  // A trigger or a procedure that says its reason with a number of its own: SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = …
  if ('sqlState' in error && String(error.sqlState).startsWith('45')) return 'forbidden'
  if (errno === STORAGE_ENGINE) return NO_SPACE.test(error.message) ? 'unavailable' : 'other'
  return 'other'
}

/** The server's error number, also of a wrapped error. undefined if there is none. */
export function errnoOf(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  if ('errno' in error && typeof error.errno === 'number') return error.errno
  return errnoOf('parent' in error ? error.parent : error.cause)
}

const VIOLATED: ReadonlyMap<number, ViolatedKey['kind']> = new Map([
  [1062, 'unique'],
  [1586, 'unique'],
  [1216, 'reference'],
  [1452, 'reference'],
  [1217, 'referenced'],
  [1451, 'referenced']
])

/** As `SqlDialect.violatedKey`. The words of a message depend on the server's language; names stand in quotes in each. */
export function mysqlViolatedKey(error: unknown): ViolatedKey | undefined {
  const kind = VIOLATED.get(errnoOf(error) ?? 0)
  if (kind === undefined || !(error instanceof Error)) return undefined
  const { message } = error
  if (kind === 'unique') {
    const end = message.lastIndexOf("'")
    const named = message.slice(message.lastIndexOf("'", end - 1) + 1, end)
    // MySQL puts the table before the index: 'products.products_sku_unique'.
    return { kind, index: named.slice(named.indexOf('.') + 1) }
  }
  // A message that names a column is of an account that may see the table.
  const [, constraint] = /CONSTRAINT `([^`]+)` FOREIGN KEY/.exec(message) ?? []
  const [, column] = /FOREIGN KEY \(`([^`]+)`\) REFERENCES/.exec(message) ?? []
  return {
    kind,
    ...(kind === 'reference' && column !== undefined ? { columns: [column] } : {}),
    ...(constraint === undefined ? {} : { constraint })
  }
}
