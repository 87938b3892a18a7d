import type { VerificationKey } from '../../shared/access-token/verification-key.js'
import type { IssuerKeys } from '../../shared/gen/auth/v1/IssuerKeys.js'
import type { KeysRequest__Output } from '../../shared/gen/auth/v1/KeysRequest.js'
import type { KeysResponse } from '../../shared/gen/auth/v1/KeysResponse.js'
import type { UnaryHandler } from '../rpc/call-context.js'
import type { PublishedIssuer } from './own-issuer.js'

/** The public keys of every issuer whose keys are at hand. */
export function keys(issuers: readonly PublishedIssuer[]): UnaryHandler<KeysRequest__Output, KeysResponse> {
  return async () => {
    const all = await Promise.all(issuers.map(issuerKeys))
    return { issuers: all.flat() }
  }
}

async function issuerKeys(of: PublishedIssuer): Promise<IssuerKeys[]> {
  const published = await of.keys()
  if (published === undefined) return []
  const jwks = Buffer.from(JSON.stringify({ keys: published.map(publicJwk) }))
  return [{ issuer: of.issuer, audience: of.audience, jwks }]
}

/** RFC 7517, public members alone. */
function publicJwk({ kid, algorithm, key }: VerificationKey): object {
  return { ...key.export({ format: 'jwk' }), kid, alg: algorithm, use: 'sig' }
}
