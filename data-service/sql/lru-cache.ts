interface Entry<Value> {
  readonly value: Value
  readonly weight: number
}

/** A map whose entries weigh no more than the limit in all, and that forgets what was not asked for longest. */
export class LruCache<Key, Value> {
  readonly #entries = new Map<Key, Entry<Value>>()
  readonly #limit: number
  readonly #weigh: (key: Key, value: Value) => number
  #weight = 0

  /** Unless `weigh` says otherwise, the limit is a number of entries. */
  constructor(limit: number, weigh: (key: Key, value: Value) => number = () => 1) {
    this.#limit = limit
    this.#weigh = weigh
  }

  /** The value kept under the key, else a new one, which is kept unless it weighs more than all may. */
  get(key: Key, make: () => Value): Value {
    const kept = this.#entries.get(key)
    if (kept !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, kept)
      return kept.value
    }
    const value = make()
    const weight = this.#weigh(key, value)
    if (weight <= this.#limit) this.#keep(key, { value, weight })
    return value
  }

  clear(): void {
    this.#entries.clear()
    this.#weight = 0
  }

  #keep(key: Key, entry: Entry<Value>): void {
    this.#entries.set(key, entry)
    this.#weight += entry.weight
    for (const [oldest, { weight }] of this.#entries) {
      if (this.#weight <= this.#limit) return
      this.#entries.delete(oldest)
      this.#weight -= weight
    }
  }
}
