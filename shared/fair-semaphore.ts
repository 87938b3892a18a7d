import { DomainError } from './errors.js'

/** A caller or group of callers, and how many places it may hold at a time. */
export interface Share {
  readonly key: string
  readonly limit: number
}

export interface FairLimits {
  /** Places that may be held at a time in all. */
  readonly places: number
  /** Callers that may wait at a time. Of a share of n places no more than 4n may wait. */
  readonly waiting: number
  /** Milliseconds that a caller waits before it is rejected. */
  readonly timeout: number
  /** Milliseconds after which a place may be recalled for a caller that would have to wait. Absent: never. */
  readonly recallAfter?: number
  /** The `detail` of the error of a rejected caller. */
  readonly detail: string
}

/** A caller that asks for a place. */
export interface Entrant {
  /** Every share that the place counts towards. The caller's own share comes last. */
  readonly shares: readonly [Share, ...Share[]]
  /** Aborted when the place is no longer wanted. `enter` then rejects with the signal's reason. */
  readonly signal: AbortSignal
  /** Called at most once, if the place was held for `recallAfter` and another caller wants it: give it back then. */
  readonly recall?: () => void
}

interface Holder extends Entrant {
  /** When the place was taken, by `performance.now`. */
  readonly since: number
  recalled: boolean
}

interface Waiter extends Entrant {
  readonly admit: () => void
}

/** Seconds after which a rejected caller may try again. */
const RETRY_AFTER = 5

const WAITING_PER_PLACE = 4

/**
 * A semaphore with a limit for each caller too, so that a caller with many places does not keep others out. Among the
 * waiting callers the one that holds the fewest places is admitted first, and among equals the one that came first.
 */
export class FairSemaphore {
  readonly #limits: FairLimits
  readonly #holders = new Set<Holder>()
  readonly #waiters = new Set<Waiter>()

  constructor(limits: FairLimits) {
    this.#limits = limits
  }

  /** Places that are held, and callers that wait. */
  get state(): { readonly running: number; readonly waiting: number } {
    return { running: this.#holders.size, waiting: this.#waiters.size }
  }

  /**
   * Resolves with the function that gives the place back; calling it twice is harmless. Rejects with
   * `upstream.unavailable` if no place becomes free in time, or at once if too many callers wait already.
   */
  enter(entrant: Entrant): Promise<() => void> {
    const { shares, signal } = entrant
    if (signal.aborted) return Promise.reject(signal.reason)
    if (this.#hasRoom(entrant)) return Promise.resolve(this.#hold(entrant))
    const { waiting, timeout, detail } = this.#limits
    const rejection = new DomainError('upstream.unavailable', detail, { retryAfter: RETRY_AFTER })
    const isCrowded = shares.some(({ key, limit }) => countOf(this.#waiters, key) >= limit * WAITING_PER_PLACE)
    if (isCrowded || this.#waiters.size >= waiting) return Promise.reject(rejection)
    return new Promise((resolve, reject) => {
      const settle = (settled: () => void): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        this.#waiters.delete(waiter)
        settled()
      }
      const abort = (): void => settle(() => reject(signal.reason))
      const timer = setTimeout(() => settle(() => reject(rejection)), timeout)
      const waiter: Waiter = { ...entrant, admit: () => settle(() => resolve(this.#hold(entrant))) }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiters.add(waiter)
      this.#recallFor(entrant)
    })
  }

  #hold(entrant: Entrant): () => void {
    const holder: Holder = { ...entrant, since: performance.now(), recalled: false }
    this.#holders.add(holder)
    return () => {
      if (this.#holders.delete(holder)) this.#admitWaiting()
    }
  }

  #hasRoom({ shares }: Entrant): boolean {
    return this.#holders.size < this.#limits.places && shares.every((share) => !this.#isFull(share))
  }

  #isFull({ key, limit }: Share): boolean {
    return countOf(this.#holders, key) >= limit
  }

  #admitWaiting(): void {
    for (;;) {
      const fitting = [...this.#waiters].filter((waiter) => this.#hasRoom(waiter))
      const held = new Map(fitting.map((waiter) => [waiter, countOf(this.#holders, ownOf(waiter))]))
      // The sort is stable: among equals the order of arrival stays.
      const [next] = fitting.toSorted((one, other) => (held.get(one) ?? 0) - (held.get(other) ?? 0))
      if (next === undefined) return
      next.admit()
    }
  }

  /** Recalls the oldest place that keeps this caller waiting, if it has been held for `recallAfter`. */
  #recallFor(entrant: Entrant): void {
    const { places, recallAfter = Infinity } = this.#limits
    const full = entrant.shares.filter((share) => this.#isFull(share)).map(({ key }) => key)
    // A caller whose own share is full waits for its own places.
    if (full.includes(ownOf(entrant))) return
    const allHeld = this.#holders.size >= places
    const [oldest] = [...this.#holders].filter(
      (holder) => !holder.recalled && (allHeld || holder.shares.some(({ key }) => full.includes(key)))
    )
    if (oldest === undefined || performance.now() - oldest.since < recallAfter) return
    oldest.recalled = true
    oldest.recall?.()
  }
}

function ownOf({ shares }: Entrant): string {
  return (shares.at(-1) ?? shares[0]).key
}

function countOf(entrants: ReadonlySet<Entrant>, key: string): number {
  let count = 0
  for (const { shares } of entrants) if (shares.some((share) => share.key === key)) count++
  return count
}
