import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto'

// Bytes that the database keeps and that only a holder of a secret reads, of which the database has no more than a hash.

const CIPHER = 'aes-256-gcm'
export const NONCE_BYTES = 12
const TAG_BYTES = 16

/** What bytes are encrypted with. Secrets are random; `purpose` keeps bytes of one kind from being taken for another. */
interface Sealing {
  readonly secret: Uint8Array
  readonly purpose: string
}

/** Encrypts bytes. `nonce` has NONCE_BYTES random bytes. */
export function seal(bytes: Uint8Array, sealing: Sealing, nonce: Buffer): Buffer {
  const cipher = createCipheriv(CIPHER, keyOf(sealing), nonce)
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

/** Decrypts what `seal` encrypted. Throws if it was with another secret, or for another purpose. */
export function unseal(sealed: Buffer, sealing: Sealing): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv(CIPHER, keyOf(sealing), nonce, { authTagLength: TAG_BYTES })
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
}

function keyOf({ secret, purpose }: Sealing): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), purpose, 32))
}
