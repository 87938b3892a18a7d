import { setTimeout as wait } from 'node:timers/promises'
import { DomainError } from '../../../shared/domain-error.js'
import { unreachable } from '../unreachable.js'
import type { Transactions } from './transactions.js'
import { troubleOf } from './trouble.js'
import { WorkTransaction } from './work-transaction.js'

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
