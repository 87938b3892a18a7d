import { randomBytes } from 'node:crypto'
import { decodeBase64 } from '../../shared/wire.js'
import type { KeyDates, RingKey } from './ring-key.js'

/** A secret as only the key-encryption key can read it. */
export interface WrappedSecret {
  /** Names the key that wrapped it, its version included. */
  readonly by: string
  readonly bytes: Buffer
}

/** The key-encryption key: it never leaves where it is, which may refuse or be out of reach at any time. */
export interface KeyEncryption {
  /** For the log, without secrets. */
  readonly place: string
  wrap(secret: Buffer): Promise<WrappedSecret>
  unwrap(wrapped: WrappedSecret): Promise<Buffer>
  /** Whether it is this key, in whatever version, that has wrapped a secret. */
  hasWrapped(wrapped: WrappedSecret): boolean
}

/** Bytes of a key's secret. */
export const SECRET_BYTES = 32

/** A key as it is stored: in the clear, or wrapped by a key-encryption key. */
export type StoredKey = KeyDates &
  ({ readonly secret: Buffer; readonly wrapped?: never } | { readonly wrapped: WrappedSecret; readonly secret?: never })

const ID = /^[A-Za-z0-9_-]{16}$/
const FORMAT = 1

/** Reads a stored ring. Throws where the text is none: it may be anybody's, and is not to be overwritten. */
export function parseRing(text: string): StoredKey[] {
  const ring = asObject(parseJson(text))
  const { format, keys } = ring
  if (format !== FORMAT || !Array.isArray(keys)) throw notARing('format')
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
  if (typeof id !== 'string' || !ID.test(id)) throw notARing('id')
  const dates = { id, created: asDate(created), activates: asDate(activates), expires: asDate(expires) }
  if (wrapped !== undefined) {
    if (typeof wrappedBy !== 'string') throw notARing('wrappedBy')
    return { ...dates, wrapped: { by: wrappedBy, bytes: asBytes(wrapped) } }
  }
  const bytes = asBytes(secret)
  if (bytes.length !== SECRET_BYTES) throw notARing('secret')
  return { ...dates, secret: bytes }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes the text, which may hold keys.
    throw notARing('JSON')
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notARing('object')
  return { ...value }
}

function asDate(value: unknown): Date {
  const date = new Date(typeof value === 'string' ? value : Number.NaN)
  if (Number.isNaN(date.getTime())) throw notARing('date')
  return date
}

function asBytes(value: unknown): Buffer {
  const bytes = typeof value === 'string' ? decodeBase64(value) : undefined
  if (bytes === undefined) throw notARing('base64')
  return bytes
}

function notARing(what: string): Error {
  return new Error(`What is stored there is no key ring (${what}).`)
}

export function newKey(dates: Omit<KeyDates, 'id'>): RingKey {
  return { ...dates, id: randomBytes(12).toString('base64url'), secret: randomBytes(SECRET_BYTES) }
}

/**
 * A failure in words that may be logged. Errors of the Azure clients carry whole requests, tokens and signatures
 * included, so only their code and message are taken, without the query of any URL in it.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure'
  const codes = [property(error, 'statusCode'), property(error, 'code')].filter((code) => code !== undefined)
  const message = error.message.replace(/\?[^\s'"]*/g, '?***').slice(0, 300)
  return [...codes, message === '' ? error.name : message].join(' ')
}

function property(error: Error, name: 'statusCode' | 'code'): string | undefined {
  const value: unknown = Reflect.get(error, name)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** What stands between this process and the shared ring. `foreign` and `unwrapped`: keys that no retry will make fit. */
export interface Trouble {
  readonly at: 'store' | 'wrap' | 'unwrap' | 'foreign' | 'unwrapped'
  /** For the log, without secrets. */
  readonly detail: string
}

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
