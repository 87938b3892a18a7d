import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'

/**
 * 256 random bits, after 128 that name the token's family. The reference is random too, known to holders of the family's
 * tokens alone and kept hashed: a token that bears it and is not stored was used, and purged since. Tokens of earlier
 * versions have none.
 */
const SECRET_BYTES = 32
const REF_BYTES = 16

const FORM = /^(?:[A-Za-z0-9_-]{43}|[A-Za-z0-9_-]{64})$/
const CIPHER = 'aes-256-gcm'
export const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The bytes of a refresh token's text; undefined for what was never one. */
export function parseRefreshToken(text: string): Buffer | undefined {
  if (!FORM.test(text)) return undefined
  const token = Buffer.from(text, 'base64url')
  return writeRefreshToken(token) === text ? token : undefined
}

/** The reference that a token names its family by; undefined for one of an earlier version. */
function familyRefOf(token: Buffer): Buffer | undefined {
  return token.length === REF_BYTES + SECRET_BYTES ? token.subarray(0, REF_BYTES) : undefined
}

/** A new token of the family of another one; of a new family, or one that has no reference yet, without another. */
export function newRefreshToken(randomBytes: (size: number) => Buffer, predecessor?: Buffer): Buffer {
  const ref = predecessor && familyRefOf(predecessor)
  return Buffer.concat([ref ?? randomBytes(REF_BYTES), randomBytes(SECRET_BYTES)])
}

/** What a family keeps of the reference in its tokens; null where the token has none. */
export function refHashOf(token: Buffer): Buffer | null {
  const ref = familyRefOf(token)
  return ref === undefined ? null : createHash('sha256').update('family').update(ref).digest()
}

/** What a token and its family are found by. */
export function tokenKeys(token: Buffer): { readonly hash: Buffer; readonly refHash: Buffer | null } {
  return { hash: hashOfToken(token), refHash: refHashOf(token) }
}

export function writeRefreshToken(token: Buffer): string {
  return token.toString('base64url')
}

/** What a token is kept as. It is random enough for a plain hash. */
export function hashOfToken(token: Buffer): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Encrypts the token that follows another so that only the other opens it. `nonce` has 12 random bytes. */
export function sealSuccessor(successor: Buffer, predecessor: Buffer, nonce: Buffer): Buffer {
  const cipher = createCipheriv(CIPHER, keyOf(predecessor), nonce)
  const sealed = Buffer.concat([cipher.update(successor), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** Throws where it was not sealed with this predecessor. */
export function openSuccessor(sealed: Buffer, predecessor: Buffer): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv(CIPHER, keyOf(predecessor), nonce, { authTagLength: TAG_BYTES })
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
}

function keyOf(predecessor: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', predecessor, Buffer.alloc(0), 'refresh token successor', 32))
}
