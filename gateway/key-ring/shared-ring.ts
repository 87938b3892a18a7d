import {
  describeFailure,
  type KeyEncryption,
  KeyWrapping,
  newKey,
  parseRing,
  ringText,
  type StoredKey,
  type Trouble
} from './ring-document.js'
import { isReadable, nextKeyDates, type RingKey } from './ring-key.js'
import type { RingStore } from './ring-stores.js'

export interface SharedRingParts {
  readonly store: RingStore
  /** undefined: keys are stored as they are. */
  readonly encryption?: KeyEncryption | undefined
  readonly now: () => Date
}

/** What a look at the stored ring has come to. */
export interface RingState {
  /** undefined: the store could not be read, and what was read before still holds. */
  readonly keys: readonly RingKey[] | undefined
  readonly troubles: readonly Trouble[]
}

const WRITE_ATTEMPTS = 10

/** The ring that replicas have in common: reads it, and makes the next key when one is due. */
export class SharedRing {
  readonly #store: RingStore
  readonly #wrapping: KeyWrapping
  readonly #now: () => Date

  constructor({ store, encryption, now }: SharedRingParts) {
    this.#store = store
    this.#wrapping = new KeyWrapping(encryption)
    this.#now = now
  }

  /** For the log. */
  get place(): string {
    return this.#store.place
  }

  /** Never rejects: what fails is told in `troubles`. */
  async look(): Promise<RingState> {
    const troubles: Trouble[] = []
    try {
      const opened = await this.#wrapping.opened(await this.#upToDate(troubles))
      return { keys: opened.keys, troubles: [...troubles, ...opened.troubles] }
    } catch (error) {
      return { keys: undefined, troubles: [...troubles, { at: 'store', detail: describeFailure(error) }] }
    }
  }

  /** The stored keys, with the next one where it was due and could be stored. */
  async #upToDate(troubles: Trouble[]): Promise<readonly StoredKey[]> {
    for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
      const found = await this.#store.read()
      const all = found === undefined ? [] : parseRing(found.text)
      const stored = this.#trustworthy(all, troubles)
      const wanted = this.#wanted(stored, all.length > stored.length)
      if (wanted === undefined) return stored
      const closed = await this.#closed(wanted, troubles)
      if (closed === undefined) return stored
      try {
        if (await this.#store.write(ringText(closed), found?.version)) return closed
      } catch (error) {
        troubles.push({ at: 'store', detail: describeFailure(error) })
        return stored
      }
    }
    throw new Error('Others keep writing the ring.')
  }

  /**
   * Where keys are wrapped, one in the clear may be anybody's who can write the store, and everybody's who can read it: it
   * neither signs nor verifies, and is stored no more.
   */
  #trustworthy(stored: readonly StoredKey[], troubles: Trouble[]): readonly StoredKey[] {
    const bare = stored.filter((key) => this.#wrapping.isBare(key))
    if (bare.length === 0) return stored
    if (!troubles.some(({ at }) => at === 'unwrapped')) {
      const ids = bare.map(({ id }) => id).join(', ')
      troubles.push({ at: 'unwrapped', detail: `keys that lie unwrapped in the ring are not used: ${ids}` })
    }
    return stored.filter((key) => !bare.includes(key))
  }

  /** What should be stored in place of these; undefined for nothing else. `reduced`: more is stored than these. */
  #wanted(stored: readonly StoredKey[], reduced: boolean): StoredKey[] | undefined {
    const ours = stored.filter((key) => this.#wrapping.isOurs(key))
    // Whoever wraps the others would find a key in the clear among them.
    if (ours.length < stored.length && !this.#wrapping.wraps) return undefined
    const now = this.#now()
    const dates = nextKeyDates(ours, now)
    if (dates === undefined && !reduced) return undefined
    return [...stored.filter((key) => isReadable(key, now)), ...(dates === undefined ? [] : [newKey(dates)])]
  }

  /** As they may be stored; undefined when one of them cannot be wrapped. */
  async #closed(keys: readonly StoredKey[], troubles: Trouble[]): Promise<StoredKey[] | undefined> {
    try {
      return await Promise.all(keys.map((key) => this.#wrapping.closed(key)))
    } catch (error) {
      troubles.push({ at: 'wrap', detail: describeFailure(error) })
      return undefined
    }
  }
}
