import { createServer, type Server, type ServerResponse } from 'node:http'
import { expect } from 'chai'
import { OpenIdProvider } from '../../../gateway/session/openid-provider.js'
import { DomainError } from '../../../shared/errors.js'
import { closeLocally, listenLocally } from '../../harness/local-server.js'
import { memoryLog } from '../../harness/memory-log.js'

interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
}

const SECRETS = { state: 'the-state', nonce: 'the-nonce', verifier: 'the-verifier'.padEnd(43, 'x') }
const PARAMS = { code: 'the-code', state: 'the-state', issuer: undefined }
const REDIRECT = 'https://shop.example/auth/callback'
const HOUR = 60 * 60_000
/** An ID token that only a client that knows the parameter could check (RFC 7515 section 4.1.11). */
const CRITICAL = `${[{ alg: 'RS256', crit: ['unknown'], unknown: true }, {}]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.')}.AAAA`

/** What real providers do not do at will: wrong, broken and missing answers. */
describe('an OpenID provider', () => {
  let server: Server
  let issuer: string
  let metadata: Reply
  let token: Reply
  let asked: string[]
  let now: number
  let log: ReturnType<typeof memoryLog>
  let provider: OpenIdProvider

  const answer = (response: ServerResponse, { status = 200, headers = {}, body }: Reply): void => {
    const isText = typeof body === 'string'
    response.writeHead(status, { 'content-type': isText ? 'text/html' : 'application/json', ...headers })
    response.end(isText ? body : JSON.stringify(body))
  }
  beforeEach(async () => {
    asked = []
    server = createServer((request, response) => {
      asked.push(request.url ?? '')
      answer(response, request.url === '/token' ? token : metadata)
    })
    issuer = `http://127.0.0.1:${await listenLocally(server)}`
    metadata = {
      body: { issuer, authorization_endpoint: `${issuer}/auth?tenant=1`, token_endpoint: `${issuer}/token` }
    }
    token = { body: {} }
    now = Date.now()
    log = memoryLog()
    provider = made()
  })
  afterEach(async () => {
    if (server.listening) await closeLocally(server)
    for (const secret of ['the-code', 'the-verifier', 'the-nonce', 'hush']) expect(log.text()).to.not.contain(secret)
  })
  const made = (): OpenIdProvider =>
    new OpenIdProvider(
      { issuer, clientId: 'us', clientSecret: 'hush', clientAuthentication: 'client_secret_post', scope: 'openid' },
      { log: log.log, now: () => new Date(now) }
    )
  const rejection = async (call: Promise<unknown>): Promise<DomainError> => {
    const error: unknown = await call.then(
      () => new Error('not rejected'),
      (reason: unknown) => reason
    )
    if (error instanceof DomainError) return error
    throw error
  }

  it('is asked for its metadata once for many sign-ins, and again after an hour', async () => {
    const urls = await Promise.all([1, 2, 3].map(() => provider.authorizationUrl(REDIRECT, SECRETS)))
    for (const url of urls)
      expect(url)
        .to.match(/\/auth\?tenant=1&/)
        .and.not.contain('claims=')
    now += HOUR - 1
    await provider.authorizationUrl(REDIRECT, SECRETS)
    expect(asked).to.have.length(1)
    now += 1
    await provider.authorizationUrl(REDIRECT, SECRETS)
    expect(asked).to.have.length(2)
  })

  it('that goes away is still where sign-ins begin, by what is known of it', async () => {
    await provider.authorizationUrl(REDIRECT, SECRETS)
    await closeLocally(server)
    now += HOUR
    expect(await provider.authorizationUrl(REDIRECT, SECRETS)).to.contain(`${issuer}/auth?`)
  })

  for (const [what, wrong] of Object.entries<() => Reply>({
    'status 500': () => ({ status: 500, body: { error: 'server_error' } }),
    'a page': () => ({ body: '<p>Be back soon' }),
    'no JSON': () => ({ headers: { 'content-type': 'application/json' }, body: 'the-code' }),
    'JSON of another kind': () => ({ body: { hello: 'the-code' } }),
    'too large': () => ({ body: { ...(metadata.body as object), x: 'the-code'.repeat(32 * 1024) } }),
    'a redirect': () => ({ status: 302, headers: { location: 'http://127.0.0.1:9/' }, body: '' })
  })) {
    it(`whose metadata is ${what} is 503, and is asked again`, async () => {
      const right = metadata
      metadata = wrong()
      const error = await rejection(provider.authorizationUrl(REDIRECT, SECRETS))
      expect(error).to.include({ code: 'upstream.unavailable', retryAfter: 5 })
      metadata = right
      await provider.authorizationUrl(REDIRECT, SECRETS)
    })
  }

  it('that sends its metadata without end is 503, and is heard no longer than 256 KiB', async () => {
    const sent = await new Promise<number>((resolve, reject) => {
      server.removeAllListeners('request')
      server.on('request', (_request, response: ServerResponse) => {
        const chunk = Buffer.alloc(64 * 1024, ' ')
        response.writeHead(200, { 'content-type': 'application/json' })
        const send = (): void => {
          while (response.write(chunk));
        }
        response.on('drain', send)
        response.on('close', () => resolve(response.socket?.bytesWritten ?? 0))
        send()
      })
      rejection(provider.authorizationUrl(REDIRECT, SECRETS)).then((error) => {
        if (error.code !== 'upstream.unavailable') reject(error)
      }, reject)
    })
    // What the buffers of the connection take is written too.
    expect(sent).to.be.lessThan(32 * 1024 * 1024)
  })

  it('of another issuer than the setting has, be it by a slash at the end, is a configuration error', async () => {
    for (const other of [`${issuer}/`, 'https://other.example']) {
      metadata = { body: { issuer: other, authorization_endpoint: issuer, token_endpoint: issuer } }
      expect(await rejection(made().authorizationUrl(REDIRECT, SECRETS)), other).to.include({ code: 'configuration' })
      expect(log.lines.at(-1)).to.include({
        level: 'error',
        reason: 'the provider has another issuer than OIDC_ISSUER'
      })
    }
  })

  const told = 'the-code is not the code of hush'
  for (const [what, reply, code] of [
    [
      'invalid_grant',
      { status: 400, body: { error: 'invalid_grant', error_description: told } },
      'auth.invalid-credentials'
    ],
    ['invalid_client', { status: 400, body: { error: 'invalid_client', error_description: told } }, 'configuration'],
    [
      'a challenge',
      { status: 401, headers: { 'www-authenticate': 'Basic realm="x"' }, body: { error: 'invalid_client' } },
      'configuration'
    ],
    ['temporarily_unavailable', { status: 400, body: { error: 'temporarily_unavailable' } }, 'upstream.unavailable'],
    ['an error of its own', { status: 500, body: { error: told } }, 'upstream.unavailable'],
    ['a page', { status: 502, body: '<p>the-code' }, 'upstream.unavailable'],
    ['a token response that is too large', { body: { x: 'the-code'.repeat(32 * 1024) } }, 'upstream.unavailable'],
    [
      'an error that is too large',
      { status: 400, body: { error: 'invalid_grant', x: 'x'.repeat(2 ** 18) } },
      'upstream.unavailable'
    ],
    ['no ID token', { body: { access_token: 'x', token_type: 'bearer' } }, 'auth.invalid-credentials'],
    [
      'an ID token that is none',
      { body: { access_token: 'x', token_type: 'bearer', id_token: 'the-code' } },
      'auth.invalid-credentials'
    ],
    [
      'an ID token with a critical header parameter',
      { body: { access_token: 'x', token_type: 'bearer', id_token: CRITICAL } },
      'auth.invalid-credentials'
    ]
  ] as const satisfies readonly (readonly [string, Reply, string])[]) {
    it(`that answers a code with ${what} is ${code}`, async () => {
      token = reply
      const error = await rejection(provider.exchange(REDIRECT, PARAMS, SECRETS))
      expect(error.code).to.equal(code)
      expect(`${error.message} ${String(error.cause)}`).to.not.match(/the-code|hush/)
    })
  }
})
