import type { BoundValues } from '../conditions.js'
import type { ReadSession } from '../reader.js'
import type { StatementText } from '../statement.js'

/** What a statement did. */
export interface Changed {
  readonly rows: number
  /** The number that the database gave a single inserted row, as the driver has it. */
  readonly insertedId: string | number | bigint
}

/** What a transaction's statements are sent to. */
export interface WriteSession extends ReadSession {
  change(text: StatementText, values: BoundValues): Promise<Changed>
}

/** A transaction that has begun, on a connection that is its own until it ends. */
export interface OpenTransaction extends WriteSession {
  /** Index of the Galera node that the transaction runs on; undefined where no other node can take writes. */
  readonly node: number | undefined
  /** As `change`, but waits no longer than some whole seconds for a lock; the error tells as `troubleOf` says. */
  changeWithin(seconds: number, text: StatementText, values: BoundValues): Promise<Changed>
  /** Not to be stopped. A rejection leaves no transaction open, and tells by `troubleOf` what became of it. */
  commit(): Promise<void>
  /** Undoes everything and lets the connection go, whatever state that is in. Never rejects. */
  rollback(): Promise<void>
}

export interface Beginning {
  /** Stops whatever statement of the transaction runs when it is aborted, and its beginning. */
  readonly signal: AbortSignal
  /** Longest wait for the one writer's place in the embedded database, in ms; then the error tells of a lock-wait. */
  readonly patience: number
}

/** A COMMIT of which nobody can tell whether it will last. */
export class UnsureCommit extends Error {
  override readonly name = 'UnsureCommit'
}

/** The transactions of one database. */
export interface Transactions {
  begin(beginning: Beginning): Promise<OpenTransaction>
  /** Waits for what still runs. */
  close(): Promise<void>
}
