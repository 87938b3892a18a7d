import { setTimeout as wait } from 'node:timers/promises'
import { type Cancellation, throwIfAborted, raceAbort } from '../../shared/transport/cancellation.js'
import { DomainError } from '../../shared/errors.js'
import type { Value } from '../entity/fields/field.js'
import { UnshownValue } from '../entity/fields/unshown.js'
import { CONFLICT_DETAIL } from '../plan/model/key-conflict.js'
import {
  type BatchOutcome,
  type BatchStatement,
  type Changed,
  type ErrorKind,
  type LastChange,
  type OpenTransaction,
  toDomainError,
  type Transactions,
  upstreamUnavailable,
  type WriteSession
} from './engines/sessions.js'
import type { BoundValues, FoundRow, ShownStatement, Statement, StatementText } from './engines/statement.js'

/** How often a transaction is tried before its race counts as lost. */
const MAX_TRIES = 5

/** The wait before the second try is at most twice this, in ms. The limit doubles for each further try, up to the sixth. */
const BACK_OFF_MS = 10
const MAX_BACK_OFF_DOUBLINGS = 5

interface TransactionOptions {
  readonly transactions: Transactions
  /** The database's name in errors. */
  readonly what: string
  /** A random number from 0 up to 1. */
  readonly random: () => number
  /** How often a transaction is tried after deadlocks, 5 by default. For all other reasons it is at most 5 times. */
  readonly tries?: number
}

/** Work that may be repeated, each time in a new transaction. */
export interface Work<Result> {
  run(transaction: TransactionAttempt): Promise<Result>
  /** Whether a repetition is harmless, as with an idempotency key that shows that the work was done. Asked if the COMMIT is in doubt. */
  isRepeatable(): boolean
}

/**
 * Runs work in a transaction, and again if it loses a race. Errors are as WriteStore says; a DomainError whose cause is the
 * failure of a statement that nothing else explains is passed on.
 */
export async function runTransaction<Result>(
  { transactions, what, random, tries: maxTries = MAX_TRIES }: TransactionOptions,
  signal: Cancellation,
  work: Work<Result>
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    throwIfAborted(signal)
    const attempt = new TransactionAttempt(transactions, signal)
    try {
      return await complete(attempt, work)
    } catch (thrown) {
      const error = attempt.failureOr(thrown)
      const kind = transactions.classifyError(error)
      const isLast = tries >= (kind === 'deadlock' ? maxTries : Math.min(MAX_TRIES, maxTries))
      const isSafe = !attempt.isCommitting || work.isRepeatable()
      const mayBeExplained = kind === 'other' || kind === 'forbidden' || kind === 'constraint'
      if (mayBeExplained && thrown instanceof DomainError && thrown.cause === error) throw thrown
      if (isLast || !isTriedAgain(kind, isSafe)) throw errorForCaller(error, { kind, isSafe, what })
    }
    // An abort ends the wait. The next attempt then rejects with the signal's reason.
    const backOff = wait(random() * BACK_OFF_MS * 2 ** Math.min(tries, MAX_BACK_OFF_DOUBLINGS))
    await raceAbort(backOff, signal).catch(() => undefined)
  }
}

async function complete<Result>(attempt: TransactionAttempt, work: Work<Result>): Promise<Result> {
  try {
    const result = await work.run(attempt)
    await attempt.commit()
    return result
  } catch (error) {
    await attempt.rollback()
    throw error
  }
}

/** `isSafe` says that a second try does no harm. */
function isTriedAgain(kind: ErrorKind, isSafe: boolean): boolean {
  switch (kind) {
    case 'deadlock':
    case 'lostRace':
    case 'lockTimeout':
      return true
    case 'connectionLost':
    case 'commitUnknown':
      return isSafe
    case 'constraint':
    case 'forbidden':
    case 'unreachable':
    case 'unavailable':
    case 'other':
      return false
  }
}

interface Circumstances {
  readonly kind: ErrorKind
  readonly isSafe: boolean
  readonly what: string
}

/** The error that the caller gets if the last try failed. */
function errorForCaller(error: unknown, { kind, isSafe, what }: Circumstances): unknown {
  switch (kind) {
    case 'constraint':
    case 'deadlock':
    case 'lostRace':
      return raceLost(error)
    case 'connectionLost':
    case 'commitUnknown':
      return upstreamUnavailable(
        isSafe
          ? `${what} cannot be reached. Try again.`
          : `${what} was lost while the change was being stored. Read before trying again: it may have been made.`,
        error
      )
    case 'lockTimeout':
    case 'forbidden':
    case 'unreachable':
    case 'unavailable':
    case 'other':
      return toDomainError(error, kind, what)
  }
}

/** The error of a write that has lost every race against others, or that a unique or foreign key forbids. */
export function raceLost(cause: unknown): DomainError {
  return new DomainError('conflict', CONFLICT_DETAIL, { cause })
}

/** How long a transaction waits for the one writer's place. Multiplied by the tries it is below the deadline of a call. */
const BEGIN_TIMEOUT_MS = 1500

