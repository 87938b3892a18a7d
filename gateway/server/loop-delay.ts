/** Milliseconds between two looks. */
const DELAY_LOOK_MS = 50
/** Milliseconds of which the mean is taken. */
const MEAN_WINDOW_MS = 1000
/** Looks of which it is taken at least: one long turn by itself is over when it is seen. */
const FEWEST = 2

/**
 * How late the event loop is. A second without two turns of the loop has no measurement in Node's own histogram of its
 * delay, so there a process whose every turn takes longer looks as one that has nothing to do.
 */
export class LoopDelay {
  /** Milliseconds by which the looks of the last second, and two at least, came late, in the mean. */
  mean = 0
  readonly #now: () => number
  readonly #every: number
  #last: number
  #started: number
  #late = 0
  #looks = 0

  /** `now` is in milliseconds. */
  constructor({ now = () => performance.now(), every = DELAY_LOOK_MS }: { now?: () => number; every?: number } = {}) {
    this.#now = now
    this.#every = every
    this.#last = this.#started = now()
  }

  /** Looks at regular times from now on, until the function that is answered is called. */
  watch(): () => void {
    const timer = setInterval(() => this.look(), this.#every).unref()
    return () => clearInterval(timer)
  }

  look(): void {
    const now = this.#now()
    this.#late += Math.max(0, now - this.#last - this.#every)
    this.#looks += 1
    this.#last = now
    if (now - this.#started < MEAN_WINDOW_MS || this.#looks < FEWEST) return
    this.mean = this.#late / this.#looks
    this.#started = now
    this.#late = this.#looks = 0
  }
}
