import type { Connection } from 'mysql2'
import type { Sequelize } from 'sequelize'
import { type Cancellation, throwIfAborted, raceAbort } from '../../../../shared/transport/cancellation.js'
import { renewal } from './driver/mysql-calls.js'
import { PoolTurns, type Turn } from './pool-turns.js'

/** A connection that is taken. */
interface Taken {
  readonly turn: Turn
  /** By `performance.now`. */
  readonly since: number
}

/** The connections of Sequelize's pool. Each is taken for one piece of work, in the turn of its caller. */
export class MysqlPool {
  readonly #manager: Sequelize['connectionManager']
  readonly #turns: PoolTurns
  readonly #taken = new Map<Connection, Taken>()
  /** Work that continues without its caller: stopping statements, releasing connections. */
  readonly #pending = new Set<Promise<void>>()

  constructor(sequelize: Sequelize, connections: number) {
    this.#manager = sequelize.connectionManager
    this.#turns = new PoolTurns(connections)
  }

  /** Pieces of work that wait for their turn. */
  get waiting(): number {
    return this.#turns.waiting
  }

  /** As PoolTurns says. */
  isFull(signal: Cancellation): boolean {
    return this.#turns.isFull(signal)
  }

  /** Takes a connection. Errors and `text` are as PoolTurns.enter says. */
  async acquire(signal: Cancellation, text?: string): Promise<Connection> {
    throwIfAborted(signal)
    const turn = await this.#turns.enter(signal, text)
    // Sequelize's connections are those of the module that it was given (mysql.ts).
    const waiting = this.#manager.getConnection({ type: 'write' }) as Promise<Connection>
    try {
      const connection = await raceAbort(waiting, signal)
      this.#taken.set(connection, { turn, since: performance.now() })
      return connection
    } catch (error) {
      // The request stays in the pool's queue, so the connection that it gets is released at once.
      const released = waiting.then((connection) => this.#manager.releaseConnection(connection))
      this.#later(released.finally(() => turn.leave()))
      throw error
    }
  }

  /** Releases a connection. If its statement is being stopped, it is closed after that. */
  release(connection: Connection, stopped?: Promise<void>): void {
    const leave = this.#ended(connection, { isStopped: stopped !== undefined })
    if (stopped !== undefined) {
      this.#later(stopped.then(() => this.#manager.destroyConnection(connection)).finally(leave))
      return
    }
    const renewed = renewal(connection)
    if (renewed !== undefined) {
      const released = renewed.then(
        () => this.#manager.releaseConnection(connection),
        () => this.#manager.destroyConnection(connection)
      )
      return this.#later(released.finally(leave))
    }
    try {
      this.#manager.releaseConnection(connection)
    } finally {
      leave()
    }
  }

  /** Closes a connection in an unknown state. The server rolls back what is not committed. */
  discard(connection: Connection): void {
    connection.destroy()
    const leave = this.#ended(connection, { isStopped: true })
    this.#later(this.#manager.destroyConnection(connection).finally(leave))
  }

  /** Waits for pending work. Sequelize closes the pool itself. */
  async settle(): Promise<void> {
    await Promise.all(this.#pending)
  }

  /** What gives its turn back, once the pool has the connection. */
  #ended(connection: Connection, how: { readonly isStopped: boolean }): () => void {
    const taken = this.#taken.get(connection)
    this.#taken.delete(connection)
    taken?.turn.ran(performance.now() - taken.since, how)
    return () => taken?.turn.leave()
  }

  #later(work: Promise<void>): void {
    const ending = work
      .catch(() => undefined)
      .then(() => {
        this.#pending.delete(ending)
      })
    this.#pending.add(ending)
  }
}
