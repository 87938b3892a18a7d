import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import jwt, { type JwtHeader, type JwtPayload } from 'jsonwebtoken'

/** An issuer whose tokens are accepted. Its keys verify its own tokens alone. */
export interface Issuer {
  readonly issuer: string
  readonly audience: string
  /** The `typ` that the header of its tokens must have (RFC 7515 section 4.1.9), in any letter case; undefined for any. */
  readonly tokenType?: string | undefined
  /** undefined where the issuer has no such key. Throws `upstream.unavailable` where that cannot be found out. */
  key(kid: string): Promise<VerificationKey | undefined>
}

/** A public key and the one algorithm that it verifies. */
export interface VerificationKey {
  readonly kid: string
  readonly algorithm: 'ES256' | 'RS256'
  readonly key: KeyObject
}

const MIN_RSA_BITS = 2048

/** The algorithm that a key signs with here; undefined for keys of any other kind or too short. */
export function algorithmOf(key: KeyObject): VerificationKey['algorithm'] | undefined {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  if (key.asymmetricKeyType === 'ec') return namedCurve === 'prime256v1' ? 'ES256' : undefined
  return key.asymmetricKeyType === 'rsa' && modulusLength >= MIN_RSA_BITS ? 'RS256' : undefined
}

/** RFC 7638: the same key has the same id in every replica. */
export function thumbprint(publicKey: KeyObject): string {
  const { e, kty, n, crv, x, y } = publicKey.export({ format: 'jwk' })
  // Members in lexicographic order, as the RFC demands.
  const members = kty === 'EC' ? { crv, kty, x, y } : { e, kty, n }
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url')
}

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

/** The claims of a verified token. */
export type Claims = JwtPayload & { readonly iss: string; readonly sub: string; readonly exp: number }

/** The last second of the year 9999, after which RFC 3339 has no date. */
const LAST_EXPIRY = 253_402_300_799

/** Why a token is not valid. The message is for the log alone. */
export class TokenRejected extends Error {
  override readonly name = 'TokenRejected'
}

/**
 * Checks signature, algorithm, `iss`, `aud`, `exp` (required), `nbf`, `kid` and `sub`. Throws TokenRejected, or
 * `upstream.unavailable` if it cannot be found out whether the issuer has the token's key. `now` is in epoch milliseconds.
 * With `acceptExpired` an expired token is accepted too.
 */
export async function verifyToken(
  token: string,
  issuers: readonly Issuer[],
  { now, acceptExpired = false }: { readonly now: () => number; readonly acceptExpired?: boolean }
): Promise<Claims> {
  const { header, issuer: claimed } = unverified(token)
  const issuer = issuers.find((one) => one.issuer === claimed)
  if (issuer === undefined) throw new TokenRejected('unknown issuer')
  if (typeof header.kid !== 'string') throw new TokenRejected('no key id')
  // RFC 7515 section 4.1.11: a token with critical parameters that are not understood must be rejected. None is known here.
  if (header.crit !== undefined) throw new TokenRejected('critical header parameters')
  if (!isOfType(header.typ, issuer.tokenType)) throw new TokenRejected('another type of token')
  const key = await issuer.key(header.kid)
  if (key === undefined) throw new TokenRejected('unknown key id')
  const claims = verified(() =>
    jwt.verify(token, key.key, {
      algorithms: [key.algorithm],
      issuer: issuer.issuer,
      audience: issuer.audience,
      clockTimestamp: Math.floor(now() / 1000),
      ignoreExpiration: acceptExpired
    })
  )
  // jsonwebtoken accepts a token without `exp` as one that never expires.
  if (typeof claims === 'string' || typeof claims.exp !== 'number') throw new TokenRejected('no expiry')
  if (claims.exp > LAST_EXPIRY) throw new TokenRejected('an expiry beyond the year 9999')
  if (typeof claims.sub !== 'string' || claims.sub === '') throw new TokenRejected('no subject')
  return { ...claims, iss: issuer.issuer, sub: claims.sub, exp: claims.exp }
}

/** RFC 7515 section 4.1.9: a media type, of which `application/` may be left out. */
function isOfType(typ: unknown, required: string | undefined): boolean {
  if (required === undefined) return true
  const plain = (type: string): string => type.toLowerCase().replace(/^application\//, '')
  return typeof typ === 'string' && plain(typ) === plain(required)
}

/** The header and the issuer of a token, not verified: they tell which key verifies it. */
function unverified(token: string): { header: JwtHeader; issuer: unknown } {
  const decoded = verified(() => jwt.decode(token, { complete: true }))
  // Claims may be any JSON at all, null included, whatever the types say.
  const payload: unknown = decoded?.payload
  if (decoded === null || typeof payload !== 'object' || payload === null || !('iss' in payload)) {
    throw new TokenRejected('not a JWT with an issuer')
  }
  return { header: decoded.header, issuer: payload.iss }
}

function verified<T>(verify: () => T): T {
  try {
    return verify()
  } catch (error) {
    // The parser's own message quotes the text that could not be parsed.
    throw new TokenRejected(error instanceof jwt.JsonWebTokenError ? error.message : 'not a JWT', { cause: error })
  }
}
