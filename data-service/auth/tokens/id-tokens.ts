import type { Logger } from 'pino'
import { TokenRejected, verifyToken } from '../../../shared/access-token.js'
import { isSecureUrl, metadataUrl, type OpenIdClient } from '../../../shared/openid-settings.js'
import { MAX_SUBJECT_LENGTH } from '../accounts/account-links.js'
import type { OutsideIdentity } from '../accounts/accounts.js'
import { fetchJwks, fetchText, outsideIssuer } from './outside-issuer.js'
import type { PublishedIssuer } from './signing-keys.js'

/** Who an ID token is about. `email` and `name` are what the provider says, and no proof of anything. */
export interface VerifiedIdentity extends OutsideIdentity {
  readonly email: string | undefined
  /** Whether the provider says of `email_verified` anything but true. A provider that says nothing is believed. */
  readonly isEmailUnverified: boolean
  readonly name: string | undefined
  /** Epoch milliseconds from which on verifyIdToken rejects the token. */
  readonly staleAt: number
}

/**
 * The OpenID provider as an issuer of ID tokens for this client. Its keys are found through its metadata, cached, and
 * fetched again in the background until `stopping`.
 */
export function openIdProvider(
  { issuer, clientId }: OpenIdClient,
  deps: { readonly now: () => number; readonly stopping: AbortSignal; readonly log: Logger }
): PublishedIssuer {
  const fetchKeys = async (uri: string): ReturnType<typeof fetchJwks> => fetchJwks(await keySetUri(uri, issuer))
  return outsideIssuer({ jwksUri: metadataUrl(issuer), issuer, audience: clientId }, { ...deps, fetchKeys })
}

/** Reads `jwks_uri` of a provider's metadata (OpenID Connect Discovery section 4). */
async function keySetUri(uri: string, issuer: string): Promise<string> {
  const metadata: unknown = JSON.parse(await fetchText(uri, 'application/json'))
  if (typeof metadata !== 'object' || metadata === null) throw new Error('the metadata of the provider is no object')
  // Section 4.3: the issuer must be exactly the one that was asked for.
  if (!('issuer' in metadata) || metadata.issuer !== issuer) {
    throw new Error(
      'the metadata of the provider names another issuer than OIDC_ISSUER, which must be exactly the same'
    )
  }
  const keys = 'jwks_uri' in metadata ? metadata.jwks_uri : undefined
  if (typeof keys !== 'string' || !URL.canParse(keys) || !isSecureUrl(new URL(keys))) {
    throw new Error('the metadata of the provider names no jwks_uri with https')
  }
  return keys
}

/** Seconds that the clocks of provider and service may differ. */
const TOLERANCE = 30
/** Seconds. A sign-in takes no longer: the cookie that it is bound to lives as long. */
const MAX_AGE = 600

/**
 * Verifies an ID token (OpenID Connect Core section 3.1.3.7): signature, algorithm, `kid`, `iss`, `aud`, `azp`, `exp`,
 * `nbf`, `iat` and `nonce`. Throws TokenRejected, or `upstream.unavailable` if the provider's keys cannot be fetched.
 */
export async function verifyIdToken(
  token: string,
  nonce: string,
  { provider, now }: { readonly provider: PublishedIssuer; readonly now: () => number }
): Promise<VerifiedIdentity> {
  const claims = await verifyToken(token, [provider], { now, tolerance: TOLERANCE, isIdToken: true })
  const { iss: issuer, sub: subject, aud, iat, azp }: Record<string, unknown> & typeof claims = claims
  if (nonce === '' || claims['nonce'] !== nonce) throw new TokenRejected('another nonce')
  // A token of several audiences must say that it was issued to this client.
  const isShared = Array.isArray(aud) && aud.length > 1
  if (azp === undefined ? isShared : azp !== provider.audience) throw new TokenRejected('issued to another client')
  const second = Math.floor(now() / 1000)
  if (typeof iat !== 'number' || iat > second + TOLERANCE) throw new TokenRejected('no time of issue, or one to come')
  if (iat + MAX_AGE + TOLERANCE <= second) throw new TokenRejected('issued too long ago')
  if (subject.length > MAX_SUBJECT_LENGTH) throw new TokenRejected(`a subject over ${MAX_SUBJECT_LENGTH} characters`)
  return {
    issuer,
    subject,
    email: trimmedClaim(claims['email']),
    // Some providers send it as a string.
    isEmailUnverified: ![undefined, true, 'true'].some((one) => one === claims['email_verified']),
    name: trimmedClaim(claims['name']),
    staleAt: (iat + MAX_AGE + TOLERANCE) * 1000
  }
}

function trimmedClaim(claim: unknown): string | undefined {
  return typeof claim === 'string' && claim.trim() !== '' ? claim.trim() : undefined
}
