import {
  describeFailure,
  entryDigest,
  type KeyEncryption,
  type RingProblem,
  SECRET_BYTES,
  type StoredKey,
  type Untrusted,
  type WrappedKey,
  type WrappedSecret
} from './ring-document.js'
import type { RingKey } from './ring-key.js'

/** The stored keys that may serve, and what was found out about the others. */
interface Admitted {
  /** A key that is stored otherwise than this process has verified it is here as it was verified. */
  readonly keys: readonly StoredKey[]
  /** Ids of those among `keys` of which could not be found out whether they are genuine. They must not be used. */
  readonly unverified: ReadonlySet<string>
  /** Whether keys were rejected, so that the store should be written. */
  readonly isChanged: boolean
  readonly problems: readonly RingProblem[]
}

const DETAILS: Readonly<Record<Untrusted, string>> = {
  unwrapped: 'keys that lie unwrapped in the ring are not used',
  unsigned: 'keys without a signature are not used',
  forged: 'keys that the key of DATA_PROTECTION_KEY_VAULT_KEY_URI has not signed as they are stored are not used'
}

type Judgement = { readonly trusted: true } | { readonly untrusted: Untrusted } | { readonly failure: unknown }

/**
 * Wraps and signs keys before they are stored, and verifies and unwraps stored keys; without a key-encryption key, keys stay
 * in plain form. Wrapping takes only the public half of that key, so a wrapped key may come from anybody who can write the
 * store. A signature takes the vault.
 */
export class KeyWrapping {
  readonly #encryption: KeyEncryption | undefined
  /** Cache of wrapped and unwrapped secrets by key id. The vault is called once for each, and may be out of reach later. */
  readonly #known = new Map<string, { readonly wrapped: WrappedSecret; readonly secret: Buffer }>()
  /** The keys of which the vault has said that it has signed them, by id. */
  readonly #verified = new Map<string, WrappedKey>()

  constructor(encryption: KeyEncryption | undefined) {
    this.#encryption = encryption
  }

  /** Whether keys are wrapped before they are stored. */
  get wraps(): boolean {
    return this.#encryption !== undefined
  }

  /** Whether the key is in plain form or wrapped by the configured key-encryption key. */
  isOurs({ wrapped }: StoredKey): boolean {
    return wrapped === undefined || this.#encryption?.hasWrapped(wrapped) === true
  }

  /** The key as it may be stored. Rejects if it cannot be wrapped or signed. */
  async wrap(key: StoredKey): Promise<StoredKey> {
    if (key.wrapped !== undefined || this.#encryption === undefined) return key
    const { secret, ...dates } = key
    const wrapped = await this.#encryption.wrap(secret)
    const signature = await this.#encryption.sign(wrapped.by, entryDigest({ ...dates, wrapped }))
    const stored = { ...dates, wrapped, signature }
    this.#known.set(key.id, { wrapped, secret })
    this.#verified.set(key.id, stored)
    return stored
  }

  /** Leaves out the keys that anybody who can write the store can have put there. */
  async admit(stored: readonly StoredKey[]): Promise<Admitted> {
    const keys = new Map<string, StoredKey>()
    const unverified = new Set<string>()
    const untrusted: Record<Untrusted, string[]> = { unwrapped: [], unsigned: [], forged: [] }
    const problems: RingProblem[] = []
    const judged = await Promise.all(stored.map(async (key) => [key, await this.#judge(key)] as const))
    for (const [key, judgement] of judged) {
      if ('trusted' in judgement) {
        keys.set(key.id, key)
        unverified.delete(key.id)
      } else if ('untrusted' in judgement) {
        untrusted[judgement.untrusted].push(key.id)
        const genuine = this.#verified.get(key.id)
        if (genuine !== undefined) keys.set(key.id, genuine)
      } else {
        problems.push({ at: 'unwrap', detail: describeFailure(judgement.failure) })
        if (keys.has(key.id)) continue
        keys.set(key.id, key)
        unverified.add(key.id)
      }
    }
    for (const at of ['unwrapped', 'unsigned', 'forged'] as const) {
      if (untrusted[at].length > 0) problems.push({ at, detail: `${DETAILS[at]}: ${untrusted[at].join(', ')}` })
    }
    const isChanged = Object.values(untrusted).some((ids) => ids.length > 0)
    return { keys: [...keys.values()], unverified, isChanged, problems }
  }

  async #judge(key: StoredKey): Promise<Judgement> {
    if (this.#encryption === undefined) return { trusted: true }
    if (key.wrapped === undefined) return { untrusted: 'unwrapped' }
    // A key that another key-encryption key has wrapped cannot be verified here, and is not used.
    if (!this.#encryption.hasWrapped(key.wrapped)) return { trusted: true }
    if (key.signature === undefined) return { untrusted: 'unsigned' }
    const digest = entryDigest(key)
    const known = this.#verified.get(key.id)
    if (known?.signature?.equals(key.signature) === true && entryDigest(known).equals(digest)) return { trusted: true }
    try {
      if (!(await this.#encryption.hasSigned(key.wrapped.by, digest, key.signature))) return { untrusted: 'forged' }
    } catch (failure) {
      return { failure }
    }
    this.#verified.set(key.id, key)
    return { trusted: true }
  }

  /** The keys that could be unwrapped, and one problem for each of the others. `admitted` are keys that were verified. */
  async unwrapAll(admitted: readonly StoredKey[]): Promise<{ keys: RingKey[]; problems: RingProblem[] }> {
    const keys: RingKey[] = []
    const problems: RingProblem[] = []
    await Promise.all(
      admitted.map(async ({ id, created, activates, expires, wrapped, secret }) => {
        try {
          const bytes = wrapped === undefined ? secret : await this.#secretOf(id, wrapped)
          if (bytes !== undefined) keys.push({ id, created, activates, expires, secret: bytes })
          else problems.push({ at: 'foreign', detail: this.#whyForeign() })
        } catch (error) {
          problems.push({ at: 'unwrap', detail: describeFailure(error) })
        }
      })
    )
    this.#forgetOthers(admitted)
    return { keys, problems }
  }

  /** Removes cached keys that are not stored: another process was faster to store its key, or the key is too old. */
  #forgetOthers(stored: readonly StoredKey[]): void {
    const ids = new Set(stored.map(({ id }) => id))
    for (const cache of [this.#known, this.#verified]) {
      for (const id of cache.keys()) if (!ids.has(id)) cache.delete(id)
    }
  }

  /** undefined for a key that is not ours to unwrap. */
  async #secretOf(id: string, wrapped: WrappedSecret): Promise<Buffer | undefined> {
    const known = this.#known.get(id)
    if (known !== undefined && known.wrapped.by === wrapped.by && known.wrapped.bytes.equals(wrapped.bytes))
      return known.secret
    if (this.#encryption?.hasWrapped(wrapped) !== true) return undefined
    const secret = await this.#encryption.unwrap(wrapped)
    if (secret.length !== SECRET_BYTES) throw new Error('What was unwrapped is no key.')
    this.#known.set(id, { wrapped, secret })
    return secret
  }

  #whyForeign(): string {
    return this.#encryption === undefined
      ? 'keys of the ring are wrapped, and DATA_PROTECTION_KEY_VAULT_KEY_URI is not set'
      : 'keys of the ring are wrapped by another key than that of DATA_PROTECTION_KEY_VAULT_KEY_URI'
  }
}
