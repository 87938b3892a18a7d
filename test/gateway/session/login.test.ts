import { connect } from 'node:net'
import { expect } from 'chai'
import { DomainError } from '../../../shared/errors.js'
import {
  expectPrivate,
  expectProblem,
  EXPIRED,
  type SessionFixture,
  setCookies,
  startSessions
} from './session-fixture.js'

const ADA = { email: 'ada@example.com', password: 'demo-password' }
const SECRETS = /demo-password|refresh-\d|eyJ/

describe('login and logout', () => {
  let gateway: SessionFixture
  beforeEach(async () => {
    gateway = await startSessions()
  })
  afterEach(() => gateway.close())

  it('answers the access token alone and sets both cookies for as long as the refresh token lives', async () => {
    const answer = await gateway.send('POST', '/auth/login', { body: ADA })
    const [refresh = ''] = gateway.auth.live
    expect(answer.statusCode, answer.body).to.equal(200)
    expect(answer.headers['content-type']).to.equal('application/json')
    const body: { readonly accessToken: string } = answer.json()
    expect(body).to.deep.equal({ accessToken: body.accessToken, accessTokenExpiry: '2031-02-03T04:20:06.789Z' })
    expect(setCookies(answer)).to.deep.equal([
      `app_auth_access=${body.accessToken}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`,
      `app_auth_refresh=${refresh}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`
    ])
    expectPrivate(answer)
    expect(answer.body).to.not.include(refresh)
    expect(gateway.auth.made('login')).to.deep.equal([
      { ...ADA, clientAddress: '127.0.0.1', replacedRefreshTokens: [] }
    ])
    expect(gateway.logText()).to.not.match(SECRETS)
  })

  it('replaces the sessions of the refresh cookies that come with it', async () => {
    const cookie = 'app_auth_refresh=one; app_auth_access=x; app_auth_refresh=two'
    await gateway.send('POST', '/auth/login', { body: ADA, headers: { cookie } })
    const [made] = gateway.auth.made('login')
    expect(made).to.deep.include({ replacedRefreshTokens: ['one', 'two'] })
  })

  it('is cancelled at the data service when its client goes away', async () => {
    const url = await gateway.app.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
    const cancelled = new Promise<void>((resolve) => {
      gateway.auth.onLogin = (signal) => {
        socket.destroy()
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            resolve()
            reject(new DomainError('upstream.unavailable', 'Gone.'))
          })
        })
      }
    })
    const body = JSON.stringify(ADA)
    const head = 'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
    await cancelled
  })

  it('marks the cookies Secure by setting', async () => {
    await gateway.close()
    gateway = await startSessions({ COOKIE_SECURE: 'true' })
    const login = await gateway.send('POST', '/auth/login', { body: ADA })
    const logout = await gateway.send('POST', '/auth/logout')
    for (const cookie of [...setCookies(login), ...setCookies(logout)])
      expect(cookie).to.match(/; HttpOnly; Secure; SameSite=Lax$/)
  })

  it('keeps Path=/ and its routes below the prefix of PUBLIC_BASE_URL', async () => {
    await gateway.close()
    gateway = await startSessions({ PUBLIC_BASE_URL: 'https://shop.example/api' })
    const answer = await gateway.send('POST', '/api/auth/login', { body: ADA })
    expect(answer.statusCode).to.equal(200)
    for (const cookie of setCookies(answer)) expect(cookie).to.include('; Path=/; ')
    expect((await gateway.send('POST', '/auth/login', { body: ADA })).statusCode).to.equal(404)
  })

  it('tells the client address behind a trusted proxy, and only there', async () => {
    const forwarded = { 'x-forwarded-for': '203.0.113.9, 192.0.2.1' }
    await gateway.send('POST', '/auth/login', { body: ADA, headers: forwarded })
    await gateway.close()
    const before = gateway.auth.made('login')
    gateway = await startSessions({ TRUSTED_PROXIES: '127.0.0.1' })
    await gateway.send('POST', '/auth/login', { body: ADA, headers: forwarded })
    await gateway.send('POST', '/auth/login', { body: ADA, headers: { 'x-forwarded-for': 'unknown' } })
    const addresses = [...before, ...gateway.auth.made('login')].map(
      (one) => (one as typeof ADA & Address).clientAddress
    )
    expect(addresses).to.deep.equal(['127.0.0.1', '192.0.2.1', '127.0.0.1'])
  })

  it('rejects a wrong password without a cookie', async () => {
    const answer = await gateway.send('POST', '/auth/login', { body: { ...ADA, password: 'wrong' } })
    expectProblem(answer, 401, 'auth.invalid-credentials')
    expect(answer.headers['www-authenticate']).to.equal('Bearer')
    expect(setCookies(answer)).to.deep.equal([])
  })

  it('hands on how long a throttled client has to wait', async () => {
    gateway.auth.failure = new DomainError('quota-exceeded', 'Too many attempts.', { retryAfter: 321 })
    const answer = await gateway.send('POST', '/auth/login', { body: ADA })
    expectProblem(answer, 429, 'quota-exceeded')
    expect(answer.headers['retry-after']).to.equal('321')
  })

  it('is 503 with the data service away', async () => {
    gateway.auth.failure = new DomainError('upstream.unavailable', 'Away.')
    const answer = await gateway.send('POST', '/auth/login', { body: ADA })
    expectProblem(answer, 503, 'upstream.unavailable')
    expect(answer.headers['retry-after']).to.equal('1')
    expect(setCookies(answer)).to.deep.equal([])
  })

  it('rejects a body that says a member twice', async () => {
    const payload = '{"email":"x@example.com","email":"ada@example.com","password":"demo-password"}'
    const answer = await gateway.app.inject({
      method: 'POST',
      url: '/auth/login',
      headers: { 'content-type': 'application/json' },
      payload
    })
    expectProblem(answer, 400, 'body.invalid')
    expect(answer.json()).to.include({ detail: 'The body says "email" twice.' })
    expect(gateway.auth.made('login')).to.deep.equal([])
  })

  for (const [name, payload] of [
    ['email', '{"email":"ada@example.com","password":"demo-password","email" :"ada@example.com"}'],
    ['email', '{"email":"x","\\u0065mail":"ada@example.com","password":"demo-password"}'],
    ['b"', '{"email":"ada@example.com","password":"demo-password","a":[{"b\\"":1,"c":["b"],"b\\"":2}]}']
  ] as const) {
    it(`rejects ${payload}`, async () => {
      const headers = { 'content-type': 'application/json' }
      const answer = await gateway.send('POST', '/auth/login', { headers, body: payload })
      const { detail } = expectProblem(answer, 400, 'body.invalid')
      expect(detail).to.equal(`The body says ${JSON.stringify(name)} twice.`)
    })
  }

  it('takes a name once in each object, and as a value', async () => {
    const body =
      '{"x":[{"email":"email"},{"email":"\\"email\\":"}],"email":"ada@example.com","password":"demo-password"}'
    const headers = { 'content-type': 'application/json' }
    expect((await gateway.send('POST', '/auth/login', { headers, body })).statusCode).to.equal(200)
  })

  it('rejects a body of nested arrays, however deep, and one that does not end', async () => {
    const headers = { 'content-type': 'application/json' }
    const half = 500_000
    const nested = '['.repeat(half) + ']'.repeat(half)
    for (const [body, code] of [
      [nested, 'body.invalid'],
      [`{"email":${nested}}`, 'body.invalid'],
      ['['.repeat(2 * half), 'body.malformed']
    ] as const) {
      expectProblem(await gateway.send('POST', '/auth/login', { headers, body }), 400, code)
    }
    expect(gateway.auth.calls).to.deep.equal([])
  })

  const BODIES: readonly (readonly [body: unknown, pointers: readonly string[]])[] = [
    [{}, ['/email', '/password']],
    [{ email: 1, password: null }, ['/email', '/password']],
    [{ email: 'a' }, ['/password']],
    [{ password: ['a'] }, ['/email', '/password']],
    [[], ['']],
    ['text', ['']]
  ]
  for (const [body, pointers] of BODIES) {
    it(`names what is wrong with ${JSON.stringify(body)}, without a call`, async () => {
      const headers = { 'content-type': 'application/json' }
      const answer = await gateway.send('POST', '/auth/login', { headers, body: JSON.stringify(body) })
      const { errors, detail } = expectProblem(answer, 400, 'body.invalid')
      if (pointers.length > 1) expect(errors).to.have.length(pointers.length)
      else expect(detail).to.include(pointers[0])
      expect(gateway.auth.calls).to.deep.equal([])
    })
  }

  it('quotes no body that is not JSON, in the answer or in the log', async () => {
    const headers = { 'content-type': 'application/json' }
    const answer = await gateway.send('POST', '/auth/login', { headers, body: '{"password":"hunter2' })
    expectProblem(answer, 400, 'body.malformed')
    expect(answer.body + gateway.logText()).to.not.include('hunter2')
  })

  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a', 'x']) {
    const urls = [
      '/auth/login',
      '/auth/logout',
      '/auth/logout-everywhere',
      '/auth/password',
      '/auth/session-cookie',
      '/auth/session/token'
    ]
    for (const url of urls) {
      it(`${url} rejects a body of type ${type}`, async () => {
        const answer = await gateway.send('POST', url, { headers: { 'content-type': type }, body: '{"a":1}' })
        expectProblem(answer, 415, 'media-type.unsupported')
        expect(gateway.auth.calls).to.deep.equal([])
        expect(setCookies(answer)).to.deep.equal([])
      })
    }
  }

  for (const [method, url, rpc] of [
    ['POST', '/auth/logout', 'revoke'],
    ['POST', '/auth/logout-everywhere', 'revokeAll'],
    ['DELETE', '/auth/session-cookie', 'revoke']
  ] as const) {
    it(`${method} ${url} expires both cookies with the attributes they had and ends the session`, async () => {
      const { refreshToken } = gateway.auth.open()
      const cookies = { access: 'whatever', refresh: refreshToken }
      const answer = await gateway.send(method, url, { cookies })
      expect(answer.statusCode).to.equal(204)
      expect(answer.body).to.equal('')
      expect(setCookies(answer)).to.deep.equal(EXPIRED)
      expectPrivate(answer)
      expect(gateway.auth.made(rpc)).to.deep.equal([refreshToken])
      expect(gateway.auth.calls.map((one) => one.rpc)).to.deep.equal([rpc])
      expect(gateway.auth.live.size).to.equal(0)
      expect(gateway.logText()).to.not.match(SECRETS)
    })

    const isEverywhere = rpc === 'revokeAll'
    it(`${method} ${url} is ${isEverywhere ? 401 : 204} without cookies, and without a call`, async () => {
      const answer = await gateway.send(method, url)
      if (isEverywhere) expectProblem(answer, 401, 'auth.required')
      else expect(answer.statusCode).to.equal(204)
      expect(setCookies(answer)).to.deep.equal(EXPIRED)
      expect(gateway.auth.calls).to.deep.equal([])
    })

    it(`${method} ${url} expires the cookies and is 503 with the data service away`, async () => {
      gateway.auth.failure = new DomainError('upstream.unavailable', 'Away.')
      const answer = await gateway.send(method, url, { cookies: { refresh: 'r' } })
      expectProblem(answer, 503, 'upstream.unavailable')
      expect(setCookies(answer)).to.deep.equal(EXPIRED)
      expectPrivate(answer)
    })

    it(`${method} ${url} takes an empty body of any type`, async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'x', 'application/json']) {
        const headers = { 'content-type': type, 'content-length': '0' }
        const cookies = { refresh: gateway.auth.open().refreshToken }
        const answer = await gateway.send(method, url, { headers, cookies })
        expect(answer.statusCode, `${type} ${answer.body}`).to.equal(204)
      }
    })
  }

  it('/auth/logout-everywhere expires the cookies and is 401 for a session that is over, which ends no other', async () => {
    gateway.auth.open()
    const answer = await gateway.send('POST', '/auth/logout-everywhere', { cookies: { refresh: 'over' } })
    expectProblem(answer, 401, 'auth.invalid-token')
    expect(setCookies(answer)).to.deep.equal(EXPIRED)
    expectPrivate(answer)
    expect(gateway.auth.live.size).to.equal(1)
  })

  for (const [url, rpc, status] of [
    ['/auth/logout', 'revoke', 204],
    // None of them is live.
    ['/auth/logout-everywhere', 'revokeAll', 401]
  ] as const) {
    it(`${url} ends every session whose cookie was sent, a few at most`, async () => {
      const cookie = [1, 2, 3, 4, 5, 6].map((one) => `app_auth_refresh=r${one}`).join('; ')
      const answer = await gateway.send('POST', url, { headers: { cookie } })
      expect(answer.statusCode).to.equal(status)
      expect(gateway.auth.made(rpc)).to.deep.equal(['r1', 'r2', 'r3', 'r4'])
    })
  }
})

interface Address {
  readonly clientAddress: string
}
