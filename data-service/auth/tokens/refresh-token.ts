import { createHash } from 'node:crypto'
import { decodeBase64url } from '../../../shared/base64url.js'
import { seal, unseal } from './sealed-bytes.js'

/**
 * A refresh token has a reference of 128 random bits, which all tokens of its family share, and then a secret of 256 random
 * bits. Only holders of the family's tokens know the reference, and the store keeps its hash. So a token that has it and is
 * not stored was used before and was deleted since. Tokens of earlier versions have no reference.
 */
const REF_BYTES = 16
const TOKEN_SECRET_BYTES = 32

/** 32 or 48 bytes in base64url without padding. */
const TOKEN_TEXT = /^(?:[A-Za-z0-9_-]{43}|[A-Za-z0-9_-]{64})$/

/** The bytes of a refresh token's text; undefined for a text that cannot be a refresh token. */
export function parseRefreshToken(text: string): Buffer | undefined {
  return TOKEN_TEXT.test(text) ? decodeBase64url(text) : undefined
}

/** The reference of a token's family; undefined for a token of an earlier version. */
function familyRefOf(token: Buffer): Buffer | undefined {
  return token.length === REF_BYTES + TOKEN_SECRET_BYTES ? token.subarray(0, REF_BYTES) : undefined
}

/** A new token. It gets the family reference of `predecessor`, or a new one if there is none. */
export function newRefreshToken(randomBytes: (size: number) => Buffer, predecessor?: Buffer): Buffer {
  const ref = predecessor && familyRefOf(predecessor)
  return Buffer.concat([ref ?? randomBytes(REF_BYTES), randomBytes(TOKEN_SECRET_BYTES)])
}

/** The hash of a token's family reference, as the family stores it; null if the token has no reference. */
export function refHashOf(token: Buffer): Buffer | null {
  const ref = familyRefOf(token)
  return ref === undefined ? null : createHash('sha256').update('family').update(ref).digest()
}

/** The hashes by which the store finds a token and its family. */
export function tokenKeys(token: Buffer): { readonly hash: Buffer; readonly refHash: Buffer | null } {
  return { hash: hashOfToken(token), refHash: refHashOf(token) }
}

export function writeRefreshToken(token: Buffer): string {
  return token.toString('base64url')
}

/** The hash that the store keeps of a token. A plain hash is enough, because a token has 256 random bits. */
export function hashOfToken(token: Buffer): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Encrypts a token so that only the token before it can decrypt it. `nonce` has NONCE_BYTES random bytes. */
export function sealSuccessor(successor: Buffer, predecessor: Buffer, nonce: Buffer): Buffer {
  return seal(successor, { secret: predecessor, purpose: PURPOSE }, nonce)
}

/** Decrypts what sealSuccessor encrypted. Throws if the predecessor was another token. */
export function openSuccessor(sealed: Buffer, predecessor: Buffer): Buffer {
  return unseal(sealed, { secret: predecessor, purpose: PURPOSE })
}

const PURPOSE = 'refresh token successor'
