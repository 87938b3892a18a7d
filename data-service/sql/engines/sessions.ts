import type { Cancellation } from '../../../shared/transport/cancellation.js'
import { DomainError } from '../../../shared/errors.js'
import type { Value } from '../../entity/fields/field.js'
import type { AnswerBytes, RowsBound } from './answer-bytes.js'
import type { BoundValues, CsvRow, FoundRow, ShownStatement, Statement, StatementText } from './statement.js'

/** One connection for the duration of one piece of work. */
export interface ReadSession {
  /** The decoded rows, with values in the order of the statement's columns. */
  run(statement: Statement, values: BoundValues): Promise<Value[][]>
  /**
   * The same rows, for answers that show most of their values as JSON. Rejects with AnswerTooLarge for rows that have more
   * bytes than `bytes` holds.
   */
  rows(statement: ShownStatement, values: BoundValues, bytes?: AnswerBytes): Promise<FoundRow[]>
}

/** A connection of a Reader. */
export interface ReaderSession extends ReadSession {
  /** As `run`, for a text that the service did not write: the database lets it change nothing. */
  runReadOnly(statement: Statement, values: BoundValues): Promise<Value[][]>
}

/** Runs the statements of a transaction. */
export interface WriteSession extends ReadSession {
  change(text: StatementText, values: BoundValues): Promise<Changed>
}

/** A statement of a batch: one that reads, in either form, or one that changes rows. */
export type BatchStatement =
  | {
      readonly kind: 'changeWithin'
      readonly seconds: number
      readonly text: StatementText
      readonly values: BoundValues
    }
  | { readonly kind: 'run'; readonly statement: Statement; readonly values: BoundValues }
  | { readonly kind: 'rows'; readonly statement: ShownStatement; readonly values: BoundValues }
  | { readonly kind: 'change'; readonly text: StatementText; readonly values: BoundValues }

/** What the member of `OpenTransaction` that has the statement's kind for its name resolves to. */
export type BatchOutcome = Value[][] | FoundRow[] | Changed

/** The outcome of a statement that changes rows. */
export interface Changed {
  readonly rows: number
  /** The number that the database gave a single inserted row, in the driver's form. */
  readonly insertedId: string | number | bigint
}

/**
 * Runs compiled statements on one database. An aborted signal stops the running statement in the database and rejects
 * with the signal's reason. Errors are those of `toDomainError`.
 */
export interface Reader {
  readonly read: <Result>(signal: Cancellation, work: (session: ReaderSession) => Promise<Result>) => Promise<Result>
  /** Whether a read of the caller might wait until another one of the same caller has ended. */
  isFull(signal: Cancellation): boolean
  /** Opens a connection on which every statement sees the same state of the database. */
  snapshot(signal: AbortSignal): Promise<Snapshot>
  /** Waits for running work. */
  close(): Promise<void>
}

/** A statement of a snapshot, and how many bytes its rows may have. */
export interface BoundBatch {
  readonly statement: ShownStatement
  readonly values: BoundValues
  readonly bytes: RowsBound
}

/** A connection on which every statement sees the same state of the database. */
export interface Snapshot {
  /** Rows to read with one statement, at most. */
  readonly batch: number
  /**
   * Runs a statement and hands over each row as it comes, so that no more than a row is held here. Rejects with what
   * `take` throws, and with AnswerTooLarge; the rows after that are passed over.
   */
  each(batch: BoundBatch, take: (row: CsvRow) => void): Promise<void>
  /** Ends the snapshot in any state. Calling it twice is harmless. */
  close(): Promise<void>
}

/** The transactions of one database. Errors are the driver's own. */
export interface Transactions {
  readonly classifyError: (error: unknown) => ErrorKind
  begin(options: BeginOptions): Promise<OpenTransaction>
  /**
   * Resolves when all that readers see is on the disk, where that is left to this process: a server sees to it itself. Rejects
   * with an error of the kind `commitUnknown`.
   */
  flushed(): Promise<void>
  /** Waits for running work. */
  close(): Promise<void>
}

export interface BeginOptions {
  /** Aborting it stops the running statement of the transaction, also the one that begins it. */
  readonly signal: Cancellation
  /** Longest wait, in ms, for the place of a single writer. After it the error is a `lockTimeout`. */
  readonly timeout: number
}

