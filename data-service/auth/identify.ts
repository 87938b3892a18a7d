import type { Issuer } from '../../shared/access-token/issuer.js'
import { TokenRefused, verifyToken } from '../../shared/access-token/verify-token.js'
import { DomainError } from '../../shared/domain-error.js'
import { callerOfClaims, type ClaimReading, ownClaims } from './caller-of-claims.js'
import { anonymous, type Caller } from './caller.js'

/** Finds out who calls from the values of `authorization` metadata; throws `auth.invalid-token`. */
export type Identify = (authorization: readonly string[]) => Promise<Caller>

/** `bearer` in any letter case (RFC 9110 section 11.1), then token68 (RFC 6750 section 2.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** A token that was sent has to hold, on public reads too; with none sent the caller is anonymous. */
export function identifyBy(
  issuers: readonly Issuer[],
  how: {
    readonly ownerClaimType: string
    /** How tokens of other issuers than the service itself are read, by issuer. */
    readonly outside?: ReadonlyMap<string, ClaimReading>
    readonly now: () => number
  }
): Identify {
  const own = ownClaims(how.ownerClaimType)
  return async (authorization) => {
    const [value, ...others] = authorization
    if (value === undefined) return anonymous
    const token = others.length === 0 ? BEARER.exec(value)?.[1] : undefined
    if (token === undefined) throw refused(new TokenRefused('authorization is not one bearer token'))
    try {
      const claims = await verifyToken(token, issuers, how)
      return callerOfClaims(claims, how.outside?.get(claims.iss) ?? own)
    } catch (error) {
      throw error instanceof TokenRefused ? refused(error) : error
    }
  }
}

function refused(reason: TokenRefused): DomainError {
  return new DomainError('auth.invalid-token', 'The access token is not valid, or not any more.', { cause: reason })
}
