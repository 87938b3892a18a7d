import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const ISSUER = 'uniform-rest-testing'
/** Seconds that a token is good for. */
const LIFETIME = 3600

/** Signs access tokens of any claims with a key that a stack is given. */
export class TokenMint {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #signed = new Map<string, string>()

  /** Writes the key into the folder. Answers the settings under which a stack takes the tokens. */
  async settings(folder: string): Promise<Readonly<Record<string, string>>> {
    const file = join(folder, 'testing-key.pem')
    await writeFile(file, this.#keys.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    return { JWT_PRIVATE_KEY_FILE: file, JWT_ISSUER: ISSUER, JWT_AUDIENCE: ISSUER }
  }

  /**
   * A token with these claims and those that every token must have, unless they are given: `iss`, `aud`, `sub` and `exp`,
   * an hour from now. The same claims get the same token again.
   */
  sign(claims: Readonly<Record<string, unknown>>): string {
    const key = JSON.stringify(claims)
    const token = this.#signed.get(key) ?? this.#sign(claims)
    this.#signed.set(key, token)
    return token
  }

  /** The key as an issuer publishes it (RFC 7517). The kid is the key's thumbprint (RFC 7638). */
  get jwk(): { readonly kid: string } {
    const { crv, kty, x, y } = this.#keys.publicKey.export({ format: 'jwk' })
    const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
    const jwk = { crv, kty, x, y, kid, alg: 'ES256', use: 'sig' }
    return jwk
  }

  /** JWS with ES256 (RFC 7515). */
  #sign(claims: Readonly<Record<string, unknown>>): string {
    const { kid } = this.jwk
    const exp = Math.floor(Date.now() / 1000) + LIFETIME
    const payload = { iss: ISSUER, aud: ISSUER, sub: 'somebody', exp, ...claims }
    const input = `${encoded({ alg: 'ES256', typ: 'JWT', kid })}.${encoded(payload)}`
    const signature = sign('sha256', Buffer.from(input), { key: this.#keys.privateKey, dsaEncoding: 'ieee-p1363' })
    return `${input}.${signature.toString('base64url')}`
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
