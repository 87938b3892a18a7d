import { randomBytes } from 'node:crypto'
import { decodeBase64 } from '../../shared/transport/wire.js'
import type { KeyDates, RingKey } from './ring-key.js'

/** A secret that is encrypted by the key-encryption key. */
export interface WrappedSecret {
  /** The name of the key that wrapped it, with its version. */
  readonly by: string
  readonly bytes: Buffer
}

/** The key-encryption key. It stays in its vault, which may be out of reach or reject a call at any time. */
export interface KeyEncryption {
  /** For the log, without secrets. */
  readonly place: string
  wrap(secret: Buffer): Promise<WrappedSecret>
  unwrap(wrapped: WrappedSecret): Promise<Buffer>
  /** Whether any version of this key has wrapped the secret. */
  hasWrapped(wrapped: WrappedSecret): boolean
}

/** The length of a key's secret in bytes. */
const SECRET_BYTES = 32

/** A key as it is stored: in plain form, or wrapped by a key-encryption key. */
export type StoredKey = KeyDates &
  ({ readonly secret: Buffer; readonly wrapped?: never } | { readonly wrapped: WrappedSecret; readonly secret?: never })

const KEY_ID = /^[A-Za-z0-9_-]{16}$/
const FORMAT = 1

/** Reads a stored ring. Throws if the text is no ring: it may be something else, and must not be overwritten. */
export function parseRing(text: string): StoredKey[] {
  const ring = asObject(parseJson(text))
  const { format, keys } = ring
  if (format !== FORMAT || !Array.isArray(keys)) throw invalidRing('format')
  return keys.map(parseKey)
}

/** The opposite of parseRing. */
export function ringText(keys: readonly StoredKey[]): string {
  const entries = keys.map(({ id, created, activates, expires, secret, wrapped }) => ({
    id,
    created,
    activates,
    expires,
    ...(wrapped === undefined
      ? { secret: secret.toString('base64') }
      : { wrapped: wrapped.bytes.toString('base64'), wrappedBy: wrapped.by })
  }))
  return `${JSON.stringify({ format: FORMAT, keys: entries }, undefined, 2)}\n`
}

function parseKey(value: unknown): StoredKey {
  const { id, created, activates, expires, secret, wrapped, wrappedBy } = asObject(value)
  if (typeof id !== 'string' || !KEY_ID.test(id)) throw invalidRing('id')
  const dates = { id, created: asDate(created), activates: asDate(activates), expires: asDate(expires) }
  if (wrapped !== undefined) {
    if (typeof wrappedBy !== 'string') throw invalidRing('wrappedBy')
    return { ...dates, wrapped: { by: wrappedBy, bytes: asBytes(wrapped) } }
  }
  const bytes = asBytes(secret)
  if (bytes.length !== SECRET_BYTES) throw invalidRing('secret')
  return { ...dates, secret: bytes }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, which may hold keys.
    throw invalidRing('JSON')
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidRing('object')
  return { ...value }
}

function asDate(value: unknown): Date {
  const date = new Date(typeof value === 'string' ? value : Number.NaN)
  if (Number.isNaN(date.getTime())) throw invalidRing('date')
  return date
}

function asBytes(value: unknown): Buffer {
  const bytes = typeof value === 'string' ? decodeBase64(value) : undefined
  if (bytes === undefined) throw invalidRing('base64')
  return bytes
}

function invalidRing(what: string): Error {
  return new Error(`What is stored there is no key ring (${what}).`)
}

export function newKey(dates: Omit<KeyDates, 'id'>): RingKey {
  return { ...dates, id: randomBytes(12).toString('base64url'), secret: randomBytes(SECRET_BYTES) }
}

/** Characters of a failure's message. That of an identity tells in one line each why it has no token from each source. */
const LONGEST_MESSAGE = 2000

/**
 * The text of a failure that may be logged. Errors of the Azure clients contain whole requests with tokens and signatures,
 * so only status, code and message are taken, and the query of a URL in the message is removed.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure'
  const codes = [property(error, 'statusCode'), property(error, 'code')].filter((code) => code !== undefined)
  const message = error.message.replace(/\?[^\s'"]*/g, '?***').slice(0, LONGEST_MESSAGE)
  return [...codes, message === '' ? error.name : message].join(' ')
}

function property(error: Error, name: 'statusCode' | 'code'): string | undefined {
  const value: unknown = Reflect.get(error, name)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/**
 * Why a part of the shared ring cannot be used: the store, wrapping or unwrapping failed; a key is wrapped by another
 * key-encryption key (`foreign`); or a key is stored unwrapped although keys are wrapped here (`unwrapped`). A retry does not
 * help against the last two.
 */
export interface RingProblem {
  readonly at: 'store' | 'wrap' | 'unwrap' | 'foreign' | 'unwrapped'
  /** For the log, without secrets. */
  readonly detail: string
}

/** Wraps keys before they are stored and unwraps stored keys; without a key-encryption key, keys stay in plain form. */
export class KeyWrapping {
  readonly #encryption: KeyEncryption | undefined
  /** Cache of wrapped and unwrapped secrets by key id. The vault is called once for each, and may be out of reach later. */
  readonly #known = new Map<string, { readonly wrapped: WrappedSecret; readonly secret: Buffer }>()

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

  /** Whether the key is stored in plain form although keys are wrapped here. */
  isUnexpectedlyPlain({ wrapped }: StoredKey): boolean {
    return this.wraps && wrapped === undefined
  }

  /** The key as it may be stored. Rejects if it cannot be wrapped. */
  async wrap(key: StoredKey): Promise<StoredKey> {
    if (key.wrapped !== undefined || this.#encryption === undefined) return key
    const { secret, ...dates } = key
    const wrapped = await this.#encryption.wrap(secret)
    this.#known.set(key.id, { wrapped, secret })
    return { ...dates, wrapped }
  }

  /** The keys that could be unwrapped, and one problem for each of the others. */
  async unwrapAll(stored: readonly StoredKey[]): Promise<{ keys: RingKey[]; problems: RingProblem[] }> {
    const keys: RingKey[] = []
    const problems: RingProblem[] = []
    await Promise.all(
      stored.map(async ({ wrapped, secret, ...dates }) => {
        try {
          const bytes = wrapped === undefined ? secret : await this.#secretOf(dates.id, wrapped)
          if (bytes !== undefined) keys.push({ ...dates, secret: bytes })
          else problems.push({ at: 'foreign', detail: this.#whyForeign() })
        } catch (error) {
          problems.push({ at: 'unwrap', detail: describeFailure(error) })
        }
      })
    )
    this.#forgetOthers(stored)
    return { keys, problems }
  }

  /** Removes cached keys that are not stored: another process was faster to store its key, or the key is too old. */
  #forgetOthers(stored: readonly StoredKey[]): void {
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
