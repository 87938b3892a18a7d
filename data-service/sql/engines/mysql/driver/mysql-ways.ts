import type { Connection, QueryResult } from 'mysql2'
import { untested, type Untested } from '../../../../../shared/inner-members.js'
import type { AnswerBytes } from '../../answer-bytes.js'
import type { ShownStatement } from '../../statement.js'
import { type Answered, CONNECTION, missingMembers, MYSQL2, type PreparedRun } from './mysql-inner.js'
import { sentInOneGo, runPrepared } from './mysql-pipeline.js'
import { keepRows } from './mysql-rows.js'

/** How statements are handed to the driver. Both ways have the same answers. */
export interface DriverWay {
  /**
   * Sends what `issue` tells the connection to do, and returns what it returns. The server runs the statements one after the
   * other, each whatever became of the one before it.
   */
  pipelined<Issued>(connection: Connection, issue: () => Issued): Issued
  /** Runs a prepared statement, which is prepared first where the connection has not done so. Returns the driver's command. */
  runPrepared<Answer extends QueryResult>(connection: Connection, run: PreparedRun, answered: Answered<Answer>): object
  /** Makes a command answer each row as a MysqlRow, and none where `bytes` does not hold it; or leaves it as it is. */
  keepRows(command: object, statement: ShownStatement, bytes?: AnswerBytes): void
  /** Closes a prepared statement, where the driver has a way to. */
  unprepare(connection: Connection, statement: { readonly sql: string; readonly rowsAsArray: boolean }): void
}

/** By inner members of the driver: statements are sent together, and rows stay the bytes that the server sent. */
export const innerWay: DriverWay = {
  pipelined: sentInOneGo,
  runPrepared,
  keepRows,
  unprepare: (connection, statement) => {
    CONNECTION.of(connection).unprepare(statement)
  }
}

/**
 * By the public functions of the driver, which is slower: it sends a statement when the answer to the one before it is there,
 * and makes a value of every column. It closes a statement when its connection has prepared as many others as it keeps.
 */
export const publicWay: DriverWay = {
  pipelined: (_connection, issue) => issue(),
  runPrepared: (connection, run, answered) => connection.execute(run, answered),
  keepRows: () => undefined,
  unprepare: () => undefined
}

interface FoundDriver {
  readonly way: DriverWay
  /** Why the way is the public one; undefined for the driver that was tested. */
  readonly untested: Untested | undefined
}

let found: FoundDriver | undefined

/** The way that the installed driver takes. It is probed once. */
export function installedDriver(): FoundDriver {
  return (found ??= judged(untested(MYSQL2, missingMembers())))
}

/** Another version than the tested one may do something else by the same names, so it is used by its public functions. */
export function judged(reason: Untested | undefined): FoundDriver {
  return { way: reason === undefined ? innerWay : publicWay, untested: reason }
}
