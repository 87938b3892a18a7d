import { expect } from 'chai'
import { DomainError } from '../../../shared/errors.js'
import { CONFIDENTIAL, TestProvider } from '../../api/sign-in/test-provider.js'
import { Visitor } from '../../api/sign-in/visitor.js'
import { exchange } from '../../harness/http.js'
import { expectProblem, type SessionFixture, setCookies, startSessions } from './session-fixture.js'

const BASE = 'https://shop.example/api'

describe('sign-in at an OpenID provider, below a path and over HTTPS,', () => {
  let provider: TestProvider
  let sessions: SessionFixture
  before(async () => {
    provider = await TestProvider.start(BASE)
    sessions = await startSessions({
      PUBLIC_BASE_URL: BASE,
      COOKIE_SECURE: 'true',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CONFIDENTIAL.client_id,
      OIDC_CLIENT_SECRET: CONFIDENTIAL.client_secret,
      OIDC_SCOPE: 'openid'
    })
  })
  after(async () => {
    await sessions.close()
    await provider[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    sessions.auth.failure = undefined
    sessions.auth.calls.splice(0)
  })

  /** Up to the callback: the cookie as a browser sends it, and what the page posts. */
  const begin = async (): Promise<{ cookie: string; set: string; body: object }> => {
    const begun = await sessions.send('GET', '/api/auth/sign-in?returnTo=/api/orders')
    expect(begun.statusCode, begun.body).to.equal(303)
    const [set = ''] = setCookies(begun)
    const location = String(begun.headers.location)
    const { redirect_uri, claims } = Object.fromEntries(new URL(location).searchParams)
    // The scope asks for no claims.
    expect({ redirect_uri, claims }).to.deep.equal({ redirect_uri: `${BASE}/auth/callback`, claims: undefined })
    const callback = await new Visitor().signInAt(provider.issuer, location, 'eve')
    const body = Object.fromEntries(new URL(callback).searchParams)
    return { cookie: set.split(';')[0] ?? '', set, body }
  }
  const finish = (cookie: string, body: object, more: Record<string, string> = {}) =>
    sessions.send('POST', '/api/auth/callback', { headers: { cookie, ...more }, body })

  it('reads the query of a target in absolute form, whatever its authority is', async () => {
    const url = await sessions.app.listen({ host: '127.0.0.1', port: 0 })
    for (const authority of ['y', 'y:99999', '[x']) {
      const get = (path: string): Promise<string> =>
        exchange(url, `GET http://${authority}/api/auth${path} HTTP/1.1\r\nHost: y\r\nConnection: close\r\n\r\n`)
      expect(await get('/sign-in?returnTo=/api/orders'), authority).to.match(/^HTTP\/1\.1 303 /)
      expect(await get('/callback?error=access_denied'), authority).to.match(/^HTTP\/1\.1 200 /)
    }
  })

  it('keeps its cookie to its own paths', async () => {
    const { set } = await begin()
    expect(set).to.match(/^app_auth_sign_in=[^;]+; Max-Age=600; Path=\/api\/auth; HttpOnly; Secure; SameSite=Lax$/)
  })

  it('hands the ID token, the nonce and the sessions to replace to the data service', async () => {
    const { cookie, body } = await begin()
    const answer = await finish(`${cookie}; app_auth_refresh=the-old-one`, body)
    expect(answer.statusCode, answer.body).to.equal(200)
    expect(answer.json()).to.have.all.keys('accessToken', 'accessTokenExpiry', 'returnTo')
    expect(answer.json()).to.include({ returnTo: '/api/orders' })
    const [sent] = sessions.auth.made('signIn') as [Record<string, unknown>]
    expect(sent).to.include({ nonce: cookie.split('=')[1]?.split('.')[1] })
    expect(sent['replacedRefreshTokens']).to.deep.equal(['the-old-one'])
    expect(String(sent['idToken']).split('.')).to.have.length(3)
    expect(setCookies(answer)[0]).to.equal(
      'app_auth_sign_in=; Max-Age=0; Path=/api/auth; HttpOnly; Secure; SameSite=Lax'
    )
  })

  it('passes on what the data service answers, and sets no session cookie then', async () => {
    for (const [failure, status] of [
      [new DomainError('upstream.unavailable', 'Away.'), 503],
      [new DomainError('quota-exceeded', 'Too many.', { retryAfter: 60 }), 429],
      [new DomainError('auth.invalid-credentials', 'No account.'), 401],
      [new DomainError('configuration', 'OIDC_ISSUER is not set.'), 500]
    ] as const) {
      const { cookie, body } = await begin()
      sessions.auth.failure = failure
      const answer = await finish(cookie, body)
      expectProblem(answer, status, failure.code)
      expect(setCookies(answer).map((line) => line.split('=')[0])).to.deep.equal(['app_auth_sign_in'])
      sessions.auth.failure = undefined
    }
  })

  it('asks neither provider nor data service for what another site sends', async () => {
    const { cookie, body } = await begin()
    expectProblem(await finish(cookie, body, { 'sec-fetch-site': 'cross-site' }), 403, 'request.cross-site')
    expectProblem(await finish(cookie, body, { origin: 'https://evil.example' }), 403, 'request.cross-site')
    expect(sessions.auth.calls).to.deep.equal([])
    // So the code is still good.
    expect((await finish(cookie, body, { origin: 'https://shop.example' })).statusCode).to.equal(200)
  })
})
