import { expect } from 'chai'
import type { LightMyRequestResponse } from 'fastify'
import { DomainError } from '../../../shared/errors.js'
import { AUDIENCE, ISSUER, keySet } from './fake-auth-client.js'
import {
  expectPrivate,
  expectProblem,
  EXPIRED,
  type SendOptions,
  type SessionFixture,
  setCookies,
  startSessions
} from './session-fixture.js'
import { newSigner, signed, unsigned } from './signing.js'

const NO_SESSION = '{"error":"no_session"}'
const AWAY = new DomainError('upstream.unavailable', 'Away.')

describe('POST /auth/session/token', () => {
  let gateway: SessionFixture
  beforeEach(async () => {
    gateway = await startSessions()
  })
  afterEach(() => gateway.close())

  const ask = (cookies: SendOptions['cookies'] = {}, more: SendOptions = {}): Promise<LightMyRequestResponse> =>
    gateway.send('POST', '/auth/session/token', { cookies, ...more })

  function expectNoSession(answer: LightMyRequestResponse): void {
    expect(answer.statusCode, answer.body).to.equal(401)
    expect(answer.headers['content-type']).to.equal('application/json')
    expect(answer.headers['cache-control']).to.include('no-store')
    expect(answer.body).to.equal(NO_SESSION)
  }

  /** The session goes on with the next tokens: they are in cookies, and of them the access token alone in the body. */
  function expectRefreshed(answer: LightMyRequestResponse, before: string): void {
    expect(answer.statusCode, answer.body).to.equal(200)
    const [refresh = ''] = gateway.auth.live
    const body: { readonly accessToken: string; readonly accessTokenExpiry: string } = answer.json()
    expect(Object.keys(body)).to.deep.equal(['accessToken', 'accessTokenExpiry'])
    expect(setCookies(answer)).to.deep.equal([
      `app_auth_access=${body.accessToken}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`,
      `app_auth_refresh=${refresh}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`
    ])
    expectPrivate(answer)
    expect(refresh).to.not.equal(before)
    expect(answer.body + gateway.logText()).to.not.match(/refresh-\d/)
    expect(gateway.logText()).to.not.include('eyJ')
  }

  it('answers a valid access cookie as it is, and sets nothing', async () => {
    const { accessToken, refreshToken } = gateway.auth.open()
    gateway.advance(899)
    const answer = await ask({ access: accessToken, refresh: refreshToken })
    expect(answer.statusCode, answer.body).to.equal(200)
    expect(answer.headers).to.include({ 'content-type': 'application/json', 'cache-control': 'no-store' })
    expect(answer.json()).to.deep.equal({ accessToken, accessTokenExpiry: '2031-02-03T04:20:06.000Z' })
    expect(setCookies(answer)).to.deep.equal([])
    expect(gateway.auth.calls.map(({ rpc }) => rpc)).to.deep.equal(['keys'])
  })

  it('needs no refresh cookie for that', async () => {
    const accessToken = gateway.auth.token()
    expect((await ask({ access: accessToken })).json()).to.include({ accessToken })
  })

  it('refreshes without an access cookie', async () => {
    const { refreshToken } = gateway.auth.open()
    expectRefreshed(await ask({ refresh: refreshToken }), refreshToken)
  })

  it('refreshes an expired access token', async () => {
    const { accessToken, refreshToken } = gateway.auth.open()
    gateway.advance(900)
    expectRefreshed(await ask({ access: accessToken, refresh: refreshToken }), refreshToken)
  })

  const now = Date.parse('2031-02-03T04:05:06Z') / 1000
  const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'admin@example.com', exp: now + 900 }
  const FORGED: readonly (readonly [what: string, token: () => string])[] = [
    ['no JWT', () => 'garbage'],
    ['an unsigned one', () => `${unsigned(claims)}.`],
    ['a signature of another key under our kid', () => signed({ ...newSigner('own') }, claims)],
    ['an unknown kid', () => signed({ ...gateway.auth.signer, kid: 'other' }, claims)],
    ['no exp', () => gateway.auth.token({ exp: undefined })],
    ['an exp that is a text', () => gateway.auth.token({ exp: String(now + 900) })],
    ['an exp that no date can hold', () => gateway.auth.token({ exp: 1e300 })],
    ['an exp after the year 9999', () => gateway.auth.token({ exp: 253_402_300_800 })],
    ['another audience', () => gateway.auth.token({ aud: 'other' })],
    ['another issuer', () => gateway.auth.token({ iss: 'https://evil.example' })],
    ['no subject', () => gateway.auth.token({ sub: undefined })],
    ['a beginning to come', () => gateway.auth.token({ nbf: now + 60 })]
  ]
  for (const [what, token] of FORGED) {
    it(`refreshes an access cookie with ${what}`, async () => {
      const { refreshToken } = gateway.auth.open()
      expectRefreshed(await ask({ access: token(), refresh: refreshToken }), refreshToken)
    })

    it(`knows no session of an access cookie with ${what} alone, and expires it`, async () => {
      const answer = await ask({ access: token() })
      expectNoSession(answer)
      expect(setCookies(answer)).to.deep.equal(EXPIRED)
      expectPrivate(answer)
    })
  }

  it('knows no session without cookies, and sets none', async () => {
    const answer = await ask()
    expectNoSession(answer)
    expect(setCookies(answer)).to.deep.equal([])
    expect(gateway.auth.calls).to.deep.equal([])
  })

  it('knows no session of a refresh cookie that is dead or was never issued, and expires both', async () => {
    for (const refresh of ['never-issued', 'é', 'a b']) {
      const answer = await ask({ refresh })
      expectNoSession(answer)
      expect(setCookies(answer), refresh).to.deep.equal(EXPIRED)
      expectPrivate(answer)
    }
  })

  it('takes blank cookies for none', async () => {
    const answer = await ask({ access: '', refresh: '' })
    expectNoSession(answer)
    expect(gateway.auth.calls).to.deep.equal([])
  })

  it('knows no session where somebody else may have set one of the cookies, and leaves them alone', async () => {
    const { accessToken, refreshToken } = gateway.auth.open()
    const mine = `app_auth_access=${accessToken}; app_auth_refresh=${refreshToken}`
    for (const other of ['app_auth_refresh=other', `app_auth_access=${gateway.auth.token({ sub: 'eve' })}`]) {
      for (const cookie of [`${mine}; ${other}`, `${other}; ${mine}`]) {
        const answer = await ask({}, { headers: { cookie } })
        expectNoSession(answer)
        expect(setCookies(answer), `${other}, ${cookie}`).to.deep.equal([])
      }
    }
    expect(gateway.auth.calls).to.deep.equal([])
    const twice = await ask({}, { headers: { cookie: `${mine}; ${mine}` } })
    expect(twice.json()).to.include({ accessToken })
  })

  it('is 503 with the data service away, and keeps the cookies', async () => {
    gateway.auth.failure = AWAY
    for (const cookies of [{ refresh: 'r' }, { access: gateway.auth.token() }, { access: 'a.b.c', refresh: 'r' }]) {
      const answer = await ask(cookies)
      expectProblem(answer, 503, 'upstream.unavailable')
      expect(answer.headers['retry-after'], JSON.stringify(cookies)).to.equal('1')
      expect(setCookies(answer), JSON.stringify(cookies)).to.deep.equal([])
    }
  })

  it('still answers a valid access cookie then, once the keys are known', async () => {
    const { accessToken, refreshToken } = gateway.auth.open()
    await ask({ access: accessToken })
    gateway.auth.failure = AWAY
    gateway.advance(120)
    expect((await ask({ access: accessToken, refresh: refreshToken })).json()).to.include({ accessToken })
  })

  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'x', '', 'é/é']) {
    it(`takes an empty body of type ${JSON.stringify(type)}`, async () => {
      const headers = { 'content-type': type, 'content-length': '0' }
      expectNoSession(await ask({}, { headers }))
    })
  }

  it('takes a body that is JSON, and rejects one that is not', async () => {
    expectNoSession(await ask({}, { body: {} }))
    const headers = { 'content-type': 'application/json' }
    expectProblem(await ask({}, { headers, body: '{' }), 400, 'body.malformed')
  })

  it('shares one call among all who ask at the same time', async () => {
    const { refreshToken } = gateway.auth.open()
    let answer = (): void => {}
    gateway.auth.gate = new Promise((resolve) => (answer = resolve))
    const asked = Array.from({ length: 10 }, () => ask({ refresh: refreshToken }))
    const other = ask({ refresh: 'another' })
    // It was sent last, so all the others wait by then.
    while (!gateway.auth.made('refresh').includes('another')) await new Promise((done) => setImmediate(done))
    answer()
    const answers = await Promise.all(asked)
    expect(gateway.auth.made('refresh')).to.deep.equal([refreshToken, 'another'])
    expect(new Set(answers.map(({ body }) => body)).size).to.equal(1)
    for (const [at, answer] of answers.entries())
      expect(setCookies(answer), `answer ${at}`).to.deep.equal(setCookies(answers[0] ?? answer))
    expectNoSession(await other)
    expectNoSession(await ask({ refresh: refreshToken }))
    expect(gateway.auth.made('refresh')).to.have.length(3)
  })

  it('checks the tokens of an outside issuer with its keys alone', async () => {
    const signer = newSigner('theirs')
    gateway.auth.outside = [keySet('https://issuer.example', 'store', [signer])]
    const theirs = { iss: 'https://issuer.example', aud: 'store', sub: 'x', exp: now + 60 }
    const good = signed(signer, theirs)
    expect((await ask({ access: good })).json()).to.include({ accessToken: good })
    expectNoSession(await ask({ access: signed(signer, { ...theirs, iss: ISSUER, aud: AUDIENCE }) }))
    expectNoSession(await ask({ access: signed({ ...gateway.auth.signer, kid: 'theirs' }, theirs) }))
  })
})
