import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Caller } from '../every-entity/caller.js'

const ISSUER = 'every-entity'
const LATER = Math.floor(Date.now() / 1000) + 3600

/** Signs tokens of any claims with a key that the stack is given. */
export class TokenMint implements AsyncDisposable {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  readonly #minted = new Map<Caller, string>()
  #folder = ''

  /** Settings under which a stack takes its tokens. */
  async settings(): Promise<Readonly<Record<string, string>>> {
    this.#folder = await mkdtemp(join(tmpdir(), 'key-'))
    const file = join(this.#folder, 'key.pem')
    await writeFile(file, this.#keys.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
    return { JWT_PRIVATE_KEY_FILE: file, JWT_ISSUER: ISSUER, JWT_AUDIENCE: ISSUER }
  }

  /** undefined for a caller without one. */
  of(caller: Caller): string | undefined {
    if (caller.token === 'none') return undefined
    const token = this.#minted.get(caller) ?? this.#sign(caller)
    this.#minted.set(caller, token)
    return token
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#folder !== '') await rm(this.#folder, { recursive: true, force: true })
  }

  /** JWS with ES256 (RFC 7515); the kid is the key's thumbprint (RFC 7638). */
  #sign(caller: Caller): string {
    const { crv, kty, x, y } = this.#keys.publicKey.export({ format: 'jwk' })
    const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url')
    const claims = { iss: ISSUER, aud: ISSUER, sub: caller.name, exp: LATER, ...caller.claims }
    const input = `${encoded({ alg: 'ES256', typ: 'JWT', kid })}.${encoded(claims)}`
    const signature = sign('sha256', Buffer.from(input), { key: this.#keys.privateKey, dsaEncoding: 'ieee-p1363' })
    return `${input}.${signature.toString('base64url')}`
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
