import type { DataServiceConfig } from '../config.js'
import { identifyBy, type Identify } from './identify.js'
import { ownIssuer } from './issuer.js'
import { outsideIssuer } from './outside-issuer.js'
import { loadSigningKey } from './signing-key.js'

/** Token validation as the settings ask for it, with the service's own key made where there is none. */
export async function readIdentify({ tokens, dataDir, ownership }: DataServiceConfig): Promise<Identify> {
  const key = await loadSigningKey({ file: tokens.privateKeyFile, dataDir })
  const issuers = [ownIssuer(tokens, key)]
  const now = Date.now
  if (tokens.outside !== undefined) issuers.push(outsideIssuer(tokens.outside, { now }))
  return identifyBy(issuers, { ownerClaimType: ownership.claimType, now })
}
