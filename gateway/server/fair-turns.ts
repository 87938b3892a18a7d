import { LRUCache } from 'lru-cache'

/** Requests of one address that begin in a turn of the event loop, once some were refused. Node accepts one connection in a turn. */
const OF_REFUSED = 2

/** Milliseconds after a refusal in which the requests of its address take turns: twice what its `Retry-After` says. */
const AFTER_REFUSAL = 2000

/** Addresses that take turns at a time. Beyond, the one that was seen least lately is forgotten. */
const MAX_ADDRESSES = 10_000

/**
 * Lets the requests of an address, or of one of which some are refused, begin a few in each turn of the event loop, so that those of others,
 * their connections, and what data services answer come between them. A client with hundreds of connections, which is answered
 * at once and asks again, would else fill each turn with its own.
 */
export class FairTurns {
  readonly #now: () => number
  readonly #ofAddress: number
  readonly #isForAll: boolean
  /** Until when the requests of an address take turns. */
  readonly #refused = new LRUCache<string, number>({ max: MAX_ADDRESSES })
  /** How many have begun in this turn. */
  readonly #begun = new Map<string, number>()
  /** Those that wait, in the order in which they came. Their connections bound them. */
  readonly #waiting = new Map<string, (() => void)[]>()
  #isScheduled = false

  /** `ofAll`: how many requests of any address begin in a turn. Without it only those of refused addresses take turns. `now` is in milliseconds. */
  constructor({ ofAll, now = () => performance.now() }: { readonly ofAll?: number; readonly now?: () => number } = {}) {
    this.#now = now
    this.#ofAddress = ofAll ?? OF_REFUSED
    this.#isForAll = ofAll !== undefined
  }

  /** A request of this address is refused because its caller has too much under way. */
  refused(address: string): void {
    this.#refused.set(address, this.#now() + AFTER_REFUSAL)
  }

  /** Calls `begin` at once, or in a later turn. */
  enter(address: string, begin: () => void): void {
    const waiting = this.#waiting.get(address)
    if (waiting !== undefined) return void waiting.push(begin)
    if (!this.#takesTurns(address)) return begin()
    this.#schedule()
    const begun = this.#begun.get(address) ?? 0
    if (begun >= this.#ofAddress) return void this.#waiting.set(address, [begin])
    this.#begun.set(address, begun + 1)
    begin()
  }

  #takesTurns(address: string): boolean {
    if (this.#isForAll) return true
    const until = this.#refused.get(address)
    if (until !== undefined && this.#now() < until) return true
    this.#refused.delete(address)
    return false
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    this.#begun.clear()
    if (this.#waiting.size > 0) this.#schedule()
    for (const [address, waiting] of this.#waiting) {
      const next = waiting.splice(0, this.#ofAddress)
      this.#begun.set(address, next.length)
      if (waiting.length === 0) this.#waiting.delete(address)
      for (const begin of next) begin()
    }
  }
}
