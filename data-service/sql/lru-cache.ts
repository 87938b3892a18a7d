/** A map of bounded size that forgets what was not asked for longest. */
export class LruCache<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #limit: number

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The value kept under the key, else a new one. */
  get(key: Key, make: () => Value): Value {
    const kept = this.#entries.get(key)
    if (kept !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, kept)
      return kept
    }
    const made = make()
    this.#entries.set(key, made)
    if (this.#entries.size > this.#limit) this.#forgetOldest()
    return made
  }

  clear(): void {
    this.#entries.clear()
  }

  #forgetOldest(): void {
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }
}
