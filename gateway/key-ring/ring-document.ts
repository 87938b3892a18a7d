import { createHash, randomBytes } from 'node:crypto'
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
  /** Whether the name of the key that wrapped the secret is that of a version of this key. Any writer of the store can write it. */
  hasWrapped(wrapped: WrappedSecret): boolean
  /** Signs a SHA-256 digest with the version of the key that `by` names. */
  sign(by: string, digest: Buffer): Promise<Buffer>
  /** Whether the version of the key that `by` names has signed the digest. Rejects where that cannot be found out. */
  hasSigned(by: string, digest: Buffer, signature: Buffer): Promise<boolean>
}

/** The length of a key's secret in bytes. */
export const SECRET_BYTES = 32

/** `signature` is of entryDigest; keys that versions before the signature have stored have none. */
export type WrappedKey = KeyDates & {
  readonly wrapped: WrappedSecret
  readonly signature?: Buffer
  readonly secret?: never
}

/** A key as it is stored: in plain form, or wrapped by a key-encryption key. */
export type StoredKey = WrappedKey | (KeyDates & { readonly secret: Buffer; readonly wrapped?: never })

/**
 * What the signature of a stored key covers: all of the entry. The first member keeps a signature that the vault's key has
 * made for another purpose from being one of an entry.
 */
export function entryDigest({ id, created, activates, expires, wrapped: { by, bytes } }: WrappedKey): Buffer {
  const entry = ['uniform-rest key ring entry', id, created, activates, expires, by, bytes.toString('base64')]
  return createHash('sha256').update(JSON.stringify(entry)).digest()
}

const KEY_ID = /^[A-Za-z0-9_-]{16}$/
const RING_FORMAT = 1

/** Reads a stored ring. Throws if the text is no ring: it may be something else, and must not be overwritten. */
export function parseRing(text: string): StoredKey[] {
  const ring = asObject(parseRingText(text))
  const { format, keys } = ring
  if (format !== RING_FORMAT || !Array.isArray(keys)) throw invalidRing('format')
  return keys.map(parseKey)
}

/** The opposite of parseRing. */
export function ringText(keys: readonly StoredKey[]): string {
  const entries = keys.map((key) => {
    const { id, created, activates, expires } = key
    const dates = { id, created, activates, expires }
    if (key.wrapped === undefined) return { ...dates, secret: key.secret.toString('base64') }
    const { wrapped, signature } = key
    const wrapping = { wrapped: wrapped.bytes.toString('base64'), wrappedBy: wrapped.by }
    return { ...dates, ...wrapping, ...(signature === undefined ? {} : { signature: signature.toString('base64') }) }
  })
  return `${JSON.stringify({ format: RING_FORMAT, keys: entries }, undefined, 2)}\n`
}

function parseKey(value: unknown): StoredKey {
  const { id, created, activates, expires, secret, wrapped, wrappedBy, signature } = asObject(value)
  if (typeof id !== 'string' || !KEY_ID.test(id)) throw invalidRing('id')
  const dates = { id, created: asDate(created), activates: asDate(activates), expires: asDate(expires) }
  if (wrapped !== undefined) {
    if (typeof wrappedBy !== 'string') throw invalidRing('wrappedBy')
    const wrapping = { ...dates, wrapped: { by: wrappedBy, bytes: base64Bytes(wrapped) } }
    return signature === undefined ? wrapping : { ...wrapping, signature: base64Bytes(signature) }
  }
  const bytes = base64Bytes(secret)
  if (bytes.length !== SECRET_BYTES) throw invalidRing('secret')
  return { ...dates, secret: bytes }
}

function parseRingText(text: string): unknown {
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

function base64Bytes(value: unknown): Buffer {
  const bytes = typeof value === 'string' ? decodeBase64(value) : undefined
  if (bytes === undefined) throw invalidRing('base64')
  return bytes
}

function invalidRing(what: string): Error {
  return new Error(`What is stored there is not a key ring (${what}).`)
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

/** Why a stored key may have been put there by anybody who can write the store. */
export type Untrusted = (typeof UNTRUSTED)[number]

export const UNTRUSTED = ['unwrapped', 'unsigned', 'forged', 'surplus'] as const

/**
 * Why a part of the shared ring cannot be used: the store, wrapping or unwrapping failed; a key is wrapped by another
 * key-encryption key (`foreign`); or, although keys are wrapped and signed here, a key is stored unwrapped (`unwrapped`),
 * without a signature (`unsigned`) or with a wrong one (`forged`); or the ring has more keys than it can come to have
 * (`surplus`). A retry helps only against the first three.
 */
export interface RingProblem {
  readonly at: 'store' | 'wrap' | 'unwrap' | 'foreign' | Untrusted
  /** For the log, without secrets. */
  readonly detail: string
}
