import type { VerificationKey } from './verification-key.js'

/** Someone whose tokens are accepted, with the keys that verify them and nobody else's. */
export interface Issuer {
  readonly issuer: string
  readonly audience: string
  /** undefined where the issuer has no such key. Throws `upstream.unavailable` where that cannot be found out. */
  key(kid: string): Promise<VerificationKey | undefined>
}
