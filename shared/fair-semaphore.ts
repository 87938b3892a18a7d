import { DomainError } from './errors.js'

/** Whom a place counts for, and how many places may count for them at a time. */
export interface Share {
  readonly of: string
  readonly most: number
}

export interface FairLimits {
  /** Places held at a time, by everybody together. */
  readonly places: number
  /** Callers that wait at a time. Of those who share n places no more than 4n may wait. */
  readonly waiting: number
  /** Milliseconds that a caller waits before it is refused. */
  readonly patience: number
  /** Milliseconds after which a place may be recalled for somebody who would have to wait. Absent: never. */
  readonly tenure?: number
  /** What those who are refused read. */
  readonly detail: string
}

/** Who asks for a place. */
export interface Entrant {
  /** All that the place counts for; the caller's own share comes last. */
  readonly shares: readonly [Share, ...Share[]]
  /** Aborted when the place is wanted no more; its reason is what `enter` rejects with. */
  readonly signal: AbortSignal
  /** Called once at most, when the place was held for the tenure and somebody else wants it: give it back then. */
  readonly recall?: () => void
}

interface Holder extends Entrant {
  /** On the clock of `performance.now`. */
  readonly since: number
  recalled: boolean
}

interface Waiter extends Entrant {
  readonly admit: () => void
}

/** Seconds after which those who are refused may ask again. */
const RETRY_AFTER = 5

const WAITING_PER_PLACE = 4

/**
 * A bounded number of places of which nobody can take more than a fair share: a caller who holds many keeps no other
 * one out. Of those who wait, whoever holds the fewest places comes first, then whoever came first.
 */
export class FairSemaphore {
  readonly #limits: FairLimits
  readonly #holders = new Set<Holder>()
  readonly #waiters = new Set<Waiter>()

  constructor(limits: FairLimits) {
    this.#limits = limits
  }

  /**
   * Resolves with the function that gives the place back; calling that twice is harmless. Rejects with
   * `upstream.unavailable` when no place comes free in time, or at once when too many wait already.
   */
  enter(entrant: Entrant): Promise<() => void> {
    const { shares, signal } = entrant
    if (signal.aborted) return Promise.reject(signal.reason)
    if (this.#hasRoom(entrant)) return Promise.resolve(this.#hold(entrant))
    const { waiting, patience, detail } = this.#limits
    const rejection = new DomainError('upstream.unavailable', detail, { retryAfter: RETRY_AFTER })
    const isCrowded = shares.some(({ of, most }) => countOf(this.#waiters, of) >= most * WAITING_PER_PLACE)
    if (isCrowded || this.#waiters.size >= waiting) return Promise.reject(rejection)
    return new Promise((resolve, reject) => {
      const settle = (settled: () => void): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        this.#waiters.delete(waiter)
        settled()
      }
      const abort = (): void => settle(() => reject(signal.reason))
      const timer = setTimeout(() => settle(() => reject(rejection)), patience)
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

  #isFull({ of, most }: Share): boolean {
    return countOf(this.#holders, of) >= most
  }

  #admitWaiting(): void {
    for (;;) {
      const fitting = [...this.#waiters].filter((waiter) => this.#hasRoom(waiter))
      const held = new Map(fitting.map((waiter) => [waiter, countOf(this.#holders, ownOf(waiter))]))
      // Sorting is stable, so that among equals the first to come stays first.
      const [next] = fitting.toSorted((one, other) => (held.get(one) ?? 0) - (held.get(other) ?? 0))
      if (next === undefined) return
      next.admit()
    }
  }

  /** Asks the longest holder among those in somebody's way to leave, if it has been there for the tenure. */
  #recallFor(entrant: Entrant): void {
    const { places, tenure = Infinity } = this.#limits
    const full = entrant.shares.filter((share) => this.#isFull(share)).map(({ of }) => of)
    // Whoever holds all it may waits for itself.
    if (full.includes(ownOf(entrant))) return
    const isEveryone = this.#holders.size >= places
    const [oldest] = [...this.#holders].filter(
      (holder) => !holder.recalled && (isEveryone || holder.shares.some(({ of }) => full.includes(of)))
    )
    if (oldest === undefined || performance.now() - oldest.since < tenure) return
    oldest.recalled = true
    oldest.recall?.()
  }
}

function ownOf({ shares }: Entrant): string {
  return (shares.at(-1) ?? shares[0]).of
}

function countOf(entrants: ReadonlySet<Entrant>, of: string): number {
  let count = 0
  for (const { shares } of entrants) if (shares.some((share) => share.of === of)) count++
  return count
}
