/**
 * Work of which at most one run per key is under way. Whoever asks meanwhile gets the outcome of that run, a failure
 * included; whoever asks afterwards starts a new one.
 */
export class SingleFlight<Key, Result> {
  readonly #running = new Map<Key, Promise<Result>>()

  /** The run under way; undefined for none. */
  running(key: Key): Promise<Result> | undefined {
    return this.#running.get(key)
  }

  /** Joins the run under way, or starts one. */
  run(key: Key, start: () => Promise<Result>): Promise<Result> {
    const running = this.#running.get(key)
    if (running !== undefined) return running
    const started = start().finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    return started
  }
}
