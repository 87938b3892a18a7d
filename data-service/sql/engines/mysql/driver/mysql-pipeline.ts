import { channel } from 'node:diagnostics_channel'
import { LRUCache } from 'lru-cache'
import type { Connection, QueryError } from 'mysql2'

// How statements are handed to the driver. Its public functions send one statement at a time, and do for each run what could
// be done once. Its types have only that public part.

/**
 * Sends what `issue` tells the connection to do in one go: the server runs the statements one after the other, and the
 * answers come in this order. Otherwise the driver sends a statement when the answer to the one before it is there, each
 * with a system call and a round trip of its own. The server runs a statement whatever became of the one before it.
 *
 * Statements that this connection has not prepared yet are prepared before, one after the other.
 */
export function pipelined<Issued>(connection: Connection, issue: () => Issued): Issued {
  // The driver's types have only its public part.
  const driver = connection as unknown as PipelinedDriver
  // Within another call all is sent with what that one sends. A connection that was closed has a function of its own in this
  // place, which rejects every command.
  if (Object.hasOwn(driver, 'addCommand')) return issue()
  const commands: DriverCommand[] = []
  driver.addCommand = (command) => {
    commands.push(command)
    return command
  }
  try {
    return issue()
  } finally {
    Reflect.deleteProperty(driver, 'addCommand')
    const isPreparation = (one: DriverCommand): boolean => one.parameterDefinitions !== undefined
    for (const one of commands.filter(isPreparation)) driver.addCommand(one)
    driver.addCommand(new Pipeline(commands.filter((one) => !isPreparation(one))))
  }
}

/** What the driver sends and reads the answer of. `execute` returns whether nothing more is to be read. */
interface DriverCommand {
  execute(packet: unknown, connection: PipelinedDriver): boolean
  onResult?: ((error: Error) => void) | undefined
  /** Of a preparation alone. It gives its statement to the command that runs it. */
  readonly parameterDefinitions?: unknown
}

interface PipelinedDriver {
  addCommand(command: DriverCommand): DriverCommand
  /** Of the next packet. The answer to every command begins at 1. */
  sequenceId: number
  write(packet: Buffer): void
}

/** Several commands that the driver treats as one. */
class Pipeline implements DriverCommand {
  /** Those whose answer is not complete, in their order. Before this is sent that is all of them. */
  #waiting: DriverCommand[]

  constructor(commands: DriverCommand[]) {
    this.#waiting = commands
  }

  execute(packet: unknown, driver: PipelinedDriver): boolean {
    if (packet === undefined) {
      // What could not be prepared sends nothing, and has told its caller why.
      const begin = (): void => {
        this.#waiting = this.#waiting.filter((one) => !one.execute(undefined, driver))
      }
      writtenTogether(driver, begin)
      driver.sequenceId = 1
    } else if (this.#waiting[0]?.execute(packet, driver) !== false) {
      this.#waiting.shift()
      driver.sequenceId = 1
    }
    return this.#waiting.length === 0
  }

  /** The driver calls it when the connection is lost, also while the statements are still being prepared. */
  onResult(error: Error): void {
    for (const one of this.#waiting.splice(0)) one.onResult?.(error)
  }
}

/** Hands what `write` makes the driver write to the socket as one piece, for which streams do the work of one. */
function writtenTogether(driver: PipelinedDriver, write: () => void): void {
  const packets: Buffer[] = []
  driver.write = (packet) => {
    packets.push(packet)
  }
  try {
    write()
  } finally {
    Reflect.deleteProperty(driver, 'write')
    const [first, ...others] = packets
    if (first !== undefined) driver.write(others.length === 0 ? first : Buffer.concat(packets))
  }
}

/** A prepared statement as the driver takes it. */
interface PreparedRun {
  readonly sql: string
  readonly rowsAsArray?: true
  readonly values: unknown[]
}

type Answered<Answer> = (error: QueryError | null, answer: Answer) => void

/** What the driver makes of `connection.execute`, once the statement is prepared. */
type ExecuteCommand = new (
  options: PreparedRun & { readonly statement: object },
  answered: Answered<never>
) => DriverCommand

/** The driver has no other place where the class is found than its first instance. */
let executeCommand: ExecuteCommand | undefined

/** Whether somebody follows the statements that the driver runs, which only its `execute` tells. */
const tracing = channel('tracing:mysql2:execute:start')

/**
 * Runs a prepared statement, which is prepared first where the connection has not done so. For one that is prepared,
 * `execute` of the driver would make two commands, copy the options twice, and look for it by a text that it joins anew.
 */
export function runPrepared<Answer>(
  connection: Connection,
  run: PreparedRun,
  answered: Answered<Answer>
): DriverCommand {
  const driver = connection as unknown as PreparingDriver
  const statement = driver._statements.get(statementKey(driver, run))
  if (statement === undefined || executeCommand === undefined || tracing.hasSubscribers) {
    const command: DriverCommand = driver.execute(run, answered)
    executeCommand ??= command.constructor as ExecuteCommand
    return command
  }
  return driver.addCommand(new executeCommand({ ...run, statement }, answered))
}

interface PreparingDriver extends PipelinedDriver {
  /** The statements that the connection has prepared. Asking for one makes it the one used last. */
  readonly _statements: { get(key: string): object | undefined }
  readonly constructor: { statementKey(options: Omit<PreparedRun, 'values'>): string }
  execute<Answer>(run: PreparedRun, answered: Answered<Answer>): DriverCommand
}

const KEYS = 1024
const keys = { arrays: new LRUCache<string, string>({ max: KEYS }), plain: new LRUCache<string, string>({ max: KEYS }) }

/** The driver's key of a statement. Kept, because a text that was just joined has to be hashed when it is looked for. */
function statementKey(driver: PreparingDriver, { sql, rowsAsArray }: PreparedRun): string {
  const known = rowsAsArray === true ? keys.arrays : keys.plain
  const kept = known.get(sql)
  if (kept !== undefined) return kept
  const key = driver.constructor.statementKey({ sql, ...(rowsAsArray === true ? { rowsAsArray } : {}) })
  known.set(sql, key)
  return key
}
