import { createHmac, generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import { Provider } from 'oidc-provider'
import { closeLocally, listenLocally } from '../../harness/local-server.js'

/** What the provider says of a person, by the name under which the person logs in there, which is the subject. */
interface Person {
  readonly email?: string
  /** A boolean, at providers that keep to the standard. */
  readonly email_verified?: unknown
  readonly name?: string
}

export const CONFIDENTIAL = {
  client_id: 'the-store',
  client_secret: 'a secret of the provider, with spaces & more'
} as const
export const PUBLIC_CLIENT = 'the-public-store'

type Claims = Readonly<Record<string, unknown>>

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
const KEY_ID = 'provider-key'

/** oidc-provider in this process, with its adapter in memory and its own pages for login and consent. */
export class TestProvider implements AsyncDisposable {
  readonly issuer: string
  readonly people = new Map<string, Person>()
  readonly #server: Server
  readonly #port: number

  private constructor(server: Server, { host, port }: { readonly host: string; readonly port: number }) {
    this.#server = server
    this.#port = port
    this.issuer = `http://${host}:${port}`
  }

  /** `gateway`: the base URL to which browsers may be sent back. To a browser, `localhost` is another site. */
  static async start(gateway: string, host: '127.0.0.1' | 'localhost' = '127.0.0.1'): Promise<TestProvider> {
    const server = createServer()
    const made = new TestProvider(server, { host, port: await listenLocally(server) })
    const redirect_uris = [`${gateway}/auth/callback`]
    const provider = new Provider(made.issuer, {
      clients: [
        { ...CONFIDENTIAL, redirect_uris },
        { client_id: PUBLIC_CLIENT, token_endpoint_auth_method: 'none', redirect_uris }
      ],
      jwks: { keys: [{ ...rsa.privateKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' }] },
      cookies: { keys: [randomUUID()] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      // An ID token holds no claims but those that are asked for in it, as OpenID Connect Core section 5.4 has it.
      conformIdTokenClaims: true,
      features: { claimsParameter: { enabled: true } },
      findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, ...made.people.get(id) }) })
    })
    const answer = provider.callback()
    server.on('request', (request, response) => void answer(request, response))
    return made
  }

  /** Takes no connections until `resume`. */
  async pause(): Promise<void> {
    await closeLocally(this.#server)
  }

  async resume(): Promise<void> {
    await listenLocally(this.#server, this.#port)
  }

  /** An ID token that the provider's own key signs, for this client unless `claims` say otherwise. */
  idToken(claims: Claims, header: Claims = {}): string {
    const now = Math.floor(Date.now() / 1000)
    const all = { iss: this.issuer, aud: CONFIDENTIAL.client_id, sub: 'eve', iat: now, exp: now + 300, ...claims }
    return jws({ alg: 'RS256', kid: KEY_ID, ...header }, all)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.pause()
  }
}

/** Signs as the header says: with the provider's key, that of a `stranger`, the client's secret, or not at all. */
function jws(header: Claims, claims: Claims): string {
  const part = (value: Claims): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const { stranger: isStranger, ...written } = header
  const input = Buffer.from(`${part(written)}.${part(claims)}`)
  const key = isStranger === true ? stranger.privateKey : rsa.privateKey
  const signature =
    header['alg'] === 'none'
      ? Buffer.alloc(0)
      : header['alg'] === 'HS256'
        ? createHmac('sha256', CONFIDENTIAL.client_secret).update(input).digest()
        : sign('sha256', input, key)
  return `${input.toString()}.${signature.toString('base64url')}`
}
