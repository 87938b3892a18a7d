import type { VerificationKey } from './verification-key.js'

/** Someone whose tokens are accepted, with the keys that verify them and nobody else's. */
export interface Issuer {
  readonly issuer: string
  readonly audience: string
  /** undefined where the issuer has no such key. Throws `upstream.unavailable` where that cannot be found out. */
  key(kid: string): Promise<VerificationKey | undefined>
}

/** The service itself: its one key is at hand. */
export function ownIssuer(of: { issuer: string; audience: string }, key: VerificationKey): Issuer {
  return { ...of, key: (kid) => Promise.resolve(kid === key.kid ? key : undefined) }
}
