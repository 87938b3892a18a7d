import { BaseError, ConnectionError } from 'sequelize'
import { DomainError } from '../../shared/domain-error.js'

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
  // The file cannot be opened, or another process held its lock for too long.
  'SQLITE_CANTOPEN',
  'SQLITE_BUSY'
])

/** The same of a MySQL or MariaDB server. */
const SERVER_ERRORS: ReadonlySet<number> = new Set([
  1040, // ER_CON_COUNT_ERROR: it takes no more connections
  1047, // ER_UNKNOWN_COM_ERROR: a Galera node outside of its cluster
  1053, // ER_SERVER_SHUTDOWN
  1203, // ER_TOO_MANY_USER_CONNECTIONS
  1226, // ER_USER_LIMIT_REACHED
  1927, // ER_CONNECTION_KILLED: an operator ended the connection
  4031 // ER_CLIENT_INTERACTION_TIMEOUT: the server ended it for being idle
])

/** The error as the service's callers are to see it: what is not of these kinds is a fault, and stays what it is. `what` names the database to them. */
export function unreachable(error: unknown, what: string): unknown {
  if (error instanceof DomainError || !saysUnreachable(error)) return error
  return new DomainError('upstream.unavailable', `${what} cannot be reached. Try again.`, {
    retryAfter: RETRY_AFTER_S,
    cause: error
  })
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
