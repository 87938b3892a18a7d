import { isReadable, KEY_LIFE, keyToSignWith } from './key-life.js'
import { newKey } from './new-key.js'
import type { RingKey } from './ring-key.js'

/** Keys of this process alone, for as long as it shares none. They are stored nowhere. */
export class OwnKeys {
  #keys: RingKey[] = []

  /** The key to sign with. */
  current(now: Date): RingKey {
    const found = keyToSignWith(this.#keys, now)
    if (found !== undefined) return found
    const made = newKey({ created: now, activates: now, expires: new Date(now.getTime() + KEY_LIFE) })
    this.#keys = [...this.#keys.filter((key) => isReadable(key, now)), made]
    return made
  }

  all(): readonly RingKey[] {
    return this.#keys
  }
}
