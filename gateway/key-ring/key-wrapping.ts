import { describeFailure } from './describe-failure.js'
import type { KeyEncryption, WrappedSecret } from './key-encryption.js'
import { SECRET_BYTES, type StoredKey } from './ring-document.js'
import type { RingKey } from './ring-key.js'
import type { Trouble } from './trouble.js'

/** Takes secrets out of stored keys and puts them back, with a key-encryption key or without one. */
export class KeyWrapping {
  readonly #encryption: KeyEncryption | undefined
  /** What was wrapped or unwrapped here before, by key id: the vault is asked once, and may refuse later. */
  readonly #known = new Map<string, { readonly wrapped: WrappedSecret; readonly secret: Buffer }>()

  constructor(encryption: KeyEncryption | undefined) {
    this.#encryption = encryption
  }

  /** Whether keys are wrapped before they are stored. */
  get wraps(): boolean {
    return this.#encryption !== undefined
  }

  /** Whether the key is wrapped by what is configured here, if by anything. */
  isOurs({ wrapped }: StoredKey): boolean {
    return wrapped === undefined || this.#encryption?.hasWrapped(wrapped) === true
  }

  /** Whether the key is stored in the clear although keys are wrapped here. */
  isBare({ wrapped }: StoredKey): boolean {
    return this.wraps && wrapped === undefined
  }

  /** The key as it may be stored. Rejects when it cannot be wrapped. */
  async closed(key: StoredKey): Promise<StoredKey> {
    if (key.wrapped !== undefined || this.#encryption === undefined) return key
    const { secret, ...dates } = key
    const wrapped = await this.#encryption.wrap(secret)
    this.#known.set(key.id, { wrapped, secret })
    return { ...dates, wrapped }
  }

  /** The keys whose secrets can be had, and why the others cannot. */
  async opened(stored: readonly StoredKey[]): Promise<{ keys: RingKey[]; troubles: Trouble[] }> {
    const keys: RingKey[] = []
    const troubles: Trouble[] = []
    await Promise.all(
      stored.map(async ({ wrapped, secret, ...dates }) => {
        try {
          const bytes = wrapped === undefined ? secret : await this.#secretOf(dates.id, wrapped)
          if (bytes !== undefined) keys.push({ ...dates, secret: bytes })
          else troubles.push({ at: 'foreign', detail: this.#whyForeign() })
        } catch (error) {
          troubles.push({ at: 'unwrap', detail: describeFailure(error) })
        }
      })
    )
    this.#forgetAllBut(stored)
    return { keys, troubles }
  }

  /** Keys that somebody else was faster to make, and those that are over. */
  #forgetAllBut(stored: readonly StoredKey[]): void {
    const ids = new Set(stored.map(({ id }) => id))
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id)
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
