import { setTimeout as wait } from 'node:timers/promises'
import { DomainError } from '../../shared/errors.js'
import type { Value } from '../entity/field.js'
import {
  type Changed,
  type ErrorKind,
  type OpenTransaction,
  toDomainError,
  type Transactions,
  upstreamUnavailable,
  type WriteSession
} from './engines/engine.js'
import type { BoundValues, Statement, StatementText } from './engines/statement.js'

/** How often a transaction is tried before its race counts as lost. */
const TRIES = 5

/** Longest wait before the second try is twice this, in ms; twice as long before each one after it, up to the sixth. */
const BACK_OFF_MS = 10
const LONGEST_BACK_OFF = 5

export interface TransactionOptions {
  readonly transactions: Transactions
  /** The database's name in errors. */
  readonly what: string
  /** From 0 up to 1. */
  readonly random: () => number
  /** How often a transaction is tried that ends in deadlocks, 5 by default. All other reasons: at most 5 times. */
  readonly tries?: number
}

/** Work that may be done again, on a fresh transaction each time. */
export interface Work<Result> {
  run(transaction: TransactionAttempt): Promise<Result>
  /** Whether doing it again finds out that it was done, by an idempotency key. Asked when the COMMIT is in doubt. */
  isRepeatable(): boolean
}

/** Runs work in a transaction, again while it loses races. Errors as WriteStore says. */
export async function runTransaction<Result>(
  { transactions, what, random, tries: most = TRIES }: TransactionOptions,
  signal: AbortSignal,
  work: Work<Result>
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted()
    const attempt = new TransactionAttempt(transactions, signal)
    try {
      return await complete(attempt, work)
    } catch (thrown) {
      const error = attempt.failureOr(thrown)
      const kind = transactions.classifyError(error)
      const isLast = tries >= (kind === 'deadlock' ? most : Math.min(TRIES, most))
      const isSafe = !attempt.isCommitting || work.isRepeatable()
      if (isLast || !isTriedAgain(kind, isSafe)) throw errorForCaller(error, { kind, isSafe, what })
    }
    // An abort ends the wait, and then the attempts.
    await wait(random() * BACK_OFF_MS * 2 ** Math.min(tries, LONGEST_BACK_OFF), undefined, { signal }).catch(
      () => undefined
    )
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

/** `isSafe`: whether a second try can do no harm. */
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

/** What the caller gets for an error of the last try. */
function errorForCaller(error: unknown, { kind, isSafe, what }: Circumstances): unknown {
  switch (kind) {
    case 'constraint':
    case 'deadlock':
    case 'lostRace':
      return new DomainError('conflict', 'A data conflict occurred. Please retry or contact support.', { cause: error })
    case 'connectionLost':
    case 'commitUnknown':
      return upstreamUnavailable(
        isSafe
          ? `${what} cannot be reached. Try again.`
          : `${what} was lost while the change was being stored. Read before trying again: it may have been made.`,
        error
      )
    case 'lockTimeout':
    case 'unreachable':
    case 'unavailable':
    case 'other':
      return toDomainError(error, kind, what)
  }
}

/** How long a transaction waits for its turn. Multiplied by the tries it stays below the deadline of a call. */
const BEGIN_TIMEOUT_MS = 1500

/**
 * One try of a piece of work. The transaction begins with its first statement and runs one statement at a time. After a
 * statement that failed it sends no other, since the server may have rolled back and would commit each by itself; after
 * its end it sends none either, whoever still holds it.
 */
export class TransactionAttempt implements WriteSession {
  readonly #transactions: Transactions
  readonly #signal: AbortSignal
  #opening: Promise<OpenTransaction> | undefined
  #last: Promise<unknown> = Promise.resolve()
  #running = 0
  #failure: { readonly error: unknown } | undefined
  #phase: 'work' | 'commit' | 'over' = 'work'

  constructor(transactions: Transactions, signal: AbortSignal) {
    this.#transactions = transactions
    this.#signal = signal
  }

  /** Whether COMMIT was sent. */
  get isCommitting(): boolean {
    return this.#phase === 'commit'
  }

  classifyError(error: unknown): ErrorKind {
    return this.#transactions.classifyError(error)
  }

  /** As OpenTransaction says; undefined while no statement was sent. */
  async node(): Promise<number | undefined> {
    return (await this.#opening)?.node
  }

  run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    return this.#inTurn(async () => (await this.#open(BEGIN_TIMEOUT_MS)).run(statement, values))
  }

  change(text: StatementText, values: BoundValues): Promise<Changed> {
    return this.#inTurn(async () => (await this.#open(BEGIN_TIMEOUT_MS)).change(text, values))
  }

  /**
   * A change as the first statement of all, which another transaction may hold up for `timeout` ms, rounded up to whole
   * seconds. A rejection is no failure of the transaction: it leaves it as if nothing had been sent.
   */
  async tryFirst(timeout: number, text: StatementText, values: BoundValues): Promise<Changed> {
    if (this.#opening !== undefined || this.#running > 0) {
      throw new TypeError('Only the first statement of a transaction can be tried')
    }
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

  /** The first error of a statement, where there is one: the work may have answered it with an error of its own. */
  failureOr(error: unknown): unknown {
    return this.#failure === undefined ? error : this.#failure.error
  }

  /** Rejects without a COMMIT where a statement failed or was not waited for, and with the reason of an abort. */
  async commit(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#running > 0) throw new TypeError('A statement of the transaction was not waited for')
    this.#signal.throwIfAborted()
    this.#phase = 'commit'
    await (await this.#opening)?.commit()
    this.#phase = 'over'
  }

  /** Undoes everything. Never rejects. */
  async rollback(): Promise<void> {
    // A COMMIT that failed has ended the transaction.
    if (this.#phase !== 'work') return
    this.#phase = 'over'
    await this.#undo()
  }

  async #undo(): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    const opened = await opening?.catch(() => undefined)
    await opened?.rollback()
  }

  #open(timeout: number): Promise<OpenTransaction> {
    this.#opening ??= this.#transactions.begin({ signal: this.#signal, timeout })
    return this.#opening
  }

  #inTurn<Result>(statement: () => Promise<Result>): Promise<Result> {
    const outcome = this.#last.then(async () => {
      if (this.#failure !== undefined) throw this.#failure.error
      if (this.#phase !== 'work') throw new TypeError('A unit of work is of no use once its transaction ended')
      try {
        return await statement()
      } catch (error) {
        if (error instanceof FirstStatementFailed) throw error.cause
        this.#failure = { error }
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

/** Carries the error of a statement that was only tried, its cause, past the code that notes failures. */
class FirstStatementFailed extends Error {
  override readonly name = 'FirstStatementFailed'
}
