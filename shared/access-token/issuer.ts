import type { VerificationKey } from './verification-key.js'

/** Someone whose tokens are accepted, with the keys that verify them and nobody else's. */
export interface Issuer {
  readonly issuer: string
  readonly audience: string
  /** The `typ` that the header of its tokens must have (RFC 7515 section 4.1.9), in any letter case; undefined for any. */
  readonly tokenType?: string | undefined
  /** undefined where the issuer has no such key. Throws `upstream.unavailable` where that cannot be found out. */
  key(kid: string): Promise<VerificationKey | undefined>
}
