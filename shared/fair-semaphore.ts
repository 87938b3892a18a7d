import { DomainError } from './errors.js'

/** A caller or group of callers, and how many places it may hold at a time. */
export interface Share {
  readonly key: string
  readonly limit: number
  /** How many places of it may be waited for. Default: four times its limit. */
  readonly waiting?: number
  /**
   * The shares of which it is a part. It takes the last places of each only as far as others have as many left, but
   * `atLeast` where they are free: none unless it says so.
   */
  readonly within?: readonly { readonly share: Share; readonly last: number; readonly atLeast?: number }[]
}

export interface FairLimits {
  /** Places that may be held at a time in all. */
  readonly places: number
  /** Places that may be waited for at a time. A share has a limit of its own. */
  readonly waiting: number
  /** Milliseconds that a caller waits before it is rejected. */
  readonly timeout: number
  /** Milliseconds after which a place may be recalled for a caller that would have to wait. Absent: never. */
  readonly recallAfter?: number
  /** The same for a place whose holder has not got on for so long (`movedAt`). */
  readonly recallIdleAfter?: number
  /** Milliseconds of a clock that never goes back: `performance.now` unless it says so. */
  readonly now?: () => number
  /** The `detail` of the error of a rejected caller. */
  readonly detail: string
  /** Seconds after which a rejected caller may try again. */
  readonly retryAfter?: number
  /** The `cause` of that error. */
  readonly cause?: Error
}

/** The part of an AbortSignal, or of a Cancellation, that waiting takes. */
interface Ending {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: { handleEvent(): void }): void
  removeEventListener(type: 'abort', listener: { handleEvent(): void }): void
}

/** A caller that asks for places. */
export interface Entrant {
  /** How many places it takes, all of them at once: 1 unless it says so. No share may be smaller. */
  readonly weight?: number
  /** Every share that the place counts towards. The caller's own share comes last. */
  readonly shares: readonly [Share, ...Share[]]
  /** Aborted when the place is no longer wanted. `enter` then rejects with the signal's reason. */
  readonly signal: Ending
  /** When it got on last, by the clock of the semaphore. Absent: it always gets on. */
  readonly movedAt?: () => number
  /** Called at most once, if the place may be recalled and another caller wants it: give it back then. */
  readonly recall?: () => void
}

export interface PlacesState {
  readonly taken: number
  readonly waiting: number
  /** Since the start. */
  readonly rejected: number
}

interface Holder extends Entrant {
  /** When the place was taken. */
  readonly since: number
  recalled: boolean
}

interface Waiter extends Entrant {
  readonly admit: () => void
}

const DEFAULT_RETRY_SECONDS = 5
const DEFAULT_WAITING_PER_PLACE = 4

/** The places of some entrants, in all and by share. */
class Places {
  all = 0
  readonly #byShare = new Map<string, number>()

  of(key: string): number {
    return this.#byShare.get(key) ?? 0
  }

  /** Adds the places of an entrant or, with the sign -1, takes them away. */
  change({ weight = 1, shares }: Entrant, sign: 1 | -1): void {
    this.all += sign * weight
    for (const { key } of shares) {
      const places = this.of(key) + sign * weight
      if (places === 0) this.#byShare.delete(key)
      else this.#byShare.set(key, places)
    }
  }
}

/**
 * A semaphore with a limit for each caller too, so that a caller with many places does not keep others out. Among the
 * waiting callers the one that holds the fewest places is admitted first, and among equals the one that came first.
 */
export class FairSemaphore {
  readonly now: () => number
  readonly #limits: FairLimits
  readonly #holders = new Set<Holder>()
  readonly #waiters = new Set<Waiter>()
  readonly #held = new Places()
  readonly #awaited = new Places()
  #rejected = 0

  constructor(limits: FairLimits) {
    this.#limits = limits
    this.now = limits.now ?? (() => performance.now())
  }

