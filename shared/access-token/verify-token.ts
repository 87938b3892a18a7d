import jwt, { type JwtHeader, type JwtPayload } from 'jsonwebtoken'
import type { Issuer } from './issuer.js'

/** The claims of a token that holds. */
export type Claims = JwtPayload & { readonly iss: string; readonly sub: string; readonly exp: number }

/** The last second of the year 9999, after which RFC 3339 has no date. */
const LAST_EXPIRY = 253_402_300_799

/** Why a token was refused, for the log alone. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
}

/**
 * Checks signature, algorithm, `iss`, `aud`, `exp` (required), `nbf`, `kid` and `sub`. Throws TokenRefused, or
 * `upstream.unavailable` where an outside issuer's keys cannot be had. `now` in milliseconds. With
 * `acceptExpired` an `exp` may have passed.
 */
export async function verifyToken(
  token: string,
  issuers: readonly Issuer[],
  { now, acceptExpired = false }: { readonly now: () => number; readonly acceptExpired?: boolean }
): Promise<Claims> {
  const { header, issuer: claimed } = unverified(token)
  const issuer = issuers.find((one) => one.issuer === claimed)
  if (issuer === undefined) throw new TokenRefused('unknown issuer')
  if (typeof header.kid !== 'string') throw new TokenRefused('no key id')
  // RFC 7515 section 4.1.11: what is marked critical and not understood must be refused, and nothing is understood.
  if (header.crit !== undefined) throw new TokenRefused('critical header parameters')
  if (!isOfType(header.typ, issuer.tokenType)) throw new TokenRefused('another type of token')
  const key = await issuer.key(header.kid)
  if (key === undefined) throw new TokenRefused('unknown key id')
  const claims = verified(() =>
    jwt.verify(token, key.key, {
      algorithms: [key.algorithm],
      issuer: issuer.issuer,
      audience: issuer.audience,
      clockTimestamp: Math.floor(now() / 1000),
      ignoreExpiration: acceptExpired
    })
  )
  // jsonwebtoken takes a token without `exp` for one that never expires.
  if (typeof claims === 'string' || typeof claims.exp !== 'number') throw new TokenRefused('no expiry')
  if (claims.exp > LAST_EXPIRY) throw new TokenRefused('an expiry beyond the year 9999')
  if (typeof claims.sub !== 'string' || claims.sub === '') throw new TokenRefused('no subject')
  return { ...claims, iss: issuer.issuer, sub: claims.sub, exp: claims.exp }
}

/** RFC 7515 section 4.1.9: a media type, of which `application/` may be left out. */
function isOfType(typ: unknown, required: string | undefined): boolean {
  if (required === undefined) return true
  const plain = (type: string): string => type.toLowerCase().replace(/^application\//, '')
  return typeof typ === 'string' && plain(typ) === plain(required)
}

/** What a token says of itself, to find the key that can tell whether it is true. */
function unverified(token: string): { header: JwtHeader; issuer: unknown } {
  const decoded = verified(() => jwt.decode(token, { complete: true }))
  // Claims may be any JSON at all, null included, whatever the types say.
  const payload: unknown = decoded?.payload
  if (decoded === null || typeof payload !== 'object' || payload === null || !('iss' in payload)) {
    throw new TokenRefused('not a JWT with an issuer')
  }
  return { header: decoded.header, issuer: payload.iss }
}

function verified<T>(verify: () => T): T {
  try {
    return verify()
  } catch (error) {
    // The parser's own words repeat what could not be parsed.
    throw new TokenRefused(error instanceof jwt.JsonWebTokenError ? error.message : 'not a JWT', { cause: error })
  }
}
