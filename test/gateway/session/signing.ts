import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'

/** A key pair of an issuer with its public half as a JSON Web Key. */
export interface Signer {
  readonly kid: string
  readonly jwk: object
  readonly privateKey: KeyObject
}

export type Claims = Readonly<Record<string, unknown>>

export function newSigner(kid: string): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' } }
}

export function signed({ kid, privateKey }: Signer, claims: Claims): string {
  const input = unsigned(claims, { alg: 'ES256', kid })
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

/** Header and claims in compact form, without the signature's part. */
export function unsigned(claims: unknown, header: unknown = { alg: 'none' }): string {
  return [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
}
