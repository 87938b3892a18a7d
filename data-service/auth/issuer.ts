import type { Issuer } from '../../shared/access-token/issuer.js'
import type { VerificationKey } from '../../shared/access-token/verification-key.js'

/** The service itself: its one key is at hand. */
export function ownIssuer(of: { issuer: string; audience: string }, key: VerificationKey): Issuer {
  return { ...of, key: (kid) => Promise.resolve(kid === key.kid ? key : undefined) }
}
