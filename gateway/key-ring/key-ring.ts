import { createHmac, timingSafeEqual } from 'node:crypto'
import { newKey } from './ring-document.js'
import { deriveKey, isReadable, KEY_LIFE, keyToSignWith, type RingKey } from './ring-key.js'

/** Keys of this process alone, for as long as there is no shared key. They are not stored. */
class ProcessKeys {
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

/** The source of the keys that replicas share. */
export interface KeySource {
  keys(): readonly RingKey[]
  /** Reads the shared keys again. Never rejects, and takes a bounded time. */
  lookAgain(): Promise<void>
  /** For the log: why a key of another process may be unknown here. */
  whyUnknown(): string
}

interface Signature {
  readonly keyId: string
  /** An HMAC-SHA-256 of 32 bytes. */
  readonly mac: Buffer
}

export type Verdict = { readonly valid: true } | { readonly valid: false; readonly why: string }

interface KeyRingParts {
  /** Separates this application from others that share the stored ring. */
  readonly application: string
  readonly source: KeySource
  readonly now: () => Date
}

/**
 * Signs and verifies for this process and its replicas. While there is no shared key, a key of this process alone is used,
 * so signing never fails. This process still accepts such signatures when it has shared keys again.
 */
export class KeyRing {
  readonly #application: string
  readonly #source: KeySource
  readonly #now: () => Date
  readonly #processKeys = new ProcessKeys()

  constructor({ application, source, now }: KeyRingParts) {
    this.#application = application
    this.#source = source
    this.#now = now
  }

  sign(purpose: string, message: Buffer): Signature {
    const now = this.#now()
    const key = keyToSignWith(this.#source.keys(), now) ?? this.#processKeys.current(now)
    return { keyId: key.id, mac: macOf(key, { application: this.#application, purpose, message }) }
  }

  async verify(purpose: string, message: Buffer, { keyId, mac }: Signature): Promise<Verdict> {
    if (this.#find(keyId) === undefined) await this.#source.lookAgain()
    const key = this.#find(keyId)
    if (key === undefined) return { valid: false, why: `its key is not in this ring: ${this.#source.whyUnknown()}` }
    if (!isReadable(key, this.#now())) return { valid: false, why: 'its key expired long ago' }
    // What was signed before the application got its name is read for as long as its key is.
    const names = new Set([this.#application, UNNAMED])
    const isSigned = [...names].some((name) => isSameMac(mac, macOf(key, { application: name, purpose, message })))
    return isSigned ? { valid: true } : { valid: false, why: 'the signature is wrong' }
  }

  #find(keyId: string): RingKey | undefined {
    return [...this.#source.keys(), ...this.#processKeys.all()].find(({ id }) => id === keyId)
  }
}

function macOf(
  { secret }: RingKey,
  {
    application,
    purpose,
    message
  }: { readonly application: string; readonly purpose: string; readonly message: Buffer }
): Buffer {
  return createHmac('sha256', deriveKey(secret, application, purpose))
    .update(message)
    .digest()
}

function isSameMac(mac: Buffer, expected: Buffer): boolean {
  return mac.length === expected.length && timingSafeEqual(mac, expected)
}

/**
 * Part of every derived key, so that another application with the same stored ring has other keys. The name of an application
 * that has none of its own, as every one was before there was the setting.
 */
export const UNNAMED = 'uniform-rest'

/** A ring that is not shared. This process makes its keys, and they end with the process. */
export function processRing(now: () => Date): KeyRing {
  const source = {
    keys: () => [],
    lookAgain: () => Promise.resolve(),
    whyUnknown: () => 'DATA_PROTECTION_BLOB_STORAGE_URI is not set, so every process has a ring of its own'
  }
  return new KeyRing({ application: UNNAMED, source, now })
}
