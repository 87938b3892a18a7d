/**
 * Lets large requests begin in turns, one of each peer in a turn of the event loop, so that small calls and those of other
 * peers come between them. The calls that wait are counted by their bytes, which bounds them.
 */
export class RequestTurns {
  /** By peer, in the order in which they came. */
  readonly #waiting = new Map<string, Set<() => void>>()
  #isScheduled = false

  /** Calls `begin`, which throws nothing, in a later turn. Returns what takes it back, and whether it still waited. */
  enter(peer: string, begin: () => void): () => boolean {
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
    if (this.#waiting.size > 0) this.#schedule()
    for (const [peer, waiting] of this.#waiting) {
      const [next] = waiting
      if (next !== undefined) waiting.delete(next)
      if (waiting.size === 0) this.#waiting.delete(peer)
      next?.()
    }
  }
}
