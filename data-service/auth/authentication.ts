import { randomBytes, randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { VerificationKey } from '../../shared/access-token.js'
import type { OpenIdClient } from '../../shared/openid-settings.js'
import type { IssuerKeys } from '../../shared/gen/auth/v1/IssuerKeys.js'
import type { KeysRequest__Output } from '../../shared/gen/auth/v1/KeysRequest.js'
import type { KeysResponse } from '../../shared/gen/auth/v1/KeysResponse.js'
import type { UnaryHandler } from '../entity/caller.js'
import { type Account, addSampleAccounts, type AuthStore, type SampleAccounts } from './accounts/accounts.js'
import {
  type ClaimMapping,
  type Identify,
  identifyBy,
  outsideClaimMapping,
  type OwnerClaims,
  type PermissionsOf
} from './tokens/claims.js'
import { openIdProvider } from './tokens/id-tokens.js'
import { outsideIssuer, type OutsideIssuerConfig } from './tokens/outside-issuer.js'
import { argon2Passwords, decoyHash, type Passwords } from './accounts/passwords.js'
import { type AccessToken, signAccessToken, ownIssuer, type PublishedIssuer, watchKeys } from './tokens/signing-keys.js'

/** The settings of tokens (contract.md section 1). Durations in milliseconds. */
export interface TokenConfig {
  readonly issuer: string
  readonly audience: string
  /** undefined: the service generates a key in the data folder. */
  readonly privateKeyFile: string | undefined
  readonly outside: OutsideIssuerConfig | undefined
  /** The OpenID provider that people sign in with; undefined for none. */
  readonly openId: (OpenIdClient & { readonly newAccountRole: string | undefined }) | undefined
  readonly accessTtl: number
  readonly refreshTtl: number
  readonly refreshGrace: number
}

/** Sign-in with an outside OpenID provider (contract.md section 8). */
interface OutsideProvider {
  /** Verifies ID tokens. It is none of `issuers`: an ID token is no access token. */
  readonly provider: PublishedIssuer
  /** The role of the account that an identity gets if none is linked to it; undefined: it gets none. */
  readonly newAccountRole: string | undefined
}

/** The settings of one-time links. */
export interface OneTimeLinkSettings {
  /** The page that a link leads to. The secret is its fragment, which browsers send to no server. */
  readonly url: string
  /** The roles of accounts that people make themselves. Without any, sign-up is off. */
  readonly signUpRoles: readonly string[]
}

/** What the rpcs of AuthService need. Durations in milliseconds. */
export interface AuthDeps {
  readonly store: AuthStore
  readonly passwords: Passwords
  /** The hash of a random password. It is verified for accounts that do not exist, so that a login takes as long there. */
  readonly decoyHash: string
  /** Signs an access token of the session `sid`; undefined for a machine account, which has no sessions. */
  readonly accessToken: (account: Account, sid: string | undefined) => AccessToken
  /** The service's own first. */
  readonly issuers: readonly PublishedIssuer[]
  /** Who signs in with the OpenID provider of OIDC_ISSUER; undefined if none is set. */
  readonly outsideSignIn: OutsideProvider | undefined
  /** undefined: no links are made and none is taken. */
  readonly oneTimeLinks: OneTimeLinkSettings | undefined
  /** Whether sample accounts may log in. */
  readonly sampleData: boolean
  readonly refreshTtl: number
  readonly refreshGrace: number
  readonly now: () => number
  readonly randomBytes: (size: number) => Buffer
  /** Makes a Guid. */
  readonly newId: () => string
}

/** Tells who calls, and opens sessions, as the settings ask for it. */
interface Authentication {
  readonly identify: Identify
  /** The deps of AuthService with this store. Adds the sample accounts first if the settings ask for them. */
  connect(store: AuthStore): Promise<AuthDeps>
}

/** Reads the service's own keys, generates them if there are none, and watches their file until the process stops. */
export async function openAuthentication(
  config: {
    readonly tokens: TokenConfig
    readonly dataDir: string
    readonly ownership: { readonly claimType: string; readonly owners: OwnerClaims }
    readonly sampleData: boolean
    readonly oneTimeLinks: OneTimeLinkSettings | undefined
  },
  how: {
    readonly permissionsOf: PermissionsOf
    /** Added if `sampleData` is on; undefined for none. */
    readonly sampleAccounts: SampleAccounts | undefined
    readonly log: Logger
    /** Epoch milliseconds. */
    readonly now: () => number
    readonly stopping: AbortSignal
  }
): Promise<Authentication> {
  const { tokens, dataDir, ownership, sampleData, oneTimeLinks } = config
  const { permissionsOf, sampleAccounts, log, now, stopping } = how
  const keySet = await watchKeys({ file: tokens.privateKeyFile, dataDir }, { log, stopping })
  const ownerClaimType = ownership.claimType
  const issuers: PublishedIssuer[] = [ownIssuer(tokens, keySet)]
  const outside = new Map<string, ClaimMapping>()
  if (tokens.outside !== undefined) {
    issuers.push(outsideIssuer(tokens.outside, { now, stopping, log }))
    outside.set(tokens.outside.issuer, outsideClaimMapping(tokens.outside.claims, ownerClaimType))
  }
  const tokenOptions = { ...tokens, ownerClaimType, ttl: tokens.accessTtl, now, newId: randomUUID }
  const passwords = argon2Passwords()
  const { openId } = tokens
  const outsideSignIn =
    openId === undefined
      ? undefined
      : { provider: openIdProvider(openId, { now, stopping, log }), newAccountRole: openId.newAccountRole }
  return {
    identify: identifyBy(issuers, { ownerClaimType, owners: ownership.owners, permissionsOf, outside, now }),
    connect: async (store) => {
      if (sampleData && sampleAccounts !== undefined) {
        await addSampleAccounts(store, sampleAccounts, { passwords, now, signal: stopping })
      }
      return {
        store,
        passwords,
        decoyHash: decoyHash(),
        accessToken: (account, sid) => signAccessToken(account, sid, { ...tokenOptions, key: keySet().signing }),
        issuers,
        outsideSignIn,
        oneTimeLinks,
        sampleData,
        refreshTtl: tokens.refreshTtl,
        refreshGrace: tokens.refreshGrace,
        now,
        randomBytes,
        newId: randomUUID
      }
    }
  }
}

/** The rpc Keys: the public keys of every issuer. An outside issuer whose keys cannot be fetched is listed without keys. */
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

/** RFC 7517, with the public members only. */
function publicJwk({ kid, algorithm, key }: VerificationKey): object {
  return { ...key.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' }
}
