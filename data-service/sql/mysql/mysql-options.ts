import type { ConnectionOptions } from 'mysql2'
import type { MysqlSettings } from '../database-url.js'

const CONNECT_TIMEOUT_MS = 5000

/** Statements kept prepared on each connection; times connections it stays far below max_prepared_stmt_count. */
const STATEMENTS_KEPT = 256

/**
 * How every connection reads values: longs and decimals as their digits, dates as UTC text, so that nothing passes
 * through a double or a local time.
 */
export function driverOptions(settings: MysqlSettings): ConnectionOptions {
  return {
    charset: 'utf8mb4',
    timezone: '+00:00',
    supportBigNumbers: true,
    bigNumberStrings: true,
    decimalNumbers: false,
    dateStrings: true,
    typeCast: true,
    maxPreparedStatements: STATEMENTS_KEPT,
    connectTimeout: CONNECT_TIMEOUT_MS,
    ...(settings.ssl === true ? { ssl: { rejectUnauthorized: true } } : {})
  }
}

/** Options of a connection outside Sequelize's pool: exports, and stopping a statement. */
export function connectionOptions(settings: MysqlSettings): ConnectionOptions {
  const { host, port, user, password, database } = settings
  // As in Sequelize: affected rows are changed rows.
  return { ...driverOptions(settings), host, port, user, password, database, flags: ['-FOUND_ROWS'] }
}
