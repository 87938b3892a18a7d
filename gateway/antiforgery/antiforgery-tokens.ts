import { randomBytes } from 'node:crypto'
import type { KeyRing, Verdict } from '../key-ring/key-ring.js'
import type { SessionBinding } from './session-binding.js'
import { decodeSignature, encodeSignature } from './signature-text.js'

/** Bytes of the secret in the cookie, and of a signature. */
const BYTES = 32

const COOKIE_PURPOSE = 'antiforgery.cookie'
const TOKEN_PURPOSE = 'antiforgery.token'

/**
 * The cookie holds a random secret that the ring has signed; the token is another signature of the same secret and of the
 * session that it is for, under a mask of its own each time, so that a compressed page does not give it away (BREACH).
 * Neither can be made without the ring, nor one from the other.
 */
export class AntiforgeryTokens {
  readonly #ring: KeyRing

  constructor(ring: KeyRing) {
    this.#ring = ring
  }

  /**
   * A cookie and a token of it for a session. What an earlier cookie's tokens are worth stays: its secret is kept where it
   * is valid.
   */
  async issue(earlier: string | undefined, session: SessionBinding): Promise<{ cookie: string; token: string }> {
    const known = earlier === undefined ? undefined : await this.#secretOf(earlier)
    const secret = Buffer.isBuffer(known) ? known : randomBytes(BYTES)
    const { keyId, mac } = this.#ring.sign(COOKIE_PURPOSE, secret)
    const token = this.#ring.sign(TOKEN_PURPOSE, Buffer.concat([secret, session]))
    const mask = randomBytes(BYTES)
    return {
      cookie: encodeSignature(keyId, Buffer.concat([secret, mac])),
      token: encodeSignature(token.keyId, Buffer.concat([mask, xor(mask, token.mac)]))
    }
  }

  /** Whether the token was made for the cookie and the session. */
  async verify(cookie: string, token: string, session: SessionBinding): Promise<Verdict> {
    const secret = await this.#secretOf(cookie)
    if (!Buffer.isBuffer(secret)) return { valid: false, why: `cookie: ${secret.why}` }
    const parts = decodeSignature(token)
    if (parts === undefined) return { valid: false, why: 'token: it is none' }
    const { keyId, bytes } = parts
    const mac = xor(bytes.subarray(0, BYTES), bytes.subarray(BYTES))
    const verdict = await this.#ring.verify(TOKEN_PURPOSE, Buffer.concat([secret, session]), { keyId, mac })
    return verdict.valid ? verdict : { valid: false, why: `token, or the session is another: ${verdict.why}` }
  }

  async #secretOf(cookie: string): Promise<Buffer | { readonly why: string }> {
    const parts = decodeSignature(cookie)
    if (parts === undefined) return { why: 'it is none' }
    const { keyId, bytes } = parts
    const secret = bytes.subarray(0, BYTES)
    const verdict = await this.#ring.verify(COOKIE_PURPOSE, secret, { keyId, mac: bytes.subarray(BYTES) })
    return verdict.valid ? secret : verdict
  }
}

/** Of two buffers of one length. */
function xor(one: Buffer, other: Buffer): Buffer {
  return Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0)))
}