/**
 * One try of a piece of work. The transaction begins with its first statement and runs one statement, or batch, at a time.
 * After a failed statement it sends no other one, since the server may have rolled back and would commit each further
 * statement by itself. After its end it sends none either.
 */
export class TransactionAttempt implements WriteSession {
  readonly #transactions: Transactions
  readonly #signal: Cancellation
  #opening: Promise<OpenTransaction> | undefined
  #last: Promise<unknown> = Promise.resolve()
  #gathered: GatheredStatement[] | undefined
  #running = 0
  #failure: { readonly error: unknown } | undefined
  /** Of a statement that the server has answered, with a value that is none of its type. Others may follow, and no COMMIT. */
  #unshown: UnshownValue | undefined
  #phase: 'work' | 'commit' | 'over' = 'work'
  #lastChange: LastChange | undefined
  #hasSent = false
  #isDryRun = false

  constructor(transactions: Transactions, signal: Cancellation) {
    this.#transactions = transactions
    this.#signal = signal
  }

  /** Whether the COMMIT was sent, or may have been. */
  get isCommitting(): boolean {
    return this.#phase === 'commit'
  }

  classifyError(error: unknown): ErrorKind {
    return this.#transactions.classifyError(error)
  }

  /** Of the request. Whatever is done for it beside the transaction ends with it. */
  get signal(): Cancellation {
    return this.#signal
  }

  /** As Transactions says. */
  flushed(): Promise<void> {
    return this.#transactions.flushed()
  }

  /** As OpenTransaction says. undefined before the first statement. */
  async node(): Promise<number | undefined> {
    return (await this.#opening)?.node
  }

  run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    if (this.#gathered !== undefined) return this.#gather(this.#gathered, { kind: 'run', statement, values })
    return this.#inTurn(async () => (await this.#open(BEGIN_TIMEOUT_MS)).run(statement, values))
  }

  rows(statement: ShownStatement, values: BoundValues): Promise<FoundRow[]> {
    if (this.#gathered !== undefined) return this.#gather(this.#gathered, { kind: 'rows', statement, values })
    return this.#inTurn(async () => (await this.#open(BEGIN_TIMEOUT_MS)).rows(statement, values))
  }

  change(text: StatementText, values: BoundValues): Promise<Changed> {
    if (this.#gathered !== undefined) return this.#gather(this.#gathered, { kind: 'change', text, values })
    return this.#inTurn(async () => (await this.#open(BEGIN_TIMEOUT_MS)).change(text, values))
  }

  /**
   * Runs a change as the first statement. It waits at most `timeout` ms, rounded up to whole seconds, for the lock of
   * another transaction. If it rejects, the transaction is as if nothing had been sent, but
   * the change may stand by itself (`OpenTransaction.changeWithin`).
   */
  async tryFirst(timeout: number, text: StatementText, values: BoundValues): Promise<Changed> {
    this.#assertFirst()
    const seconds = Math.max(1, Math.ceil(timeout / 1000))
    return this.#inTurn(async () => {
      try {
        return await (await this.#open(timeout)).changeWithin(seconds, text, values)
      } catch (error) {
        await this.#undo()
        throw new FirstStatementFailed('The first statement, which was only tried, failed', { cause: error })
      }
    })
  }

  /** As OpenTransaction says. It opens the transaction, which on a server sends nothing. */
  async isGuarding(): Promise<boolean> {
    return (await this.#open(BEGIN_TIMEOUT_MS)).isGuarding
  }

  /**
   * The same together with statements that do nothing unless the change was of one row, in a transaction. Returns their
   * outcomes. undefined if it was not: then all is undone, and the transaction is as if nothing had been sent.
   */
  async tryFirstWith(
    timeout: number,
    { text, values }: { readonly text: StatementText; readonly values: BoundValues },
    behind: readonly BatchStatement[]
  ): Promise<readonly BatchOutcome[] | undefined> {
    this.#assertFirst()
    const seconds = Math.max(1, Math.ceil(timeout / 1000))
    const change: BatchStatement = { kind: 'changeWithin', seconds, text, values }
    return this.#inTurn(async () => {
      const [tried, ...others] = await this.#open(timeout).then((opened) => opened.batch([change, ...behind]))
      const failed = tried?.status === 'rejected' ? tried : undefined
      if (failed === undefined && tried !== undefined && isOneRow(tried)) return others.map(fulfilledValue)
      await this.#undo()
      if (failed === undefined) return undefined
      throw new FirstStatementFailed('The first statement, which was only tried, failed', { cause: failed.reason })
    })
  }

  /** Runs a batch. Throws the first failure. */
  send(batch: readonly BatchStatement[]): Promise<readonly BatchOutcome[]> {
    return this.#inTurn(async () => (await (await this.#open(BEGIN_TIMEOUT_MS)).batch(batch)).map(fulfilledValue))
  }

  #assertFirst(): void {
    if (this.#hasSent || this.#running > 0) {
      throw new TypeError('Only the first statement of a transaction can be tried')
    }
  }

