import { createHash, type KeyObject } from 'node:crypto'

/** A public key and the one algorithm that it verifies. */
export interface VerificationKey {
  readonly kid: string
  readonly algorithm: 'ES256' | 'RS256'
  readonly key: KeyObject
}

const MIN_RSA_BITS = 2048

/** The algorithm that a key signs with here; undefined for keys of any other kind or too short. */
export function algorithmOf(key: KeyObject): VerificationKey['algorithm'] | undefined {
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  if (key.asymmetricKeyType === 'ec') return namedCurve === 'prime256v1' ? 'ES256' : undefined
  return key.asymmetricKeyType === 'rsa' && modulusLength >= MIN_RSA_BITS ? 'RS256' : undefined
}

/** RFC 7638: the same key has the same id in every replica. */
export function thumbprint(publicKey: KeyObject): string {
  const { e, kty, n, crv, x, y } = publicKey.export({ format: 'jwk' })
  // Members in lexicographic order, as the RFC demands.
  const members = kty === 'EC' ? { crv, kty, x, y } : { e, kty, n }
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url')
}
