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
      const connection = SqliteConnection.openReadOnly(this.#file)
      const snapshot = new SqliteSnapshot({
        connection,
        signal,
        what: this.#what,
        closed: () => this.#snapshots.delete(snapshot)
      })
      this.#snapshots.add(snapshot)
      // Deferred: the first SELECT fixes what all of them see, and no writer waits for it.
      connection.execute('BEGIN')
      return snapshot
    } catch (error) {
      throw unreachable(error, this.#what)
    }
  }

  async close(): Promise<void> {
    for (const snapshot of this.#snapshots) await snapshot.close()
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
  readonly closed: () => void
}

class SqliteSnapshot implements Snapshot {
  readonly #connection: SqliteConnection
  readonly #signal: AbortSignal
  readonly #what: string
  readonly #closed: () => void

  constructor({ connection, signal, what, closed }: SnapshotOf) {
    this.#connection = connection
    this.#signal = signal
    this.#what = what
    this.#closed = closed
  }

  async run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    // An export as fast as its reader would otherwise never let another request in.
    await setImmediate()
    try {
      return await rowsOf(this.#connection, { statement, values, signal: this.#signal })
    } catch (error) {
      throw unreachable(error, this.#what)
    }
  }

  close(): Promise<void> {
    this.#closed()
    this.#connection.close()
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
