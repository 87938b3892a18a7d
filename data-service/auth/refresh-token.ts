import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto'

/** 256 bits. */
export const TOKEN_BYTES = 32

const FORM = /^[A-Za-z0-9_-]{43}$/
const CIPHER = 'aes-256-gcm'
export const NONCE_BYTES = 12
const TAG_BYTES = 16

/** The bytes of a refresh token's text; undefined for what was never one. */
export function parseRefreshToken(text: string): Buffer | undefined {
  if (!FORM.test(text)) return undefined
  const token = Buffer.from(text, 'base64url')
  return writeRefreshToken(token) === text ? token : undefined
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
