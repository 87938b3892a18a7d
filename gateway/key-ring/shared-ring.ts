import { KeyWrapping } from './key-wrapping.js'
import {
  describeFailure,
  type KeyEncryption,
  newKey,
  parseRing,
  ringText,
  type StoredKey,
  type RingProblem
} from './ring-document.js'
import { isReadable, nextKeyDates, type RingKey } from './ring-key.js'
import type { RingStore } from './ring-stores.js'

interface SharedRingParts {
  readonly store: RingStore
  /** undefined: keys are stored in plain form. */
  readonly encryption?: KeyEncryption | undefined
  readonly now: () => Date
}

/** The result of reading the stored ring once. */
export interface RingState {
  /** undefined: the store could not be read, so the keys of the last read stay in use. */
  readonly keys: readonly RingKey[] | undefined
  readonly problems: readonly RingProblem[]
}

const WRITE_ATTEMPTS = 10

/** The ring that replicas share: reads it, and makes the next key when one is due. */
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

  /** Never rejects: failures are in `problems`, one of each kind. */
  async look(): Promise<RingState> {
    const problems: RingProblem[] = []
    let keys: readonly RingKey[] | undefined
    try {
      const unwrapped = await this.#wrapping.unwrapAll(await this.#readAndRoll(problems))
      keys = unwrapped.keys
      problems.push(...unwrapped.problems)
    } catch (error) {
      problems.push({ at: 'store', detail: describeFailure(error) })
    }
    const kinds = problems.map(({ at }) => at)
    return { keys, problems: problems.filter(({ at }, index) => kinds.indexOf(at) === index) }
  }

  /** The stored keys that may be used, with the next key if one was due and could be stored. */
  async #readAndRoll(problems: RingProblem[]): Promise<readonly StoredKey[]> {
    for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
      const found = await this.#store.read()
      const admitted = await this.#wrapping.admit(found === undefined ? [] : parseRing(found.text))
      const { keys: stored, unverified, isChanged } = admitted
      const usable = (keys: readonly StoredKey[]): StoredKey[] => keys.filter(({ id }) => !unverified.has(id))
      problems.push(...admitted.problems)
      const next = this.#nextStored(stored, isChanged)
      if (next === undefined) return usable(stored)
      const wrapped = await this.#wrapAll(next, problems)
      if (wrapped === undefined) return usable(stored)
      try {
        if (await this.#store.write(ringText(wrapped), found?.version)) return usable(wrapped)
      } catch (error) {
        problems.push({ at: 'store', detail: describeFailure(error) })
        return usable(stored)
      }
    }
    throw new Error('Others keep writing the ring.')
  }

  /**
   * What should be stored instead of `stored`; undefined if nothing has to change. `isChanged`: the store has other keys than
   * `stored`.
   */
  #nextStored(stored: readonly StoredKey[], isChanged: boolean): StoredKey[] | undefined {
    const ours = stored.filter((key) => this.#wrapping.isOurs(key))
    // Another process wraps keys in this ring, and would not trust a key in plain form.
    if (ours.length < stored.length && !this.#wrapping.wraps) return undefined
    const now = this.#now()
    const dates = nextKeyDates(ours, now)
    if (dates === undefined && !isChanged) return undefined
    return [...stored.filter((key) => isReadable(key, now)), ...(dates === undefined ? [] : [newKey(dates)])]
  }

  /** The keys as they may be stored; undefined if one of them cannot be wrapped. */
  async #wrapAll(keys: readonly StoredKey[], problems: RingProblem[]): Promise<StoredKey[] | undefined> {
    try {
      return await Promise.all(keys.map((key) => this.#wrapping.wrap(key)))
    } catch (error) {
      problems.push({ at: 'wrap', detail: describeFailure(error) })
      return undefined
    }
  }
}
