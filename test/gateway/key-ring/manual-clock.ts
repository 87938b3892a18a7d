import type { Timer } from '../../../gateway/key-ring/ring-upkeep.js'

/** Time that passes when a test says so, with the timers that come due in it. */
export class ManualClock {
  #time: number
  #waiting: { readonly at: number; readonly run: () => void }[] = []

  constructor(start = '2031-02-03T04:05:06.789Z') {
    this.#time = Date.parse(start)
  }

  readonly now = (): Date => new Date(this.#time)

  readonly timer: Timer = (milliseconds, run) => {
    const entry = { at: this.#time + milliseconds, run }
    this.#waiting.push(entry)
    return () => (this.#waiting = this.#waiting.filter((one) => one !== entry))
  }

  /** Milliseconds until the next timer. */
  get next(): number {
    return Math.min(...this.#waiting.map(({ at }) => at)) - this.#time
  }

  /** Moves on, runs what comes due, and lets promises that wait for nothing else settle. */
  async pass(milliseconds: number): Promise<void> {
    this.#time += milliseconds
    const due = this.#waiting.filter(({ at }) => at <= this.#time)
    this.#waiting = this.#waiting.filter(({ at }) => at > this.#time)
    for (const { run } of due) run()
    await new Promise(setImmediate)
  }
}

export const DAYS = 24 * 60 * 60 * 1000
