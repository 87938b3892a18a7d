import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Account } from '../data-service/auth/accounts/accounts.js'
import { loadSigningKey, signAccessToken } from '../data-service/auth/tokens/signing-keys.js'
import { CUSTOMERS } from './database/load-rows.js'
import type { TokenIssuer } from './targets/target.js'

/** Who sends the requests: every one of them carries an access token. */
export interface Clients {
  readonly issuer: TokenIssuer
  /** The token of a clerk, who may manage products. */
  readonly clerk: string
  /** The tokens of the customers 1 to CUSTOMERS, who read products and their own orders. */
  readonly customers: readonly string[]
}

/** Longer than any run. */
const TTL_MS = 24 * 60 * 60 * 1000

/** Signs with a key under `folder`, which is made there if it is missing. */
export async function createClients(folder: string): Promise<Clients> {
  const key = await loadSigningKey({ file: undefined, dataDir: folder })
  const issuer = {
    name: 'uniform-rest',
    audience: 'uniform-rest',
    privateKeyFile: join(folder, 'signing-key.pem'),
    publicKey: key.key.export({ type: 'spki', format: 'pem' }).toString()
  }
  const tokenOf = (account: Omit<Account, 'claims'>): string =>
    signAccessToken({ ...account, claims: {} }, undefined, {
      key,
      issuer: issuer.name,
      audience: issuer.audience,
      ownerClaimType: 'customer_id',
      ttl: TTL_MS,
      now: Date.now,
      newId: randomUUID
    }).token
  return {
    issuer,
    clerk: tokenOf({ email: 'clerk@example.com', name: 'Clerk', roles: ['Clerk'], owner: null }),
    customers: Array.from({ length: CUSTOMERS }, (_, index) =>
      tokenOf({
        email: `customer-${index + 1}@example.com`,
        name: `Customer ${index + 1}`,
        roles: ['Customer'],
        owner: BigInt(index + 1)
      })
    )
  }
}
