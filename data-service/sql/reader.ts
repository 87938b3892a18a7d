import type { Value } from '../entity/value.js'
import type { BoundValues } from './conditions.js'
import type { Statement } from './statement.js'

/** One connection for as long as one piece of work takes. */
export interface ReadSession {
  /** Rows decoded, in the order of the statement's columns. */
  run(statement: Statement, values: BoundValues): Promise<Value[][]>
}

/** A connection of its own on which every statement sees the same state of the database. */
export interface Snapshot extends ReadSession {
  /** Rows to ask for with one statement. */
  readonly batch: number
  /** Ends it, whatever state it is in. Calling it twice is harmless. */
  close(): Promise<void>
}

/**
 * Runs compiled statements on one database. An aborted signal stops the running statement in the database and rejects
 * with the signal's reason; a database that cannot be reached is DomainError `upstream.unavailable`.
 */
export interface Reader {
  read<Result>(signal: AbortSignal, work: (session: ReadSession) => Promise<Result>): Promise<Result>
  snapshot(signal: AbortSignal): Promise<Snapshot>
  /** Waits for what still runs. */
  close(): Promise<void>
}