/** A transaction that has begun. It has a connection of its own until it ends. */
export interface OpenTransaction extends WriteSession {
  /** The index of the transaction's node in its cluster. undefined if no other node can take writes. */
  readonly node: number | undefined
  /** Whether its database knows what `SqlDialect.guards` are made of, and statements are sent together. */
  readonly isGuarding: boolean
  /**
   * As `change`, but it waits for a lock at most the given whole seconds. After them the error is a `lockTimeout`. If it
   * rejects as the first statement of its transaction, the change may have been committed all the same: it has to be one
   * that does no harm then.
   */
  changeWithin(seconds: number, text: StatementText, values: BoundValues): Promise<Changed>
  /**
   * Runs statements in this order and returns their outcomes in the same order. They may be sent together, before the answer
   * to any of them is there. So a statement may run although one before it failed and the server has rolled the transaction
   * back: every change but the first must be one of `SqlDialect.insertAfterChange`, have a guard of `SqlDialect.guards`, or
   * come after statements that read only.
   */
  batch(statements: readonly BatchStatement[]): Promise<readonly PromiseSettledResult<BatchOutcome>[]>
  /**
   * Runs `last`, if there is one, and commits. It rolls back and rejects if that change fails or changes another number of
   * rows than one. Cannot be aborted. After a rejection no transaction is open, and the error's kind says what happened to it.
   */
  commit(last?: LastChange): Promise<void>
  /** Rolls back and releases the connection in any state. Never rejects. */
  rollback(): Promise<void>
}

/** The last change of a transaction, of exactly one row. It may be sent together with the COMMIT. */
export interface LastChange {
  readonly text: StatementText
  readonly values: BoundValues
}

/** Throws for a last change of no row, or of several. */
export function assertOneRow(rows: number): void {
  if (rows !== 1) throw new TypeError(`The last statement of a transaction has changed ${rows} rows`)
}

/** `OpenTransaction.batch` with each statement sent after the answer to the one before. The first failure ends it. */
export async function oneByOne(
  statements: readonly BatchStatement[],
  session: BatchSession
): Promise<PromiseSettledResult<BatchOutcome>[]> {
  const outcomes: PromiseSettledResult<BatchOutcome>[] = []
  for (const one of statements) {
    const last = outcomes.at(-1)
    if (last?.status === 'rejected') outcomes.push(last)
    else outcomes.push(...(await Promise.allSettled([runOne(one, session)])))
  }
  return outcomes
}

type BatchSession = Pick<OpenTransaction, BatchStatement['kind']>

/** Runs one statement of a batch. */
function runOne(one: BatchStatement, session: BatchSession): Promise<BatchOutcome> {
  switch (one.kind) {
    case 'run':
      return session.run(one.statement, one.values)
    case 'rows':
      return session.rows(one.statement, one.values)
    case 'change':
      return session.change(one.text, one.values)
    case 'changeWithin':
      return session.changeWithin(one.seconds, one.text, one.values)
  }
}

/**
 * The kind of an error:
 * - `deadlock`: the database chose this transaction as the victim; on a Galera cluster also a failed certification
 * - `lostRace`: another transaction was first, for any other reason
 * - `lockTimeout`: another transaction or process holds a lock for too long
 * - `constraint`: a unique or foreign key forbids the change
 * - `forbidden`: a CHECK constraint or a trigger, such as the owner of a table gives it, forbids the change
 * - `connectionLost`: the connection broke, or the server ended it
 * - `commitUnknown`: a COMMIT was sent, and it is unknown whether it took effect
 * - `unreachable`: the database cannot be reached at the moment
 * - `unavailable`: the database is reached and rejects statements for a temporary reason, such as a full disk
 * - `other`: a defect of this service
 */
export type ErrorKind =
  | 'deadlock'
  | 'lostRace'
  | 'lockTimeout'
  | 'constraint'
  | 'forbidden'
  | 'connectionLost'
  | 'commitUnknown'
  | 'unreachable'
  | 'unavailable'
  | 'other'

/** It is unknown whether a COMMIT took effect. */
export class CommitUnknown extends Error {
  override readonly name = 'CommitUnknown'
}

/**
 * The error that callers see: `upstream.unavailable` for a database that cannot be reached or rejects statements for a
 * temporary reason. Any other error is returned unchanged. `what` names the database to callers.
 */
export function toDomainError(error: unknown, kind: ErrorKind, what: string): unknown {
  switch (kind) {
    case 'unreachable':
    case 'connectionLost':
      return upstreamUnavailable(`${what} cannot be reached. Try again.`, error)
    case 'lockTimeout':
    case 'unavailable':
      return upstreamUnavailable(`${what} cannot do this just now. Try again.`, error)
    case 'deadlock':
    case 'lostRace':
    case 'constraint':
    case 'forbidden':
    case 'commitUnknown':
    case 'other':
      return error
  }
}

export function upstreamUnavailable(detail: string, cause: unknown): DomainError {
  return new DomainError('upstream.unavailable', detail, { retryAfter: 1, cause })
}
