import {
  constants,
  generateKeyPairSync,
  type KeyObject,
  privateDecrypt,
  publicEncrypt,
  randomBytes,
  sign,
  verify
} from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { closeLocally, listenLocally } from '../../harness/local-server.js'

const TOKEN = 'token-of-a-test'
/** Seconds that a token of FakeIdentity is good for. The client asks anew for one that ends within five minutes. */
const TOKEN_LIFE = 60
/**
 * Half of what the real vault has at least: finding a key is synchronous, and takes 25 times as long with 2048 bits, for which
 * everything else in the process would wait.
 */
const KEY_BITS = 1024
const OAEP_256 = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }

interface Version {
  readonly version: string
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
  readonly expires?: number
}

/** A local server that speaks the part of Azure Key Vault's REST protocol that wraps, unwraps, signs and verifies, with real RSA keys. */
export class FakeVault {
  /** What it was asked, as `POST wrapkey`; requests without a token not counted. */
  readonly asked: string[] = []
  /** While set, every request with a token is rejected with this status and code. */
  rejection: { readonly status: number; readonly code: string } | undefined
  readonly #versions: Version[] = []
  #port = 0
  readonly #server = createServer((request, response) => {
    void this.#answer(request).then(
      ({ status, body, headers }) => {
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
      },
      // Of a request that was cut nobody waits for an answer.
      () => response.destroy()
    )
  })

  static async start(): Promise<FakeVault> {
    const vault = new FakeVault()
    vault.rotate()
    vault.#port = await listenLocally(vault.#server)
    return vault
  }

  /** `http://127.0.0.1:1234` */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Adds a version of the key, which is the newest from then on. Earlier ones are over, in the past already. */
  rotate(): void {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: KEY_BITS })
    const earlier = this.#versions.splice(0).map((one) => ({ ...one, expires: 1_600_000_000 }))
    this.#versions.push(...earlier, { version: randomBytes(16).toString('hex'), publicKey, privateKey })
  }

  get versions(): string[] {
    return this.#versions.map(({ version }) => version)
  }

  /** What a client with a credential of this vault signs in with. */
  readonly credential = {
    getToken: () => Promise.resolve({ token: TOKEN, expiresOnTimestamp: Date.now() + 3_600_000 })
  }

  async stop(): Promise<void> {
    await closeLocally(this.#server)
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      request.resume()
      const challenge = 'Bearer authorization="https://login.test/tenant", resource="https://vault.test"'
      return failure(401, 'Unauthorized', { 'www-authenticate': challenge })
    }
    // As a proxy it is asked for whole URLs.
    const { pathname, searchParams, host } = new URL(request.url ?? '', this.url)
    const [, name = '', version = '', operation = ''] =
      /^\/keys\/([^/]+)(?:\/([^/]*))?(?:\/(\w+))?$/.exec(pathname) ?? []
    this.asked.push(`${request.method} ${operation === '' ? 'get' : operation}`)
    const body: unknown = request.method === 'POST' ? await json(request) : undefined
    if (this.rejection !== undefined) return failure(this.rejection.status, this.rejection.code)
    if (!searchParams.has('api-version')) return failure(400, 'BadParameter')
    const key = version === '' ? this.#versions.at(-1) : this.#versions.find((one) => one.version === version)
    if (name !== 'ring' || key === undefined) return failure(404, 'KeyNotFound')
    const kid = `http://${host}/keys/${name}/${key.version}`
    if (request.method === 'GET') {
      const jwk = key.publicKey.export({ format: 'jwk' })
      const attributes = { enabled: true, ...(key.expires === undefined ? {} : { exp: key.expires }) }
      return ok({ key: { kid, ...jwk, key_ops: ['wrapKey', 'unwrapKey', 'sign', 'verify'] }, attributes })
    }
    return calculate(key, { kid, operation, body })
  }
}

/**
 * The managed identity of an app of Azure App Service: a local server that hands out tokens of FakeVault to whoever knows
 * the secret of its header. The environment of a process says where it is.
 */
export class FakeIdentity {
  /** How often it was asked. */
  asked = 0
  /** While set, whoever asks gets this status, 429 with an hour to wait, or no answer at all. */
  rejection: number | 'silence' | undefined
  readonly header = randomBytes(16).toString('hex')
  #port = 0
  readonly #server = createServer(({ headers, url }, response) => {
    this.asked++
    if (this.rejection === 'silence') return
    const resource = new URL(url ?? '', this.url).searchParams.get('resource')
    const status = this.rejection ?? (headers['x-identity-header'] === this.header && resource !== null ? 200 : 400)
    const expires = Math.floor(Date.now() / 1000) + TOKEN_LIFE
    const token = { access_token: TOKEN, expires_on: expires, resource, token_type: 'Bearer' }
    response.writeHead(status, {
      'content-type': 'application/json',
      ...(status === 429 ? { 'retry-after': '3600' } : {})
    })
    response.end(JSON.stringify(status === 200 ? token : { error: { code: 'invalid_request', message: 'No token' } }))
  })

  static async start(): Promise<FakeIdentity> {
    const identity = new FakeIdentity()
    identity.#port = await listenLocally(identity.#server)
    return identity
  }

  /** `http://127.0.0.1:1234/msi/token` */
  get url(): string {
    return `http://127.0.0.1:${this.#port}/msi/token`
  }

  async stop(): Promise<void> {
    await closeLocally(this.#server)
  }
}

interface Answer {
  readonly status: number
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }

function calculate(key: Version, asked: { kid: string; operation: string; body: unknown }): Answer {
  const { kid, operation } = asked
  // Checked below, member by member.
  const { alg, value, digest } = asked.body as { alg?: unknown; value?: unknown; digest?: unknown }
  const isSignature = operation === 'sign' || operation === 'verify'
  if (alg !== (isSignature ? 'PS256' : 'RSA-OAEP-256') || typeof value !== 'string') return failure(400, 'BadParameter')
  const bytes = Buffer.from(value, 'base64url')
  // As the real one: what has expired still unwraps and verifies, and neither wraps nor signs any more.
  if (key.expires !== undefined && (operation === 'wrapkey' || operation === 'sign')) return failure(403, 'Forbidden')
  switch (operation) {
    case 'wrapkey':
      return ok({ kid, value: publicEncrypt({ key: key.publicKey, ...OAEP_256 }, bytes).toString('base64url') })
    // Node signs no digest, so the digest is hashed once more.
    case 'sign':
      return ok({ kid, value: sign('sha256', bytes, { key: key.privateKey, ...PSS }).toString('base64url') })
    case 'verify':
      if (typeof digest !== 'string') return failure(400, 'BadParameter')
      return ok({ value: verify('sha256', Buffer.from(digest, 'base64url'), { key: key.publicKey, ...PSS }, bytes) })
    case 'unwrapkey':
      try {
        return ok({ kid, value: privateDecrypt({ key: key.privateKey, ...OAEP_256 }, bytes).toString('base64url') })
      } catch {
        return failure(400, 'BadParameter')
      }
    default:
      return failure(404, 'NotFound')
  }
}

function ok(body: object): Answer {
  return { status: 200, body }
}

function failure(status: number, code: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, body: { error: { code, message: `${code}, says the vault` } }, headers }
}
