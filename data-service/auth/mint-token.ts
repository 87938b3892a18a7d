import jwt from 'jsonwebtoken'
import type { Account } from './account.js'
import type { SigningKey } from './key-set.js'

export interface Minting {
  readonly key: SigningKey
  readonly issuer: string
  readonly audience: string
  readonly ownerClaimType: string
  /** Milliseconds. */
  readonly ttl: number
  readonly now: () => number
  readonly newId: () => string
}

export interface AccessToken {
  /** JWT. */
  readonly token: string
  /** Epoch milliseconds of its `exp`. */
  readonly expiresAt: number
}

/**
 * An access token of an account, signed with the service's own key. `sid` names the session that it belongs to (OpenID
 * Connect Front-Channel Logout 1.0 section 3 has the claim); undefined for a token outside any session.
 */
export function mintToken(account: Account, sid: string | undefined, minting: Minting): AccessToken {
  const { key, issuer, audience, ownerClaimType, ttl, now, newId } = minting
  const issuedAt = Math.floor(now() / 1000)
  const end = issuedAt + Math.max(1, Math.floor(ttl / 1000))
  const token = jwt.sign(
    {
      iss: issuer,
      aud: audience,
      sub: account.email,
      jti: newId(),
      iat: issuedAt,
      nbf: issuedAt,
      exp: end,
      name: account.name,
      role: account.role,
      ...(sid === undefined ? {} : { sid }),
      ...(account.owner === null ? {} : ownerClaim(ownerClaimType, account.owner))
    },
    key.privateKey,
    { algorithm: key.algorithm, keyid: key.kid }
  )
  return { token, expiresAt: end * 1000 }
}

/** A host may make the subject its owner claim, and a subject is text; so is what a JSON number would not hold. */
function ownerClaim(type: string, owner: bigint): Record<string, number | string> {
  const exact = owner >= BigInt(Number.MIN_SAFE_INTEGER) && owner <= BigInt(Number.MAX_SAFE_INTEGER)
  return { [type]: type === 'sub' || !exact ? String(owner) : Number(owner) }
}
