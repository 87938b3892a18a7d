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
  }

  /** Whether the machine was overloaded when the last request ended. */
  get isHigh(): boolean {
    return this.#recent.length >= LEAST && this.#slow >= SLOW_SHARE * this.#recent.length
  }
}
