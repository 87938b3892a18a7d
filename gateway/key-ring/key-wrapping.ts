import {
  describeFailure,
  entryDigest,
  type KeyEncryption,
  type RingProblem,
  SECRET_BYTES,
  type StoredKey,
  type Untrusted,
  UNTRUSTED,
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
  forged: 'keys that the key of DATA_PROTECTION_KEY_VAULT_KEY_URI has not signed as they are stored are not used',
  surplus: 'the ring has too many keys, and those are not looked at'
}

/** Keys that are looked at beside those that this process has verified. A ring has three or four; each takes calls of the vault. */
const MAX_UNVERIFIED_KEYS = 50

/** Ids that a problem names. */
const MAX_NAMED = 5

/** `foreign`: another key-encryption key has wrapped it, so that it can be neither verified nor used here. */
type KeyVerdict =
  | { readonly kind: 'foreign' | 'trusted' }
  | { readonly kind: 'unknown'; readonly failure: unknown }
  | { readonly kind: 'untrusted'; readonly why: Exclude<Untrusted, 'surplus'> }

/** Of several keys with one id the last of these counts: nothing that is put beside a genuine key takes its place. */
const RANKS: readonly KeyVerdict['kind'][] = ['foreign', 'unknown', 'trusted', 'untrusted']

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
    const untrusted: Record<Untrusted, string[]> = { unwrapped: [], unsigned: [], forged: [], surplus: [] }
    const problems: RingProblem[] = []
    const lookedAt = this.#withoutSurplus(stored)
    untrusted.surplus.push(...stored.filter((key) => !lookedAt.has(key)).map(({ id }) => id))
    const judged = await Promise.all(Array.from(lookedAt, async (key) => ({ key, as: await this.#judge(key) })))
    for (const { key, as } of judged.toSorted((a, b) => RANKS.indexOf(a.as.kind) - RANKS.indexOf(b.as.kind))) {
      const { id } = key
      if (as.kind === 'untrusted') untrusted[as.why].push(id)
      const admitted = as.kind === 'untrusted' ? this.#verified.get(id) : key
      if (admitted === undefined) continue
      keys.set(id, admitted)
      if (as.kind === 'unknown') {
        unverified.add(id)
        problems.push({ at: 'unwrap', detail: describeFailure(as.failure) })
      } else unverified.delete(id)
    }
    for (const at of UNTRUSTED) {
      if (untrusted[at].length > 0) problems.push({ at, detail: `${DETAILS[at]}: ${namedKeys(untrusted[at])}` })
    }
    const isChanged = Object.values(untrusted).some((ids) => ids.length > 0)
    return { keys: [...keys.values()], unverified, isChanged, problems }
  }

  /** New keys are stored behind the others. */
  #withoutSurplus(stored: readonly StoredKey[]): ReadonlySet<StoredKey> {
    if (stored.length <= MAX_UNVERIFIED_KEYS) return new Set(stored)
    const verified = new Map(stored.filter((key) => this.#hasVerified(key)).map((key) => [key.id, key]))
    return new Set([...verified.values(), ...stored.filter(({ id }) => !verified.has(id)).slice(-MAX_UNVERIFIED_KEYS)])
  }

  async #judge(key: StoredKey): Promise<KeyVerdict> {
    if (this.#encryption === undefined) return { kind: 'trusted' }
    if (key.wrapped === undefined) return { kind: 'untrusted', why: 'unwrapped' }
    if (!this.#encryption.hasWrapped(key.wrapped)) {
      return this.#verified.has(key.id) ? { kind: 'untrusted', why: 'forged' } : { kind: 'foreign' }
    }
    if (key.signature === undefined) return { kind: 'untrusted', why: 'unsigned' }
    if (this.#hasVerified(key)) return { kind: 'trusted' }
    try {
      const { wrapped, signature } = key
      if (!(await this.#encryption.hasSigned(wrapped.by, entryDigest(key), signature))) {
        return { kind: 'untrusted', why: 'forged' }
      }
    } catch (failure) {
      return { kind: 'unknown', failure }
    }
    this.#verified.set(key.id, key)
    return { kind: 'trusted' }
  }

  #hasVerified(key: StoredKey): boolean {
    const known = this.#verified.get(key.id)
    if (known?.signature === undefined || key.wrapped === undefined || key.signature === undefined) return false
    return known.signature.equals(key.signature) && entryDigest(known).equals(entryDigest(key))
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
    if (secret.length !== SECRET_BYTES) throw new Error('What was unwrapped is not a key.')
    this.#known.set(id, { wrapped, secret })
    return secret
  }

  #whyForeign(): string {
    return this.#encryption === undefined
      ? 'keys of the ring are wrapped, and DATA_PROTECTION_KEY_VAULT_KEY_URI is not set'
      : 'keys of the ring are wrapped by another key than that of DATA_PROTECTION_KEY_VAULT_KEY_URI'
  }
}

function namedKeys(ids: readonly string[]): string {
  const more = ids.length - MAX_NAMED
  return `${ids.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
