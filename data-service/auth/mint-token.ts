import jwt from 'jsonwebtoken'
import type { SampleAccount } from './sample-accounts.js'
import type { SigningKey } from './signing-key.js'

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

/** An access token of an account, signed with the service's own key. */
export function mintToken(account: SampleAccount, minting: Minting): string {
  const { key, issuer, audience, ownerClaimType, ttl, now, newId } = minting
  const issuedAt = Math.floor(now() / 1000)
  return jwt.sign(
    {
      iss: issuer,
      aud: audience,
      sub: account.email,
      jti: newId(),
      iat: issuedAt,
      nbf: issuedAt,
      exp: issuedAt + Math.max(1, Math.floor(ttl / 1000)),
      name: account.name,
      role: account.role,
      ...(account.owner === null ? {} : ownerClaim(ownerClaimType, account.owner))
    },
    key.privateKey,
    { algorithm: key.algorithm, keyid: key.kid }
  )
}

/** A host may make the subject its owner claim, and a subject is text. */
function ownerClaim(type: string, owner: number): Record<string, number | string> {
  return { [type]: type === 'sub' ? String(owner) : owner }
}
