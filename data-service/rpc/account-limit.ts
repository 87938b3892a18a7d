import { DomainError } from '../../shared/errors.js'
import type { RateLimit } from '../../shared/rate-limit.js'
import { type Caller, shareKey } from '../entity/caller.js'

/** Accounts that are counted at a time. Beyond, the one whose window began first is forgotten. */
const COUNTED_ACCOUNTS = 65_536

/** Limits the calls of each account to this process, in windows that begin with its first call (docs/decisions/085). */
export class AccountLimit {
  readonly #limit: RateLimit
  /** Milliseconds that only grow. */
  readonly #now: () => number
  /** In the order in which they began. */
  readonly #windows = new Map<string, { readonly ends: number; calls: number }>()

  constructor(limit: RateLimit, now: () => number) {
    this.#limit = limit
    this.#now = now
  }

  /** Counts a call of a caller with an account. Throws `quota-exceeded` beyond the limit. */
  count(caller: Caller): void {
    if (caller.kind !== 'authenticated') return
    const { count, seconds } = this.#limit
    const now = this.#now()
    const key = shareKey(caller, '')
    let window = this.#windows.get(key)
    if (window === undefined || window.ends <= now) {
      this.#windows.delete(key)
      window = { ends: now + seconds * 1000, calls: 0 }
      this.#windows.set(key, window)
      const [oldest] = this.#windows.keys()
      if (oldest !== undefined && this.#windows.size > COUNTED_ACCOUNTS) this.#windows.delete(oldest)
    }
    window.calls += 1
    if (window.calls <= count) return
    const retryAfter = Math.max(1, Math.ceil((window.ends - now) / 1000))
    throw new DomainError(
      'quota-exceeded',
      `More than ${count} calls in ${seconds} seconds came from this account. Retry in ${retryAfter} seconds.`,
      { retryAfter }
    )
  }
}
