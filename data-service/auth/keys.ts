import type { VerificationKey } from '../../shared/access-token/verification-key.js'
import type { IssuerKeys } from '../../shared/gen/auth/v1/IssuerKeys.js'
import type { KeysRequest__Output } from '../../shared/gen/auth/v1/KeysRequest.js'
import type { KeysResponse } from '../../shared/gen/auth/v1/KeysResponse.js'
import type { UnaryHandler } from '../rpc/call-context.js'
import type { PublishedIssuer } from './own-issuer.js'

/** The public keys of every issuer; an outside one whose keys cannot be had is told with none, not left out. */
export function keys(issuers: readonly PublishedIssuer[]): UnaryHandler<KeysRequest__Output, KeysResponse> {
  return async () => {
    return { issuers: await Promise.all(issuers.map(issuerKeys)) }
  }
}

async function issuerKeys(of: PublishedIssuer): Promise<IssuerKeys> {
  const published = (await of.keys()) ?? []
  const jwks = Buffer.from(JSON.stringify({ keys: published.map(publicJwk) }))
  return { issuer: of.issuer, audience: of.audience, jwks, tokenType: of.tokenType ?? '' }
}

/** RFC 7517, public members alone. */
function publicJwk({ kid, algorithm, key }: VerificationKey): object {
  return { ...key.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' }
}
