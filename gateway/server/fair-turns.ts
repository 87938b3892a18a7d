import { LRUCache } from 'lru-cache'
import { Turns } from '../../shared/turns.js'

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
  /** Their connections bound those that wait. */
  readonly #turns: Turns
  readonly #isForAll: boolean
  /** Until when the requests of an address take turns. */
  readonly #refused = new LRUCache<string, number>({ max: MAX_ADDRESSES })

  /** `ofAll`: how many requests of any address begin in a turn. Without it only those of refused addresses take turns. `now` is in milliseconds. */
  constructor({ ofAll, now = () => performance.now() }: { readonly ofAll?: number; readonly now?: () => number } = {}) {
    this.#now = now
    this.#turns = new Turns(ofAll ?? OF_REFUSED)
    this.#isForAll = ofAll !== undefined
  }

  /** A request of this address is refused because its caller has too much under way. */
  refused(address: string): void {
    this.#refused.set(address, this.#now() + AFTER_REFUSAL)
  }

  /** Calls `begin` at once, or in a later turn. */
  enter(address: string, begin: () => void): void {
    const turns = this.#turns
    const isFree = !turns.isWaiting(address) && !this.#takesTurns(address)
    if (isFree || turns.beginsNow(address)) return begin()
    turns.enter(address, begin)
  }

  #takesTurns(address: string): boolean {
    if (this.#isForAll) return true
    const until = this.#refused.get(address)
    if (until !== undefined && this.#now() < until) return true
    this.#refused.delete(address)
    return false
  }
}
