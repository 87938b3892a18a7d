import { randomBytes, randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { DataServiceConfig } from '../config.js'
import type { AuthStore } from './auth-store.js'
import type { Authenticating } from './authenticating.js'
import { type Identify, identifyBy } from './identify.js'
import { loadSampleAccounts } from './load-sample-accounts.js'
import { mintToken } from './mint-token.js'
import { type ClaimReading, outsideClaims } from './caller-of-claims.js'
import { ownIssuer, type PublishedIssuer } from './own-issuer.js'
import { outsideIssuer } from './outside-issuer.js'
import { argon2Passwords } from './passwords.js'
import { watchKeys } from './watch-keys.js'

/** Who calls, and how one becomes somebody, as the settings ask for it. */
export interface Authentication {
  readonly identify: Identify
  /** Adds the sample accounts where they are asked for. */
  over(store: AuthStore): Promise<Authenticating>
}

/** Reads the service's own keys, which are made where there are none, and follows their file until the process stops. */
export async function openAuthentication(
  { tokens, dataDir, ownership, sampleData }: DataServiceConfig,
  { log, stopping }: { readonly log: Logger; readonly stopping: AbortSignal }
): Promise<Authentication> {
  const keySet = await watchKeys({ file: tokens.privateKeyFile, dataDir }, { log, stopping })
  const now = Date.now
  const ownerClaimType = ownership.claimType
  const issuers: PublishedIssuer[] = [ownIssuer(tokens, keySet)]
  const outside = new Map<string, ClaimReading>()
  if (tokens.outside !== undefined) {
    issuers.push(outsideIssuer(tokens.outside, { now, stopping, log }))
    outside.set(tokens.outside.issuer, outsideClaims(tokens.outside.claims, ownerClaimType))
  }
  const minting = { ...tokens, ownerClaimType, ttl: tokens.accessTtl, now, newId: randomUUID }
  const passwords = argon2Passwords()
  return {
    identify: identifyBy(issuers, { ownerClaimType, outside, now }),
    over: async (store) => {
      if (sampleData) await loadSampleAccounts(store, { passwords, now, signal: stopping })
      return {
        store,
        passwords,
        decoyHash: await passwords.hash(randomBytes(16).toString('base64url')),
        accessToken: (account, sid) => mintToken(account, sid, { ...minting, key: keySet().signing }),
        issuers,
        sampleData,
        refreshTtl: tokens.refreshTtl,
        refreshGrace: tokens.refreshGrace,
        now,
        randomBytes
      }
    }
  }
}
