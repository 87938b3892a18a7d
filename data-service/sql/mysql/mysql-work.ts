import type { Connection, ResultSetHeader } from 'mysql2'
import type { Value } from '../../entity/value.js'
import { beforeAbort } from '../before-abort.js'
import type { BoundValues } from '../conditions.js'
import type { MysqlSettings } from '../database-url.js'
import type { ReadSession } from '../reader.js'
import { decodeRow, type Statement, type StatementText, valuesOf } from '../statement.js'
import { execute, executeChange } from './mysql-connection.js'
import { stopStatement } from './stop-statement.js'

interface WorkOn {
  readonly connection: Connection
  readonly settings: MysqlSettings
  readonly signal: AbortSignal
}

/** The statements of one piece of work on one connection. */
export class MysqlWork implements ReadSession {
  readonly #connection: Connection
  readonly #settings: MysqlSettings
  readonly #signal: AbortSignal
  #stopped: Promise<void> | undefined

  constructor({ connection, settings, signal }: WorkOn) {
    this.#connection = connection
    this.#settings = settings
    this.#signal = signal
  }

  /** Set once a statement was stopped: resolves when the server is done with it. The connection is of no more use. */
  get stopped(): Promise<void> | undefined {
    return this.#stopped
  }

  async run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    const rows = await this.#stoppable(() => execute(this.#connection, statement, valuesOf(statement, values)))
    return rows.map((row) => decodeRow(statement, row))
  }

  /** Runs a statement that changes rows. */
  change(text: StatementText, values: BoundValues): Promise<ResultSetHeader> {
    return this.#stoppable(() => executeChange(this.#connection, text, valuesOf(text, values)))
  }

  async #stoppable<Result>(send: () => Promise<Result>): Promise<Result> {
    this.#signal.throwIfAborted()
    const running = send()
    try {
      return await beforeAbort(running, this.#signal)
    } catch (error) {
      if (this.#signal.aborted) this.#stopped = stopStatement(this.#connection, this.#settings, running)
      throw error
    }
  }
}
