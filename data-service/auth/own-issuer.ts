import type { Issuer } from '../../shared/access-token/issuer.js'
import type { KeySet } from './key-set.js'
import type { VerificationKey } from '../../shared/access-token/verification-key.js'

/** An issuer whose keys are told to others. */
export interface PublishedIssuer extends Issuer {
  /** All of them; undefined while they cannot be had. */
  keys(): Promise<readonly VerificationKey[] | undefined>
}

/** The service itself, whose keys are at hand, as they are at the moment. */
export function ownIssuer(of: { issuer: string; audience: string }, keySet: () => KeySet): PublishedIssuer {
  return {
    issuer: of.issuer,
    audience: of.audience,
    key: (kid) => Promise.resolve(keySet().verifying.find((one) => one.kid === kid)),
    keys: () => Promise.resolve(keySet().verifying)
  }
}
