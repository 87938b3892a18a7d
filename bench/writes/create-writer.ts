import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { sampleAccount } from '../../data-service/auth/accounts/accounts.js'
import { loadSigningKey, signAccessToken } from '../../data-service/auth/tokens/signing-keys.js'
import { sampleAccounts } from '../../examples/store/sample/accounts.js'
import type { TokenIssuer } from '../targets/target.js'

/** Who sends the writes. */
export interface Writer {
  readonly issuer: TokenIssuer
  /** Of an account that may manage products. */
  readonly token: string
}

/** Longer than any run. */
const TTL_MS = 24 * 60 * 60 * 1000

/** With a signing key under `folder`, made there where it is missing. */
export async function createWriter(folder: string): Promise<Writer> {
  const account = sampleAccounts.accounts.find(({ roles }) => roles.includes('Clerk'))
  if (account === undefined) throw new Error('No sample account is a clerk.')
  const key = await loadSigningKey({ file: undefined, dataDir: folder })
  const issuer = {
    name: 'uniform-rest',
    audience: 'uniform-rest',
    privateKeyFile: join(folder, 'signing-key.pem'),
    publicKey: key.key.export({ type: 'spki', format: 'pem' }).toString()
  }
  const { token } = signAccessToken(sampleAccount(account), undefined, {
    key,
    issuer: issuer.name,
    audience: issuer.audience,
    ownerClaimType: 'customer_id',
    ttl: TTL_MS,
    now: Date.now,
    newId: randomUUID
  })
  return { issuer, token }
}
