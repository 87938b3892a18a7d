/**
 * Lets work begin in turns of the event loop, so many pieces of each key in a turn, in the order in which they came. Work of
 * other keys comes between them. What waits is bounded by the caller.
 */
export class Turns {
  readonly #ofTurn: () => number
  readonly #waiting = new Map<string, Set<() => void>>()
  /** How many of a key have begun in this turn. */
  readonly #begun = new Map<string, number>()
  #isScheduled = false

  /** `ofTurn`: how many of a key begin in a turn, at least one. */
  constructor(ofTurn: number | (() => number)) {
    this.#ofTurn = typeof ofTurn === 'number' ? () => ofTurn : ofTurn
  }

  isWaiting(key: string): boolean {
    return this.#waiting.has(key)
  }

  /** Whether work of the key may begin in this turn, without waiting. Counts it. */
  beginsNow(key: string): boolean {
    const begun = this.#begun.get(key) ?? 0
    if (this.isWaiting(key) || begun >= this.#ofTurn()) return false
    this.#begun.set(key, begun + 1)
    this.#schedule()
    return true
  }

  /** Calls `begin`, which throws nothing, at once or in a later turn. */
  begin(key: string, begin: () => void): void {
    if (this.beginsNow(key)) begin()
    else this.enter(key, begin)
  }

  /** Resolves in a later turn, whose work of the key this is. */
  next(key: string): Promise<void> {
    return new Promise((resolve) => void this.enter(key, resolve))
  }

  /** Calls `begin`, which throws nothing, in a later turn. Returns what takes it back, and whether it still waited. */
  enter(key: string, begin: () => void): () => boolean {
    const waiting = this.#waiting.get(key) ?? new Set()
    waiting.add(begin)
    this.#waiting.set(key, waiting)
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
    const ofTurn = this.#ofTurn()
    for (const [key, waiting] of this.#waiting) {
      const next: (() => void)[] = []
      for (const begin of waiting) {
        if (next.length === ofTurn) break
        next.push(begin)
        waiting.delete(begin)
      }
      this.#begun.set(key, next.length)
      if (waiting.size === 0) this.#waiting.delete(key)
      for (const begin of next) begin()
    }
    if (this.#waiting.size > 0 || this.#begun.size > 0) this.#schedule()
  }
}
