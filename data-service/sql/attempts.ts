import { setTimeout as wait } from 'node:timers/promises'
import { DomainError } from '../../shared/errors.js'
import type { Value } from '../entity/field.js'
import type { Database } from './connect.js'
import type { Changed, OpenTransaction, Transactions, WriteSession } from './engines/engine.js'
import { troubleOf, unreachable } from './engines/error-classes.js'
import { MysqlTransactions } from './engines/mysql.js'
import { SqliteTransactions } from './engines/sqlite.js'
import type { BoundValues, Statement, StatementText } from './engines/statement.js'

/** For everything but keys. Times the tries of a transaction it stays below the deadline of a call. */
const PATIENCE_MS = 1500

/**
 * One try of a piece of work. The transaction begins with its first statement, runs one statement at a time, sends
 * none after one that failed (the server may have rolled back, and would commit each by itself), and none once it
 * ended, whoever still holds it.
 */
export class WorkTransaction implements WriteSession {
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

  /** Whether no statement was asked for yet. */
  get isFresh(): boolean {
    return this.#opening === undefined && this.#running === 0
  }

  /** Whether COMMIT was sent. */
  get isCommitting(): boolean {
    return this.#phase === 'commit'
  }

  /** As OpenTransaction says; undefined while nothing was asked for. */
  async node(): Promise<number | undefined> {
    return (await this.#opening)?.node
  }

  run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    return this.#inTurn(async () => (await this.#open(PATIENCE_MS)).run(statement, values))
  }

  change(text: StatementText, values: BoundValues): Promise<Changed> {
    return this.#inTurn(async () => (await this.#open(PATIENCE_MS)).change(text, values))
  }

  /**
   * A change that another transaction may hold up for `patience` ms in whole seconds, as the first statement of all. It
   * is no failure of the transaction: rejected, it leaves it as if nothing had been asked for.
   */
  async tryFirst(patience: number, text: StatementText, values: BoundValues): Promise<Changed> {
    if (!this.isFresh) throw new TypeError('Only the first statement of a transaction can be tried')
    const seconds = Math.max(1, Math.ceil(patience / 1000))
    return this.#inTurn(async () => {
      try {
        return await (await this.#open(patience)).changeWithin(seconds, text, values)
      } catch (error) {
        await this.#undo()
        throw new Tried('A statement that was tried failed', { cause: error })
      }
    })
  }

  /** What failed first, where anything did: whoever gets it may have answered with an error of their own. */
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

  #open(patience: number): Promise<OpenTransaction> {
    this.#opening ??= this.#transactions.begin({ signal: this.#signal, patience })
    return this.#opening
  }

  #inTurn<Result>(statement: () => Promise<Result>): Promise<Result> {
    const outcome = this.#last.then(async () => {
      if (this.#failure !== undefined) throw this.#failure.error
      if (this.#phase !== 'work') throw new TypeError('A unit of work is of no use once its transaction ended')
      try {
        return await statement()
      } catch (error) {
        if (error instanceof Tried) throw error.cause
        this.#failure = { error }
        throw error
      }
    })
    this.#running += 1
    this.#last = outcome.then(
      () => this.#settled(),
      () => this.#settled()
    )
    return outcome
  }

  #settled(): void {
    this.#running -= 1
  }
}

/** Carries the error of a trial, its cause, past what notes failures. */
class Tried extends Error {
  override readonly name = 'Tried'
}

/** How often a transaction is tried before its race counts as lost. */
const TRIES = 5

/** Longest wait before the second try is twice this, in ms; twice as long before each one after it, up to the sixth. */
const BACK_OFF_MS = 10
const LONGEST_BACK_OFF = 5

const RETRY_AFTER_S = 1

export interface Attempts {
  readonly transactions: Transactions
  /** The database's name in errors. */
  readonly what: string
  /** From 0 up to 1. */
  readonly random: () => number
  /** How often a transaction is tried that others were faster than, 5 by default. Waits for locks count as ever. */
  readonly tries?: number
}

/** Work that may be done again, on a fresh transaction each time. `isRepeatable` is asked once its COMMIT is in doubt. */
export interface Work<Result> {
  run(transaction: WorkTransaction): Promise<Result>
  /** Whether doing it again finds out that it was done, by an idempotency key. */
  isRepeatable(): boolean
}

/** Runs work in a transaction, again while it loses races. Errors as WriteStore says. */
export async function attempt<Result>(
  { transactions, what, random, tries: most = TRIES }: Attempts,
  signal: AbortSignal,
  work: Work<Result>
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted()
    const transaction = new WorkTransaction(transactions, signal)
    try {
      return await complete(transaction, work)
    } catch (error) {
      const reason = transaction.failureOr(error)
      const last = tries >= (troubleOf(reason) === 'deadlock' ? most : Math.min(TRIES, most))
      const failure = fate(reason, {
        what,
        last,
        sure: !transaction.isCommitting || work.isRepeatable()
      })
      if (failure !== undefined) throw failure.error
    }
    // An abort ends the wait, and then the attempts.
    await wait(random() * BACK_OFF_MS * 2 ** Math.min(tries, LONGEST_BACK_OFF), undefined, { signal }).catch(
      () => undefined
    )
  }
}

async function complete<Result>(transaction: WorkTransaction, work: Work<Result>): Promise<Result> {
  try {
    const result = await work.run(transaction)
    await transaction.commit()
    return result
  } catch (error) {
    await transaction.rollback()
    throw error
  }
}

interface Circumstances {
  readonly what: string
  readonly last: boolean
  /** Whether a second try can do no harm. */
  readonly sure: boolean
}

/** What the caller gets; undefined for another try. */
function fate(error: unknown, { what, last, sure }: Circumstances): { readonly error: unknown } | undefined {
  switch (troubleOf(error)) {
    case 'violation':
      return { error: conflict(error) }
    case 'lock-wait':
      // Nobody has seen a conflict yet: whoever holds the lock may still give up what it does.
      return last ? { error: unreachable(error, what) } : undefined
    case 'deadlock':
    case 'lost-race':
      return last ? { error: conflict(error) } : undefined
    case 'lost-connection':
    case 'unknown-outcome':
      if (!sure) return { error: inDoubt(what, error) }
      return last ? { error: lost(what, error) } : undefined
    case undefined:
      return { error: unreachable(error, what) }
  }
}

function conflict(cause: unknown): DomainError {
  return new DomainError('conflict', 'A data conflict occurred. Please retry or contact support.', { cause })
}

function lost(what: string, cause: unknown): DomainError {
  return new DomainError('upstream.unavailable', `${what} cannot be reached. Try again.`, {
    retryAfter: RETRY_AFTER_S,
    cause
  })
}

function inDoubt(what: string, cause: unknown): DomainError {
  const detail = `${what} was lost while the change was being stored. Read before trying again: it may have been made.`
  return new DomainError('upstream.unavailable', detail, { retryAfter: RETRY_AFTER_S, cause })
}

/** The transactions of a database: one object for all who write to it, who wait for each other in it on SQLite. */
export function openTransactions(database: Database): Transactions {
  return database.kind === 'sqlite' ? new SqliteTransactions(database.settings.file) : new MysqlTransactions(database)
}
