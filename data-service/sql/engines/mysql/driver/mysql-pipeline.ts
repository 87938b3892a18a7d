import type { Connection } from 'mysql2'

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
  readonly stream: { cork(): void; uncork(): void }
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
      driver.stream.cork()
      // What could not be prepared sends nothing, and has told its caller why.
      this.#waiting = this.#waiting.filter((one) => !one.execute(undefined, driver))
      driver.stream.uncork()
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
