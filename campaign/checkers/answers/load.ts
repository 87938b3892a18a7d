import type { Exchange } from '../../history.js'

/** Milliseconds before the end of a request whose answers say how busy the machine is. */
const WINDOW_MS = 10_000
/** An answer that takes longer is slow, and a machine where so many are is overloaded. Fewer than so many say nothing. */
const SLOW_MS = 1000
const SLOW_SHARE = 0.1
const LEAST = 10

/** How busy the machine is, by how long clients wait for answers. Exchanges are seen in the order in which they ended. */
export class Load {
  readonly #recent: { readonly endedAt: number; readonly isSlow: boolean }[] = []
  /** From one end of a request to another between which it was high, the first to the last. */
  readonly #high: { readonly from: number; until: number }[] = []
  #isHigh = false
  #slow = 0

  see({ sentAt, endedAt, answer }: Exchange): void {
    if (answer !== undefined && answer.status < 500) {
      const isSlow = endedAt - sentAt > SLOW_MS
      this.#recent.push({ endedAt, isSlow })
      if (isSlow) this.#slow++
    }
    let old = 0
    while ((this.#recent[old]?.endedAt ?? Infinity) < endedAt - WINDOW_MS) {
      if (this.#recent[old]?.isSlow === true) this.#slow--
      old++
    }
    this.#recent.splice(0, old)
    const wasHigh = this.#isHigh
    this.#isHigh = this.#recent.length >= LEAST && this.#slow >= SLOW_SHARE * this.#recent.length
    const last = this.#high.at(-1)
    if (this.#isHigh && wasHigh && last !== undefined) last.until = endedAt
    else if (this.#isHigh) this.#high.push({ from: endedAt, until: endedAt })
  }

  /** Whether the machine was overloaded when the last request ended. */
  get isHigh(): boolean {
    return this.#isHigh
  }

  /**
   * Whether the machine was overloaded at some time while a request was under way, or when those ended that waited with it.
   * To be asked when all exchanges were seen.
   */
  wasHigh({ sentAt, endedAt }: Pick<Exchange, 'sentAt' | 'endedAt'>): boolean {
    return this.#high.some(({ from, until }) => from <= endedAt + SLOW_MS && until >= sentAt)
  }
}
