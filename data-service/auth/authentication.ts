import { randomBytes, randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { VerificationKey } from '../../shared/access-token.js'
import type { IssuerKeys } from '../../shared/gen/auth/v1/IssuerKeys.js'
import type { KeysRequest__Output } from '../../shared/gen/auth/v1/KeysRequest.js'
import type { KeysResponse } from '../../shared/gen/auth/v1/KeysResponse.js'
import type { UnaryHandler } from '../entity/caller.js'
import { type Account, addSampleAccounts, type AuthStore, type SampleAccounts } from './accounts.js'
import { type ClaimReading, type Identify, identifyBy, outsideClaims, type PermissionsOf } from './claims.js'
import { outsideIssuer, type OutsideIssuerConfig } from './outside-issuer.js'
import { argon2Passwords, type Passwords } from './passwords.js'
import { type AccessToken, mintToken, ownIssuer, type PublishedIssuer, watchKeys } from './signing-keys.js'

/** The settings of tokens (contract.md section 1). Durations in milliseconds. */
export interface TokenConfig {
  readonly issuer: string
  readonly audience: string
  /** undefined: a key of its own, made under the data folder. */
  readonly privateKeyFile: string | undefined
  readonly outside: OutsideIssuerConfig | undefined
  readonly accessTtl: number
  readonly refreshTtl: number
  readonly refreshGrace: number
}

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

/** Who calls, and how one becomes somebody, as the settings ask for it. */
export interface Authentication {
  readonly identify: Identify
  /** Adds the sample accounts where they are asked for. */
  over(store: AuthStore): Promise<Authenticating>
}

/** Reads the service's own keys, which are made where there are none, and follows their file until the process stops. */
export async function openAuthentication(
  config: {
    readonly tokens: TokenConfig
    readonly dataDir: string
    readonly ownership: { readonly claimType: string }
    readonly sampleData: boolean
  },
  how: {
    readonly permissionsOf: PermissionsOf
    /** Added where `sampleData` is on; undefined for none. */
    readonly sampleAccounts: SampleAccounts | undefined
    readonly log: Logger
    readonly stopping: AbortSignal
  }
): Promise<Authentication> {
  const { tokens, dataDir, ownership, sampleData } = config
  const { permissionsOf, sampleAccounts, log, stopping } = how
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
    identify: identifyBy(issuers, { ownerClaimType, permissionsOf, outside, now }),
    over: async (store) => {
      if (sampleData && sampleAccounts !== undefined) {
        await addSampleAccounts(store, sampleAccounts, { passwords, now, signal: stopping })
      }
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

/** The rpc Keys: the public keys of every issuer. An outside issuer whose keys cannot be had is listed without keys. */
export function keys(issuers: readonly PublishedIssuer[]): UnaryHandler<KeysRequest__Output, KeysResponse> {
  return async (_call, { missingKeyId }) => {
    const missing = missingKeyId === '' ? undefined : missingKeyId
    return { issuers: await Promise.all(issuers.map((issuer) => issuerKeys(issuer, missing))) }
  }
}

async function issuerKeys(of: PublishedIssuer, missingKeyId: string | undefined): Promise<IssuerKeys> {
  const published = await of.keys(missingKeyId)
  const jwks = Buffer.from(JSON.stringify({ keys: published.keys.map(publicJwk) }))
  const { issuer, audience, tokenType = '' } = of
  return { issuer, audience, jwks, tokenType, inDoubt: published.inDoubt }
}

/** RFC 7517, public members alone. */
function publicJwk({ kid, algorithm, key }: VerificationKey): object {
  return { ...key.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' }
}
