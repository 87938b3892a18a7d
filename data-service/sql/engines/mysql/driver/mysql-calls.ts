import type { Connection } from 'mysql2'
import { observed } from '../../../../observe/call-scope.js'
import { DomainError } from '../../../../../shared/errors.js'
import { BoundedRows, bytesOf, MAX_ANSWER_BYTES } from '../../answer-bytes.js'
import type { BoundValue, Statement } from '../../statement.js'
import { answeredInTime, parametersOf, renewSession, systemOf } from './mysql-connection.js'
import { classifyMysqlError } from './mysql-errors.js'

// Calls of procedures, which may answer several sets of rows and leave variables and temporary tables in their session.

const usedByProcedures = new WeakSet<Connection>()

/** To be told before the first statement of a call: the next caller of the connection must not meet what is left of it. */
export function markUsed(connection: Connection): void {
  usedByProcedures.add(connection)
}

/** The renewal of a session in which a procedure ran; undefined for any other one. */
export function renewal(connection: Connection): Promise<void> | undefined {
  return usedByProcedures.delete(connection) ? answeredInTime(connection, renewSession(connection)) : undefined
}

/**
 * Calls a procedure and answers the rows of its one SELECT. A row beyond its bounds, and a second SELECT, are errors once
 * the server has sent all: the connection stays in order, and no such row is kept.
 */
export async function executeCall(
  connection: Connection,
  { sql, procedure: { name, maxRows }, decode: columns }: Statement & Required<Pick<Statement, 'procedure'>>,
  values: BoundValue[]
): Promise<unknown[][]> {
  const rows: unknown[][] = []
  const bounded = new BoundedRows({ bytes: MAX_ANSWER_BYTES, isFirstFree: true, beside: 0 })
  const run = (): Promise<void> =>
    new Promise((resolve, reject) => {
      let failure: Error | undefined
      let selects = 0
      const fail = (error: Error): void => {
        failure ??= error
      }
      const settled = (): void => {
        connection.off('error', lost)
        if (failure === undefined) resolve()
        else reject(failure)
      }
      // The driver tells a command without a callback nothing of a lost connection, and emits no end for it.
      const lost = (error: Error): void => {
        fail(error)
        settled()
      }
      connection.on('error', lost)
      connection
        .execute({ sql, rowsAsArray: true, values: parametersOf(values) })
        .on('fields', (fields: readonly unknown[] | undefined) => {
          if (fields === undefined) return
          selects += 1
          if (selects > 1) fail(new TypeError(`The procedure ${name} answers more than one set of rows`))
          else if (fields.length !== columns.length)
            fail(new TypeError(`The procedure ${name} selects ${fields.length} columns, not ${columns.length}`))
        })
        .on('result', (row: unknown) => {
          if (failure !== undefined || !Array.isArray(row)) return
          rows.push(row)
          if (rows.length > maxRows) fail(new RangeError(`The procedure ${name} answers more than ${maxRows} rows`))
          else if (!bounded.holds(bytesOf(row))) fail(bounded.tooLarge())
        })
        .on('error', fail)
        .on('end', settled)
    })
  try {
    await observed({ sql, system: systemOf(connection), values, rows: () => rows.length }, run)
  } catch (error) {
    if (classifyMysqlError(error) !== 'forbidden') throw error
    const reason = error instanceof Error ? error.message : undefined
    throw new DomainError('state.invalid', 'A rule of the database does not allow this call.', { cause: error, reason })
  }
  return rows
}