  /** Callers that hold places, and that wait for some. */
  get state(): { readonly running: number; readonly waiting: number } {
    return { running: this.#holders.size, waiting: this.#waiters.size }
  }

  /** Places that are held and that are waited for, and how many callers have got none. */
  get places(): PlacesState {
    return { taken: this.#held.all, waiting: this.#awaited.all, rejected: this.#rejected }
  }

  /** Places that are held and count towards this share. */
  heldBy(key: string): number {
    return this.#held.of(key)
  }

  /** Whether this share itself has no further place, whatever the others say. */
  isFull(share: Share): boolean {
    return this.#isFull(share, 1)
  }

  /**
   * Resolves with the function that gives the place back; calling it twice is harmless. Rejects with
   * `upstream.unavailable` if no place becomes free in time, or at once if too many callers wait already.
   */
  enter(entrant: Entrant): Promise<() => void> {
    const { signal } = entrant
    if (signal.aborted) return Promise.reject(signal.reason)
    if (this.#hasRoom(entrant)) return Promise.resolve(this.#hold(entrant))
    if (this.#isCrowded(entrant)) return Promise.reject(this.#rejection())
    return new Promise((resolve, reject) => {
      const settle = (settled: () => void): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        this.#waiters.delete(waiter)
        this.#awaited.change(entrant, -1)
        settled()
      }
      const abort = { handleEvent: () => settle(() => reject(signal.reason)) }
      const timer = setTimeout(() => settle(() => reject(this.#rejection())), this.#limits.timeout)
      const waiter: Waiter = { ...entrant, admit: () => settle(() => resolve(this.#hold(entrant))) }
      signal.addEventListener('abort', abort)
      this.#waiters.add(waiter)
      this.#awaited.change(entrant, 1)
      this.#recallFor(entrant)
    })
  }

  /** Throws what `enter` would reject with at once, before a caller does what comes before it. */
  check(entrant: Entrant): void {
    if (!this.#hasRoom(entrant) && this.#isCrowded(entrant)) throw this.#rejection()
  }

  #isCrowded({ weight = 1, shares }: Entrant): boolean {
    const isFull = ({ key, limit, waiting = limit * DEFAULT_WAITING_PER_PLACE }: Share): boolean =>
      this.#awaited.of(key) + weight > waiting
    return this.#awaited.all + weight > this.#limits.waiting || shares.some(isFull)
  }

  #rejection(): DomainError {
    const { detail, retryAfter = DEFAULT_RETRY_SECONDS, cause } = this.#limits
    this.#rejected += 1
    return new DomainError('upstream.unavailable', detail, { retryAfter, cause })
  }

  #hold(entrant: Entrant): () => void {
    const holder: Holder = { ...entrant, since: this.now(), recalled: false }
    this.#holders.add(holder)
    this.#held.change(holder, 1)
    return () => {
      if (!this.#holders.delete(holder)) return
      this.#held.change(holder, -1)
      if (this.#waiters.size > 0) this.#admitWaiting()
    }
  }

  #hasRoom({ weight = 1, shares }: Entrant): boolean {
    return this.#held.all + weight <= this.#limits.places && shares.every((share) => !this.#isFull(share, weight))
  }

  #isFull({ key, limit, within = [] }: Share, weight: number): boolean {
    const held = this.#held.of(key) + weight
    if (held > limit) return true
    return within.some(({ share, last, atLeast = 0 }) => {
      const left = share.limit - this.#held.of(share.key) - weight
      return held > atLeast && left < last && left < held
    })
  }

  #admitWaiting(): void {
    for (let next = this.#nextWaiting(); next !== undefined; next = this.#nextWaiting()) next.admit()
  }

  /** The first of those that fit whose caller holds the fewest places. */
  #nextWaiting(): Waiter | undefined {
    let next: Waiter | undefined
    let fewest = Infinity
    for (const waiter of this.#waiters) {
      const held = this.#held.of(ownShareKey(waiter))
      if (held >= fewest || !this.#hasRoom(waiter)) continue
      next = waiter
      fewest = held
    }
    return next
  }

  /**
   * Recalls a place that keeps this caller waiting: of those that may be recalled the oldest of the caller that holds the
   * most. A caller's only place is not recalled for its age while another caller holds several.
   */
  #recallFor(entrant: Entrant): void {
    const { places, recallAfter = Infinity, recallIdleAfter = Infinity } = this.#limits
    if (Math.min(recallAfter, recallIdleAfter) === Infinity) return
    const { weight = 1, shares } = entrant
    const full = shares.filter((share) => this.#isFull(share, weight)).map(({ key }) => key)
    // A caller whose own share is full waits for its own places.
    if (full.includes(ownShareKey(entrant))) return
    const allHeld = this.#held.all + weight > places
    const inTheWay = [...this.#holders].filter(
      (holder) => !holder.recalled && (allHeld || holder.shares.some(({ key }) => full.includes(key)))
    )
    const kept = new Places()
    for (const holder of inTheWay) kept.change(holder, 1)
    const keptBy = (holder: Holder): number => kept.of(ownShareKey(holder))
    const hasSeveral = (holder: Holder): boolean => keptBy(holder) > (holder.weight ?? 1)
    const someHasSeveral = inTheWay.some(hasSeveral)
    const now = this.now()
    const mayBeRecalled = (holder: Holder): boolean =>
      now - (holder.movedAt?.() ?? now) >= recallIdleAfter ||
      (now - holder.since >= recallAfter && (hasSeveral(holder) || !someHasSeveral))
    const [first] = inTheWay.filter(mayBeRecalled).toSorted((one, other) => keptBy(other) - keptBy(one))
    if (first === undefined) return
    first.recalled = true
    first.recall?.()
  }
}

function ownShareKey({ shares }: Entrant): string {
  return (shares.at(-1) ?? shares[0]).key
}
