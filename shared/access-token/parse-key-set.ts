import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { algorithmOf, type VerificationKey } from './verification-key.js'

const MAX_KEYS = 100

/**
 * A JSON Web Key Set (RFC 7517) by key id. Keys for anything but ES256 and RS256 signatures are left out. Throws where
 * the text is no key set.
 */
export function parseKeySet(text: string): ReadonlyMap<string, VerificationKey> {
  const set: unknown = JSON.parse(text)
  if (!isRecord(set) || !Array.isArray(set['keys'])) throw new Error('the key set has no keys')
  const members: readonly unknown[] = set['keys']
  return new Map(
    members.slice(0, MAX_KEYS).flatMap((member) => {
      const key = parseKey(member)
      return key === undefined ? [] : [[key.kid, key]]
    })
  )
}

function parseKey(member: unknown): VerificationKey | undefined {
  if (!isRecord(member)) return undefined
  const { kid, use, alg } = member
  if (typeof kid !== 'string' || kid === '' || (use !== undefined && use !== 'sig')) return undefined
  const key = importKey(member)
  const algorithm = key && algorithmOf(key)
  if (key === undefined || algorithm === undefined || (alg !== undefined && alg !== algorithm)) return undefined
  return { kid, algorithm, key }
}

function importKey(jwk: JsonWebKey): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' })
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
