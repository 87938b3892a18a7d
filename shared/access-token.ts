import { createHash, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import jwt, { type JwtHeader } from 'jsonwebtoken'

/** An issuer whose tokens are accepted. Its keys verify only its own tokens. */
export interface Issuer {
  readonly issuer: string
  readonly audience: string
  /** The `typ` that the header of its tokens must have (RFC 7515 section 4.1.9), in any letter case; undefined for any. */
  readonly tokenType?: string | undefined
  /** undefined if the issuer has no such key. Throws `upstream.unavailable` if that cannot be determined at the moment. */
  key(kid: string): Promise<VerificationKey | undefined>
}

/** A public key and the one algorithm that it verifies. */
export interface VerificationKey {
  readonly kid: string
  readonly algorithm: 'ES256' | 'RS256'
  readonly key: KeyObject
}

const MIN_RSA_BITS = 2048

/** The algorithm that is used with a key; undefined for other kinds of keys and for RSA keys that are too short. */
export function algorithmOf(key: KeyObject): VerificationKey['algorithm'] | undefined {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  if (key.asymmetricKeyType === 'ec') return namedCurve === 'prime256v1' ? 'ES256' : undefined
  return key.asymmetricKeyType === 'rsa' && modulusLength >= MIN_RSA_BITS ? 'RS256' : undefined
}

/** The thumbprint of a key (RFC 7638). It serves as key id, so that a key has the same id in every replica. */
export function thumbprint(publicKey: KeyObject): string {
  const { e, kty, n, crv, x, y } = publicKey.export({ format: 'jwk' })
  // The RFC requires the members in lexicographic order.
  const members = kty === 'EC' ? { crv, kty, x, y } : { e, kty, n }
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url')
}

const MAX_PUBLISHED_KEYS = 100

/**
 * The keys of a JSON Web Key Set (RFC 7517) by key id. Keys for other uses than ES256 and RS256 signatures are left out,
 * and so are all after the first 100. Throws an Error if the text is not a key set.
 */
export function parseKeySet(text: string): ReadonlyMap<string, VerificationKey> {
  const set: unknown = JSON.parse(text)
  if (!isRecord(set) || !Array.isArray(set['keys'])) throw new Error('the key set has no keys')
  const members: readonly unknown[] = set['keys']
  return new Map(
    members.slice(0, MAX_PUBLISHED_KEYS).flatMap((member) => {
      const key = parsePublishedKey(member)
      return key === undefined ? [] : [[key.kid, key]]
    })
  )
}

function parsePublishedKey(member: unknown): VerificationKey | undefined {
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
export type Claims = Readonly<Record<string, unknown>> & {
  readonly iss: string
  readonly sub: string
  readonly exp: number
}

/** The last second of the year 9999. RFC 3339 cannot express later times. */
const LAST_EXPIRY = 253_402_300_799

/** A token is not valid. The message says why; it is only for the log. */
export class TokenRejected extends Error {
  override readonly name = 'TokenRejected'
}

/** A valid token, and what has found it valid. */
export interface VerifiedToken {
  readonly claims: Claims
  readonly issuer: Issuer
  readonly key: VerificationKey
}

/** Whether a token that was valid still is: it has not expired, and its issuer still has the key. Rejects as `Issuer.key`. */
export async function isStillValid(
  { claims, issuer, key }: Pick<VerifiedToken, 'issuer' | 'key'> & { readonly claims: Pick<Claims, 'exp'> },
  now: number
): Promise<boolean> {
  return Math.floor(now / 1000) < claims.exp && (await issuer.key(key.kid)) === key
}

/** The claims of a token, as verifiedToken finds them. */
export async function verifyToken(...of: Parameters<typeof verifiedToken>): Promise<Claims> {
  return (await verifiedToken(...of)).claims
}

/**
 * Checks signature, algorithm, `iss`, `aud`, `exp` (required), `nbf`, `kid` and `sub`, which must be text that every
 * database stores. Throws TokenRejected, or
 * `upstream.unavailable` if it cannot be determined whether the issuer has the token's key. `now` is in epoch milliseconds.
 * With `acceptExpired` an expired token is accepted too. `tolerance`: seconds that the issuer's clock may differ. A token
 * with a nonce is an ID token (OpenID Connect Core section 2), which says who somebody is and gives no access: it takes
 * `isIdToken`.
 */
export async function verifiedToken(
  token: string,
  issuers: readonly Issuer[],
  how: {
    readonly now: () => number
    readonly acceptExpired?: boolean
    readonly tolerance?: number
    readonly isIdToken?: boolean
  }
): Promise<VerifiedToken> {
  const { now, acceptExpired = false, tolerance = 0, isIdToken = false } = how
  const { header, issuer: claimed, expiry } = unverified(token)
  const issuer = issuers.find((one) => one.issuer === claimed)
  if (issuer === undefined) throw new TokenRejected('unknown issuer')
  if (typeof header.kid !== 'string') throw new TokenRejected('no key id')
  // RFC 7515 section 4.1.11: a token with critical parameters that are not understood must be rejected. None is known here.
  if (header.crit !== undefined) throw new TokenRejected('critical header parameters')
  if (!hasTokenType(header.typ, issuer.tokenType)) throw new TokenRejected('another type of token')
  // A client may send an expired token with each of its requests. It is refused whoever signed it, so no signature is checked.
  const seconds = Math.floor(now() / 1000)
  if (!acceptExpired && typeof expiry === 'number' && seconds >= expiry + tolerance)
    throw new TokenRejected('jwt expired')
  const key = await issuer.key(header.kid)
  if (key === undefined) throw new TokenRejected('unknown key id')
  const claims = verified(() =>
    jwt.verify(token, key.key, {
      algorithms: [key.algorithm],
      issuer: issuer.issuer,
      audience: issuer.audience,
      clockTimestamp: seconds,
      clockTolerance: tolerance,
      ignoreExpiration: acceptExpired
    })
  )
  // jsonwebtoken accepts a token without `exp` as one that never expires.
  if (typeof claims === 'string' || typeof claims.exp !== 'number') throw new TokenRejected('no expiry')
  if (!isIdToken && claims['nonce'] !== undefined) throw new TokenRejected('an ID token')
  if (claims.exp > LAST_EXPIRY) throw new TokenRejected('an expiry beyond the year 9999')
  if (typeof claims.sub !== 'string' || claims.sub === '') throw new TokenRejected('no subject')
  // The subject is stored with every write. SQLite does not take U+0000, and half a surrogate pair has no form in UTF-8.
  if (/[\0\p{Surrogate}]/u.test(claims.sub)) throw new TokenRejected('a subject with U+0000 or half a surrogate pair')
  return { claims: { ...claims, iss: issuer.issuer, sub: claims.sub, exp: claims.exp }, issuer, key }
}

const HASH_DIGITS = 16

/**
 * An account in log lines: the first 64 bits of the SHA-256 of issuer and subject, with a line feed between. The hash has
 * no key, so that all processes agree on it without a shared secret and an operator can find the lines of a known account.
 * A reader of the logs can therefore check a guessed address.
 */
export function accountHash({ issuer, subject }: { readonly issuer: string; readonly subject: string }): string {
  const folded = subject.normalize('NFC').toLowerCase().normalize('NFC')
  return createHash('sha256').update(`${issuer}\n${folded}`).digest('hex').slice(0, HASH_DIGITS)
}

/** Who calls, in log lines. */
export interface LoggedAccount {
  /** As accountHash makes it. */
  readonly account: string
  /** The name of a machine account, which is no person's and not hidden. */
  readonly machine?: string
}

/** Characters. A longer subject would make lines of the log long. */
const MAX_LOGGED_MACHINE = 128

/** A client that calls for itself has its own id as the subject (RFC 9068 section 2.2): that is a machine. */
export function loggedAccount(claims: Pick<Claims, 'iss' | 'sub'>): LoggedAccount {
  const { iss: issuer, sub: subject } = claims
  const account = accountHash({ issuer, subject })
  const isMachine = 'client_id' in claims && claims.client_id === subject && subject.length <= MAX_LOGGED_MACHINE
  return isMachine ? { account, machine: subject } : { account }
}

/**
 * The account that a token names, for the log. IT VERIFIES NO SIGNATURE: somebody else has found the token valid.
 * undefined for what is no token with an issuer and a subject.
 */
export function accountOfVerified(token: string): LoggedAccount | undefined {
  const claims = jwt.decode(token, { json: true })
  const { iss, sub } = claims ?? {}
  return typeof iss === 'string' && typeof sub === 'string' ? loggedAccount({ ...claims, iss, sub }) : undefined
}

/** `typ` is a media type whose prefix `application/` may be left out (RFC 7515 section 4.1.9). */
function hasTokenType(typ: unknown, required: string | undefined): boolean {
  if (required === undefined) return true
  const plain = (type: string): string => type.toLowerCase().replace(/^application\//, '')
  return typeof typ === 'string' && plain(typ) === plain(required)
}

/** The header, the issuer and the expiry of a token, not verified. They are needed to find the key that verifies it. */
function unverified(token: string): { header: JwtHeader; issuer: unknown; expiry: unknown } {
  const decoded = verified(() => jwt.decode(token, { complete: true }))
  // The types say otherwise, but the claims can be any JSON value, null included.
  const payload: unknown = decoded?.payload
  if (decoded === null || typeof payload !== 'object' || payload === null || !('iss' in payload)) {
    throw new TokenRejected('not a JWT with an issuer')
  }
  return { header: decoded.header, issuer: payload.iss, expiry: 'exp' in payload ? payload.exp : undefined }
}

function verified<T>(verify: () => T): T {
  try {
    return verify()
  } catch (error) {
    // The message of the JSON parser is not used, because it quotes the text that could not be parsed.
    throw new TokenRejected(error instanceof jwt.JsonWebTokenError ? error.message : 'not a JWT', { cause: error })
  }
}
