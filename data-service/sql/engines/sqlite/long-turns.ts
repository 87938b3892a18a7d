/** Milliseconds for which a read may hold up all other calls. One that takes longer is stopped, and runs in a thread. */
export const TURN_MS = 50
/** The same, while reads have used up what they may have of each second. What ends within it is not counted. */
const SHORT_TURN_MS = 5
/** Milliseconds of each second that the longer reads of one holder of a share may have of the event loop. */
const OF_HOLDER_MS = 50
/** The same of all. */
const OF_ALL_MS = 200

/** Milliseconds that come back in each second. */
class Allowance {
  readonly #perSecond: number
  #left: number
  #at: number

  constructor(perSecond: number, now: number) {
    this.#perSecond = perSecond
    this.#left = perSecond
    this.#at = now
  }

  left(now: number): number {
    return Math.min(this.#perSecond, this.#left + ((now - this.#at) * this.#perSecond) / 1000)
  }

  /** A debt is never more than comes back in a second: a statement that cannot be stopped may take many. */
  take(milliseconds: number, now: number): void {
    this.#left = Math.max(-this.#perSecond, this.left(now) - milliseconds)
    this.#at = now
  }

  /** Whether nothing of it is used. */
  isWhole(now: number): boolean {
    return this.left(now) === this.#perSecond
  }
}

/** The turns of the event loop that reads have. Reads whose texts are all different would hold it otherwise. */
export class LongTurns {
  readonly #now: () => number
  readonly #ofAll: Allowance
  /** Of those that have used something of theirs, in the order of their last use. */
  readonly #ofHolders = new Map<string, Allowance>()

  /** `now`: milliseconds. */
  constructor(now: () => number) {
    this.#now = now
    this.#ofAll = new Allowance(OF_ALL_MS, now())
  }

  /** How many holders of shares are remembered. */
  get size(): number {
    return this.#ofHolders.size
  }

  /** `end` answers how many milliseconds it took. */
  begin(shareKey: string): { readonly isOver: () => boolean; readonly end: () => number } {
    const began = this.#now()
    const own = this.#ofHolders.get(shareKey)?.left(began) ?? OF_HOLDER_MS
    const longest = Math.max(SHORT_TURN_MS, Math.min(TURN_MS, own, this.#ofAll.left(began)))
    return {
      isOver: () => this.#now() - began > longest,
      end: () => {
        const ended = this.#now()
        const took = ended - began
        if (took > SHORT_TURN_MS) this.#count(shareKey, took, ended)
        return took
      }
    }
  }

  #count(shareKey: string, took: number, now: number): void {
    const own = this.#ofHolders.get(shareKey) ?? new Allowance(OF_HOLDER_MS, now)
    // What goes beyond its own part is the holder's debt, and takes nothing from the others.
    this.#ofAll.take(Math.min(took, Math.max(0, own.left(now))), now)
    own.take(took, now)
    this.#ofHolders.delete(shareKey)
    this.#ofHolders.set(shareKey, own)
    for (const [key, part] of this.#ofHolders) {
      if (!part.isWhole(now)) break
      this.#ofHolders.delete(key)
    }
  }
}
