import { randomBytes } from 'node:crypto'
import type { AuthDeps } from '../../../data-service/auth/authentication.js'

const unused = (): never => {
  throw new Error('These tests log nobody in')
}

/** For a service whose AuthService nobody calls. */
export const noAuthentication: AuthDeps = {
  store: {
    findAccount: unused,
    listAccounts: unused,
    accountsAfter: unused,
    describeAccount: unused,
    sessionsOf: unused,
    listLinks: unused,
    findOneTimeLink: unused,
    listSecrets: unused,
    findAttempts: unused,
    transaction: unused,
    purgeAttempts: unused,
    purgeOneTimeLinks: unused,
    purgeSessions: unused,
    purgeUsedTokens: unused
  },
  passwords: { hash: unused, verify: unused },
  decoyHash: '',
  accessToken: unused,
  issuers: [],
  outsideSignIn: undefined,
  oneTimeLinks: undefined,
  sampleData: false,
  refreshTtl: 1000,
  refreshGrace: 1000,
  now: Date.now,
  randomBytes,
  newId: unused
}
