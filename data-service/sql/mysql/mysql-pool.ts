import type { Connection } from 'mysql2'
import type { Sequelize } from 'sequelize'
import { beforeAbort } from '../before-abort.js'

/** The connections of Sequelize's pool, taken and given back one piece of work at a time. */
export class MysqlPool {
  readonly #manager: Sequelize['connectionManager']
  /** What goes on after its caller has gone: stopping statements, taking connections back. */
  readonly #endings = new Set<Promise<void>>()

  constructor(sequelize: Sequelize) {
    this.#manager = sequelize.connectionManager
  }

  /** A free connection. Rejects with the signal's reason once that is aborted. */
  async acquire(signal: AbortSignal): Promise<Connection> {
    signal.throwIfAborted()
    // The mysql dialect's connections are those of the module it was given (connect.ts).
    const waiting = this.#manager.getConnection({ type: 'write' }) as Promise<Connection>
    try {
      return await beforeAbort(waiting, signal)
    } catch (error) {
      // The pool keeps its place in the line: what comes then goes straight back.
      if (signal.aborted) this.#later(waiting.then((connection) => this.#manager.releaseConnection(connection)))
      throw error
    }
  }

  /** Gives a connection back; one whose statement is being stopped goes once that is done. */
  giveBack(connection: Connection, stopped?: Promise<void>): void {
    if (stopped === undefined) this.#manager.releaseConnection(connection)
    else this.#later(stopped.then(() => this.#manager.destroyConnection(connection)))
  }

  /** Closes a connection whose state nobody knows. The server rolls back what it had not committed. */
  discard(connection: Connection): void {
    connection.destroy()
    this.#later(this.#manager.destroyConnection(connection))
  }

  /** Waits for what still goes on; the pool itself is Sequelize's to close. */
  async settle(): Promise<void> {
    await Promise.all(this.#endings)
  }

  #later(work: Promise<void>): void {
    const ending = work
      .catch(() => undefined)
      .then(() => {
        this.#endings.delete(ending)
      })
    this.#endings.add(ending)
  }
}
