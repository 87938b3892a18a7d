type Begin = () => void

/**
 * Lets requests begin in turns of the event loop, so many of each peer in a turn, so that those of other peers and of gateways
 * come between them. The calls that wait are counted by their bytes, which bounds them.
 */
export class RequestTurns {
  readonly #ofTurn: number
  /** By peer, in the order in which they came. */
  readonly #waiting = new Map<string, Set<Begin>>()
  /** How many of a peer have begun in this turn. */
  readonly #begun = new Map<string, number>()
  #isScheduled = false

  constructor(ofTurn: number) {
    this.#ofTurn = ofTurn
  }

  /** Whether a request of the peer may begin in this turn, without waiting. Counts it. */
  beginsNow(peer: string): boolean {
    const begun = this.#begun.get(peer) ?? 0
    if (this.#waiting.has(peer) || begun >= this.#ofTurn) return false
    this.#begun.set(peer, begun + 1)
    this.#schedule()
    return true
  }

  /** Calls `begin`, which throws nothing, in a later turn. Returns what takes it back, and whether it still waited. */
  enter(peer: string, begin: Begin): () => boolean {
    const waiting = this.#waiting.get(peer) ?? new Set()
    waiting.add(begin)
    this.#waiting.set(peer, waiting)
    this.#schedule()
    return () => waiting.delete(begin)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    this.#begun.clear()
    for (const [peer, waiting] of this.#waiting) {
      const next = Array.from(waiting).slice(0, this.#ofTurn)
      this.#begun.set(peer, next.length)
      for (const begin of next) waiting.delete(begin)
      if (waiting.size === 0) this.#waiting.delete(peer)
      for (const begin of next) begin()
    }
    if (this.#waiting.size > 0 || this.#begun.size > 0) this.#schedule()
  }
}
