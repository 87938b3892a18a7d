import { beforeAbort } from './before-abort.js'

/** A bounded number of places, given out in order of arrival. */
export class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Resolves with the function that gives the place back. Rejects with the signal's reason once that is aborted. */
  async take(signal: AbortSignal): Promise<() => void> {
    if (this.#free > 0) {
      this.#free--
    } else {
      let called = (): void => undefined
      const turn = new Promise<void>((resolve) => {
        called = resolve
      })
      this.#waiting.push(called)
      try {
        await beforeAbort(turn, signal)
      } catch (error) {
        this.#giveUp(called)
        throw error
      }
    }
    let given = false
    return () => {
      if (!given) this.#next()
      given = true
    }
  }

  /** A place that came together with the abort is handed on. */
  #giveUp(called: () => void): void {
    const index = this.#waiting.indexOf(called)
    if (index < 0) this.#next()
    else this.#waiting.splice(index, 1)
  }

  #next(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
