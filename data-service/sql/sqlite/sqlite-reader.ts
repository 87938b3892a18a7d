import { setImmediate } from 'node:timers/promises'
import type { Value } from '../../entity/value.js'
import type { BoundValues } from '../conditions.js'
import type { Reader, ReadSession, Snapshot } from '../reader.js'
import { decodeRow, type Statement, valuesOf } from '../statement.js'
import { unreachable } from '../unreachable.js'
import { SqliteConnection } from './sqlite-connection.js'
import { untilFree } from './until-free.js'

/**
 * Reads of the embedded database, on connections of their own so that no open transaction shows through. The driver is
 * synchronous: an aborted signal takes effect between two statements.
 */
export class SqliteReader implements Reader {
  readonly #file: string
  readonly #what: string
  #shared: SqliteConnection | undefined
  readonly #snapshots = new Set<SqliteSnapshot>()
  /** Connections of snapshots that ended. The driver has no way to close one's files before the garbage collector. */
  readonly #idle: SqliteConnection[] = []
  #turn: Promise<unknown> = Promise.resolve()

  constructor(file: string, what: string) {
    this.#file = file
    this.#what = what
  }

  async read<Result>(signal: AbortSignal, work: (session: ReadSession) => Promise<Result>): Promise<Result> {
    try {
      signal.throwIfAborted()
      const connection = this.#connection()
      return await work({ run: (statement, values) => rowsOf(connection, { statement, values, signal }) })
    } catch (error) {
      throw unreachable(error, this.#what)
    }
  }

  snapshot(signal: AbortSignal): Promise<Snapshot> {
    return Promise.resolve().then(() => this.#snapshot(signal))
  }

  #snapshot(signal: AbortSignal): Snapshot {
    try {
      signal.throwIfAborted()
      const connection = this.#idle.pop() ?? SqliteConnection.openReadOnly(this.#file)
      try {
        // Deferred: the first SELECT fixes what all of them see, and no writer waits for it.
        connection.execute('BEGIN')
      } catch (error) {
        connection.close()
        throw error
      }
      const snapshot = new SqliteSnapshot({
        connection,
        signal,
        what: this.#what,
        turn: () => this.#nextTurn(),
        closed: () => {
          this.#snapshots.delete(snapshot)
          this.#takeBack(connection)
        }
      })
      this.#snapshots.add(snapshot)
      return snapshot
    } catch (error) {
      throw unreachable(error, this.#what)
    }
  }

  /** Resolves in a turn of the event loop that no other snapshot has, so that other requests go on between them. */
  #nextTurn(): Promise<unknown> {
    this.#turn = this.#turn.then(() => setImmediate())
    return this.#turn
  }

  #takeBack(connection: SqliteConnection): void {
    try {
      connection.reset()
      this.#idle.push(connection)
    } catch {
      connection.close()
    }
  }

  async close(): Promise<void> {
    for (const snapshot of this.#snapshots) await snapshot.close()
    for (const connection of this.#idle.splice(0)) connection.close()
    this.#shared?.close()
    this.#shared = undefined
  }

  /** Opened by the first read that finds the file. */
  #connection(): SqliteConnection {
    this.#shared ??= SqliteConnection.openReadOnly(this.#file)
    return this.#shared
  }
}

interface SnapshotOf {
  readonly connection: SqliteConnection
  readonly signal: AbortSignal
  readonly what: string
  /** Resolves when the next statement may run. */
  readonly turn: () => Promise<unknown>
  readonly closed: () => void
}

/** Rows that one statement reads while every other request waits. */
const BATCH = 250

class SqliteSnapshot implements Snapshot {
  readonly batch = BATCH
  readonly #of: SnapshotOf
  #open = true

  constructor(of: SnapshotOf) {
    this.#of = of
  }

  async run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    const { connection, signal, what, turn } = this.#of
    await turn()
    try {
      if (!this.#open) throw new Error('The snapshot was closed')
      return await rowsOf(connection, { statement, values, signal })
    } catch (error) {
      throw unreachable(error, what)
    }
  }

  close(): Promise<void> {
    if (this.#open) this.#of.closed()
    this.#open = false
    return Promise.resolve()
  }
}

interface Run {
  readonly statement: Statement
  readonly values: BoundValues
  readonly signal: AbortSignal
}

async function rowsOf(connection: SqliteConnection, { statement, values, signal }: Run): Promise<Value[][]> {
  const parameters = valuesOf(statement, values)
  const rows = await untilFree(() => connection.rows(statement.sql, parameters, statement.exact), signal)
  return rows.map((row) => decodeRow(statement, row))
}