  /**
   * Runs the statements that `issue` begins as one batch, as `OpenTransaction.batch` says. A statement that it begins later
   * is one of its own. Returns what `issue` returns.
   */
  together<Issued>(issue: () => Issued): Issued {
    const gathered: GatheredStatement[] = []
    this.#gathered = gathered
    try {
      return issue()
    } finally {
      this.#gathered = undefined
      if (gathered.length > 0) void this.#sendAll(gathered)
    }
  }

  /** The outcome of a statement of the batch. It is of the statement's kind. */
  #gather<Outcome>(gathered: GatheredStatement[], statement: BatchStatement): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      gathered.push({ statement, resolve: (outcome) => resolve(outcome as Outcome), reject })
    })
  }

  /** The first failure is that of all statements behind it, whatever they answered. */
  async #sendAll(gathered: readonly GatheredStatement[]): Promise<void> {
    let settled = 0
    try {
      await this.#inTurn(async () => {
        const transaction = await this.#open(BEGIN_TIMEOUT_MS)
        const outcomes = await transaction.batch(gathered.map(({ statement }) => statement))
        for (const [at, outcome] of outcomes.entries()) {
          if (outcome.status === 'rejected') throw outcome.reason
          gathered[at]?.resolve(outcome.value)
          settled = at + 1
        }
      })
    } catch (error) {
      // A statement behind it may have failed too.
      if (!this.#isOver()) this.#failure ??= { error }
      for (const { reject } of gathered.slice(settled)) reject(error)
    }
  }

  /** Whether a statement has failed that was not only tried. */
  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /** The first error of a statement, else `error`. The work may have replaced the former with an error of its own. */
  failureOr(error: unknown): unknown {
    return this.#failure === undefined ? error : this.#failure.error
  }

  /** A change of exactly one row that nothing follows. It is sent with the COMMIT. */
  changeLast(change: LastChange): void {
    if (this.#opening === undefined || this.#lastChange !== undefined) {
      throw new TypeError('A transaction has one last change, after its first')
    }
    this.#lastChange = change
  }

  /** As UnitOfWork says. */
  rollBackAtEnd(): void {
    this.#isDryRun = true
  }

  get isDryRun(): boolean {
    return this.#isDryRun
  }

  /** Rejects without a COMMIT if a statement failed, is still running, or the signal is aborted. */
  async commit(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#unshown !== undefined) throw this.#unshown
    if (this.#running > 0) throw new TypeError('A statement of the transaction was not waited for')
    throwIfAborted(this.#signal)
    if (this.#isDryRun) return await this.rollback()
    this.#phase = 'commit'
    await (await this.#opening)?.commit(this.#lastChange)
    this.#phase = 'over'
  }

  /** Rolls back. Never rejects. */
  async rollback(): Promise<void> {
    // A failed COMMIT has ended the transaction as well.
    if (this.#phase !== 'work') return
    this.#phase = 'over'
    await this.#undo()
  }

  async #undo(): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    this.#hasSent = false
    const opened = await opening?.catch(() => undefined)
    await opened?.rollback()
  }

  #isOver(): boolean {
    return this.#phase === 'over'
  }

  #open(timeout: number): Promise<OpenTransaction> {
    this.#opening ??= this.#transactions.begin({ signal: this.#signal, timeout })
    return this.#opening
  }

  #inTurn<Result>(statement: () => Promise<Result>): Promise<Result> {
    const outcome = this.#last.then(async () => {
      if (this.#failure !== undefined) throw this.#failure.error
      if (this.#phase !== 'work') throw new TypeError('A unit of work is of no use once its transaction ended')
      this.#hasSent = true
      try {
        return await statement()
      } catch (error) {
        if (error instanceof FirstStatementFailed) throw error.cause
        // What a statement comes to that nobody waited for is not the reason why the transaction was given up.
        if (error instanceof UnshownValue) this.#unshown ??= error
        else if (!this.#isOver()) this.#failure = { error }
        throw error
      }
    })
    this.#running += 1
    const settled = (): void => {
      this.#running -= 1
    }
    this.#last = outcome.then(settled, settled)
    return outcome
  }
}

function isOneRow(outcome: PromiseSettledResult<BatchOutcome>): boolean {
  return outcome.status === 'fulfilled' && 'rows' in outcome.value && outcome.value.rows === 1
}

/** Throws the reason of a rejection. */
function fulfilledValue(outcome: PromiseSettledResult<BatchOutcome>): BatchOutcome {
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

/** A statement that waits for its batch to be sent. */
interface GatheredStatement {
  readonly statement: BatchStatement
  readonly resolve: (outcome: BatchOutcome) => void
  readonly reject: (error: unknown) => void
}

/** Wraps the error of `tryFirst`, so that it is not recorded as the failure of the transaction. */
class FirstStatementFailed extends Error {
  override readonly name = 'FirstStatementFailed'
}
