import { PassThrough } from 'node:stream'
import mysql2, { type Connection, type QueryError } from 'mysql2'
import { InnerMembers, type InnerPackage } from '../../../../../shared/inner-members.js'
import { messageOf } from '../../../../../shared/start-error.js'
import type { DriverField } from './mysql-result-columns.js'

// The inner members of mysql2 that mysql-pipeline.ts and mysql-rows.ts use. docs/decisions/031, 035 and 053 have the reasons.

export const MYSQL2: InnerPackage = { name: 'mysql2', tested: '3.24.5' }

/** A connection. */
export interface InnerConnection {
  addCommand(command: InnerCommand): InnerCommand
  /** Of the next packet. The answer to every command begins at 1. */
  sequenceId: number
  write(packet: Buffer): void
  /** The prepared statements of the connection. */
  readonly _statements: PreparedStatements
  readonly constructor: ConnectionClass
  /** The types have the text alone. The driver finds a statement by its text and its options. */
  unprepare(statement: { readonly sql: string; readonly rowsAsArray: boolean }): unknown
}

interface PreparedStatements {
  /** Asking for a statement makes it the one used last. */
  get(key: string): object | undefined
}

type ConnectionClass = (new (...args: never[]) => unknown) & StatementKeys

interface StatementKeys {
  statementKey(options: Omit<PreparedRun, 'values'>): string
}

/** `config` of a connection. */
interface InnerConfig {
  /** Capabilities of the protocol that the connection asked for. */
  readonly clientFlags: number
}

/** What the driver sends and reads the answer of. `execute` returns whether nothing more is to be read. */
export interface InnerCommand {
  execute(packet: unknown, connection: InnerConnection): boolean
  onResult?: ((error: Error) => void) | undefined
}

/** The command that prepares a statement. It gives the statement to the command that runs it. */
interface PrepareCommand {
  /** No other command has it. */
  readonly parameterDefinitions?: object
}

/** The command that runs a prepared statement. What it gives to a row parser, and takes of it, is not probed. */
interface ExecuteCommand {
  /** The driver makes an instance of the class for each result, and asks it for each row. */
  buildParserFromFields(fields: readonly DriverField[], connection: unknown): new () => RowParser
}

export interface RowParser {
  next(packet: RowPacket, fields: readonly DriverField[], options: object): unknown
}

/** The bytes of a row. The driver uses one object for all rows. */
export interface RowPacket {
  readonly buffer: Buffer
  readonly start: number
  readonly end: number
}

/** A prepared statement as the driver takes it. */
export interface PreparedRun {
  readonly sql: string
  readonly rowsAsArray?: true
  readonly values: unknown[]
}

export type Answered<Answer> = (error: QueryError | null, answer: Answer) => void

/** The class of the command that runs a prepared statement. */
export type ExecuteClass = new (
  options: PreparedRun & { readonly statement: object },
  answered: Answered<never>
) => InnerCommand

export const CONNECTION = new InnerMembers<InnerConnection>({
  addCommand: 'function',
  sequenceId: 'number',
  write: 'function',
  _statements: 'object',
  constructor: 'function',
  unprepare: 'function'
})
const STATEMENTS = new InnerMembers<PreparedStatements>({ get: 'function' })
const STATEMENT_KEYS = new InnerMembers<StatementKeys>({ statementKey: 'function' })
export const CONFIG = new InnerMembers<InnerConfig>({ clientFlags: 'number' })
const COMMAND = new InnerMembers<InnerCommand>({ execute: 'function', onResult: 'function' })
export const PREPARE_COMMAND = new InnerMembers<PrepareCommand>({ parameterDefinitions: 'object' })
export const EXECUTE = new InnerMembers<ExecuteCommand>({ buildParserFromFields: 'function' })

/** The inner members that the driver lacks, found on a connection without a server. Empty if it has all of them. */
export function missingMembers(driver: Pick<typeof mysql2, 'createConnection'> = mysql2): readonly string[] {
  let connection: Connection | undefined
  try {
    connection = driver.createConnection({ stream: new PassThrough(), connectTimeout: 0 })
    return [...missingInConnection(connection), ...missingInCommands(connection)]
  } catch (error) {
    return [`what the probe needs (${messageOf(error)})`]
  } finally {
    connection?.destroy()
  }
}

function missingInConnection(connection: Connection): readonly string[] {
  const { _statements: statements, constructor } = CONNECTION.of(connection)
  return [
    ...memberNames('Connection', CONNECTION.missingIn(connection)),
    ...memberNames('Connection._statements', STATEMENTS.missingIn(statements)),
    ...memberNames('Connection', STATEMENT_KEYS.missingIn(constructor)),
    ...memberNames('Connection.config', CONFIG.missingIn(connection.config))
  ]
}

/** Looks at the commands that a prepared statement makes, which mysql-pipeline.ts takes in the same way. */
function missingInCommands(connection: Connection): readonly string[] {
  const commands: InnerCommand[] = []
  CONNECTION.of(connection).addCommand = (command) => {
    commands.push(command)
    return command
  }
  connection.execute('SELECT 7', () => undefined)
  const [preparation, execute] = commands
  return [
    ...memberNames('Prepare', [...COMMAND.missingIn(preparation), ...PREPARE_COMMAND.missingIn(preparation)]),
    ...memberNames('Execute', [...COMMAND.missingIn(execute), ...EXECUTE.missingIn(execute)])
  ]
}

function memberNames(object: string, members: readonly string[]): readonly string[] {
  return members.map((member) => `${object}.${member}`)
}
