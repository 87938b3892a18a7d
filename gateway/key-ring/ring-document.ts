import { decodeBase64 } from '../../shared/strict-base64.js'
import type { WrappedSecret } from './key-encryption.js'
import type { KeyDates } from './key-life.js'

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
