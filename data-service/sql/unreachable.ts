import { ConnectionError } from 'sequelize'
import { DomainError } from '../../shared/domain-error.js'

const RETRY_AFTER_S = 1

/**
 * Errors of the driver, the server or the file that say the database cannot be reached just now. Each of these may go
 * away by itself; every other error is a fault of this service and stays what it is.
 */
const UNREACHABLE: ReadonlySet<string> = new Set([
  // The connection was refused, cut or never made.
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'PROTOCOL_CONNECTION_LOST',
  // 1040, 1203 and 1226: the server takes no more connections.
  'ER_CON_COUNT_ERROR',
  'ER_TOO_MANY_USER_CONNECTIONS',
  'ER_USER_LIMIT_REACHED',
  // 1053 and 1927: the server is going down, or an operator ended the connection.
  'ER_SERVER_SHUTDOWN',
  'ER_CONNECTION_KILLED',
  // 1047: a Galera node that is not part of the cluster.
  'ER_UNKNOWN_COM_ERROR',
  // The file cannot be opened, or another process held its lock for too long.
  'SQLITE_CANTOPEN',
  'SQLITE_BUSY'
])

/** The error as the service's callers are to see it. `what` names the database to them. */
export function unreachable(error: unknown, what: string): unknown {
  if (error instanceof DomainError || !saysUnreachable(error)) return error
  return new DomainError('upstream.unavailable', `${what} cannot be reached. Try again.`, {
    retryAfter: RETRY_AFTER_S,
    cause: error
  })
}

function saysUnreachable(error: unknown): boolean {
  // Failing to connect, whatever the reason, and no free connection within the pool's limit.
  if (error instanceof ConnectionError) return true
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && UNREACHABLE.has(error.code)
}
