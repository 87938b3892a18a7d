import { channel } from 'node:diagnostics_channel'
import { LRUCache } from 'lru-cache'
import type { Connection, QueryResult } from 'mysql2'
import {
  type Answered,
  CONNECTION,
  type ExecuteClass,
  type InnerCommand,
  type InnerConnection,
  PREPARE_COMMAND,
  type PreparedRun
} from './mysql-inner.js'

// How statements are handed to the driver. Its public functions send one statement at a time, and do for each run what could
// be done once.

/**
 * Sends what `issue` tells the connection to do in one go: the server runs the statements one after the other, and the
 * answers come in this order. Otherwise the driver sends a statement when the answer to the one before it is there, each
 * with a system call and a round trip of its own. The server runs a statement whatever became of the one before it.
 *
 * Statements that this connection has not prepared yet are prepared before, one after the other.
 */
export function sentInOneGo<Issued>(connection: Connection, issue: () => Issued): Issued {
  const driver = CONNECTION.of(connection)
  // Within another call all is sent with what that one sends. A connection that was closed has a function of its own in this
  // place, which rejects every command.
  if (Object.hasOwn(driver, 'addCommand')) return issue()
  const commands: InnerCommand[] = []
  driver.addCommand = (command) => {
    commands.push(command)
    return command
  }
  try {
    return issue()
  } finally {
    Reflect.deleteProperty(driver, 'addCommand')
    const isPreparation = (one: InnerCommand): boolean => PREPARE_COMMAND.of(one).parameterDefinitions !== undefined
    for (const one of commands.filter(isPreparation)) driver.addCommand(one)
    driver.addCommand(new Pipeline(commands.filter((one) => !isPreparation(one))))
  }
}

/** Several commands that the driver treats as one. */
class Pipeline implements InnerCommand {
  /** Those whose answer is not complete, in their order. Before this is sent that is all of them. */
  #waiting: InnerCommand[]

  constructor(commands: InnerCommand[]) {
    this.#waiting = commands
  }

  execute(packet: unknown, driver: InnerConnection): boolean {
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
function writtenTogether(driver: InnerConnection, write: () => void): void {
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

/** The driver has no other place where the class is found than its first instance. */
let executeClass: ExecuteClass | undefined

/** Whether somebody follows the statements that the driver runs, which only its `execute` tells. */
const tracing = channel('tracing:mysql2:execute:start')

/**
 * Runs a prepared statement, which is prepared first where the connection has not done so. For one that is prepared,
 * `execute` of the driver would make two commands, copy the options twice, and look for it by a text that it joins anew.
 */
export function runPrepared<Answer extends QueryResult>(
  connection: Connection,
  run: PreparedRun,
  answered: Answered<Answer>
): object {
  const driver = CONNECTION.of(connection)
  const statement = driver._statements.get(statementKey(driver, run))
  if (statement === undefined || executeClass === undefined || tracing.hasSubscribers) {
    const command = connection.execute(run, answered)
    executeClass ??= command.constructor as ExecuteClass
    return command
  }
  return driver.addCommand(new executeClass({ ...run, statement }, answered))
}

const KEYS = 1024
const statementKeys = {
  arrays: new LRUCache<string, string>({ max: KEYS }),
  plain: new LRUCache<string, string>({ max: KEYS })
}

/** The driver's key of a statement. Kept, because a text that was just joined has to be hashed when it is looked for. */
function statementKey(driver: InnerConnection, { sql, rowsAsArray }: PreparedRun): string {
  const known = rowsAsArray === true ? statementKeys.arrays : statementKeys.plain
  const kept = known.get(sql)
  if (kept !== undefined) return kept
  const key = driver.constructor.statementKey({ sql, ...(rowsAsArray === true ? { rowsAsArray } : {}) })
  known.set(sql, key)
  return key
}
