import type { Account } from './account.js'
import type { AuthStore } from './auth-store.js'
import type { AccessToken } from './mint-token.js'
import type { PublishedIssuer } from './own-issuer.js'
import type { Passwords } from './passwords.js'

/** What the rpcs of AuthService work with. Durations in milliseconds. */
export interface Authenticating {
  readonly store: AuthStore
  readonly passwords: Passwords
  /** Hash of nobody's password, for accounts that do not exist. */
  readonly decoyHash: string
  /** Mints one for a session, which `sid` names. */
  readonly accessToken: (account: Account, sid: string) => AccessToken
  /** The service's own first. */
  readonly issuers: readonly PublishedIssuer[]
  /** Whether sample accounts may log in. */
  readonly sampleData: boolean
  readonly refreshTtl: number
  readonly refreshGrace: number
  readonly now: () => number
  readonly randomBytes: (size: number) => Buffer
}
