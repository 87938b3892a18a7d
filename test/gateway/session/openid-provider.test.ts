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
    ['no ID token', { body: { access_token: 'x', token_type: 'bearer' } }, 'auth.invalid-credentials'],
    [
      'an ID token that is none',
      { body: { access_token: 'x', token_type: 'bearer', id_token: 'the-code' } },
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
