import { expect } from 'chai'
import {
  EXPIRED,
  expectPrivate,
  expectProblem,
  setCookies,
  startSessions,
  type SessionFixture
} from './session-fixture.js'

const URL = '/auth/session-cookie'
const ATTRIBUTES = 'Max-Age=604800; Path=/; HttpOnly; SameSite=Lax'

describe('POST /auth/session-cookie', () => {
  let gateway: SessionFixture
  beforeEach(async () => {
    gateway = await startSessions()
  })
  afterEach(() => gateway.close())

  it('mirrors both tokens as they are, without a call', async () => {
    const tokens = { accessToken: 'a.b.c', refreshToken: "r-_~.!#$%&'*+^`|:/<=>?@[]{}()" }
    const answer = await gateway.send('POST', URL, { body: tokens })
    expect(answer.statusCode, answer.body).to.equal(204)
    expect(answer.body).to.equal('')
    expect(setCookies(answer)).to.deep.equal([
      `app_auth_access=${tokens.accessToken}; ${ATTRIBUTES}`,
      `app_auth_refresh=${tokens.refreshToken}; ${ATTRIBUTES}`
    ])
    expectPrivate(answer)
    expect(gateway.auth.calls).to.deep.equal([])
    expect(gateway.logText()).to.not.include(tokens.refreshToken)
  })

  it('sets the access cookie alone without a refresh token', async () => {
    const answer = await gateway.send('POST', URL, { body: { accessToken: 'a' }, cookies: { access: 'old' } })
    expect(answer.statusCode).to.equal(204)
    expect(setCookies(answer)).to.deep.equal([`app_auth_access=a; ${ATTRIBUTES}`])
  })

  it('expires a refresh cookie that it is sent without, unless the access cookie is of the same account', async () => {
    const token = (claims: object): string =>
      ['{}', JSON.stringify(claims), ''].map((part) => Buffer.from(part).toString('base64url')).join('.')
    const [ada, ben] = ['ada', 'ben'].map((sub) => token({ iss: 'i', sub, exp: 1 })) as [string, string]
    const mirrored = async (accessToken: string, access?: string): Promise<string[]> => {
      const cookies = { ...(access === undefined ? {} : { access }), refresh: 'r' }
      return setCookies(await gateway.send('POST', URL, { body: { accessToken }, cookies }))
    }
    for (const other of [ben, token({ iss: 'j', sub: 'ada' }), token({}), 'a']) {
      const expected = [`app_auth_access=${other}; ${ATTRIBUTES}`, EXPIRED[1]]
      for (const before of [ada, token({}), 'b.c', undefined]) {
        expect(await mirrored(other, before), `${other} after ${before}`).to.deep.equal(expected)
      }
    }
    const later = token({ iss: 'i', sub: 'ada', exp: 2 })
    expect(await mirrored(later, ada)).to.deep.equal([`app_auth_access=${later}; ${ATTRIBUTES}`])
  })

  it('lets both live as long as the setting says', async () => {
    await gateway.close()
    gateway = await startSessions({ REFRESH_TOKEN_TTL: '90s' })
    const answer = await gateway.send('POST', URL, { body: { accessToken: 'a', refreshToken: 'r' } })
    for (const cookie of setCookies(answer)) expect(cookie).to.include('; Max-Age=90; ')
  })

  const longest = (name: string): string => 'x'.repeat(4096 - name.length)

  it('takes a cookie of 4096 bytes with its name', async () => {
    const body = { accessToken: longest('app_auth_access'), refreshToken: longest('app_auth_refresh') }
    expect((await gateway.send('POST', URL, { body })).statusCode).to.equal(204)
  })

  const BAD: readonly (readonly [what: string, body: unknown, pointers: readonly string[]])[] = [
    ['no access token', {}, ['/accessToken']],
    ['a refresh token alone', { refreshToken: 'r' }, ['/accessToken']],
    ['an empty one', { accessToken: '' }, ['/accessToken']],
    ['a blank one', { accessToken: ' \t ' }, ['/accessToken']],
    ['a number', { accessToken: 7 }, ['/accessToken']],
    ['null', { accessToken: null }, ['/accessToken']],
    ['an object', { accessToken: { a: 1 } }, ['/accessToken']],
    ['a list', { accessToken: ['a'] }, ['/accessToken']],
    ['a refresh token of null', { accessToken: 'a', refreshToken: null }, ['/refreshToken']],
    ['a blank refresh token', { accessToken: 'a', refreshToken: ' ' }, ['/refreshToken']],
    ['a refresh token that is a flag', { accessToken: 'a', refreshToken: true }, ['/refreshToken']],
    ['two bad ones', { accessToken: 1, refreshToken: 2 }, ['/accessToken', '/refreshToken']],
    ['an access cookie of 4097 bytes', { accessToken: `${longest('app_auth_access')}x` }, ['/accessToken']],
    [
      'a refresh cookie of 4097 bytes',
      { accessToken: 'a', refreshToken: `${longest('app_auth_refresh')}x` },
      ['/refreshToken']
    ],
    ['another attribute', { accessToken: 'a; Domain=example.com' }, ['/accessToken']],
    ['a line break', { accessToken: 'a\r\nSet-Cookie: b=c' }, ['/accessToken']],
    ['letters beyond ASCII', { accessToken: 'é' }, ['/accessToken']],
    ['a comma', { accessToken: 'a,b' }, ['/accessToken']],
    ['a list as body', [], ['']]
  ]
  for (const [what, body, pointers] of BAD) {
    it(`rejects ${what}, and sets nothing`, async () => {
      const headers = { 'content-type': 'application/json' }
      const answer = await gateway.send('POST', URL, { headers, body: JSON.stringify(body) })
      const { errors, detail } = expectProblem(answer, 400, 'body.invalid')
      const places = Array.isArray(errors) ? errors.map((one: { pointer: string }) => one.pointer) : undefined
      if (pointers.length > 1) expect(places).to.deep.equal(pointers)
      else expect(detail).to.include(pointers[0])
      expect(setCookies(answer)).to.deep.equal([])
    })
  }

  it('rejects a body that is no JSON, and none at all', async () => {
    const headers = { 'content-type': 'application/json' }
    for (const body of ['', '{', 'accessToken=a']) {
      expectProblem(await gateway.send('POST', URL, { headers, body }), 400, 'body.malformed')
    }
  })

  for (const [url, allowed, others] of [
    [URL, 'POST, DELETE, OPTIONS', ['GET', 'HEAD', 'PUT', 'PATCH', 'PROPFIND']],
    ['/auth/login', 'POST, OPTIONS', ['GET', 'HEAD', 'PUT', 'DELETE']],
    ['/auth/logout', 'POST, OPTIONS', ['GET', 'HEAD', 'DELETE']],
    ['/auth/session/token', 'POST, OPTIONS', ['GET', 'HEAD', 'PUT', 'DELETE']]
  ] as const) {
    for (const method of others) {
      it(`${method} ${url} is 405 and says what is allowed`, async () => {
        const answer = await gateway.send(method, url, { cookies: { refresh: 'r' } })
        expect(answer.statusCode).to.equal(405)
        expect(answer.headers).to.include({ allow: allowed, 'cache-control': 'no-store' })
        if (method !== 'HEAD') expectProblem(answer, 405, 'method.not-allowed')
        expect(setCookies(answer)).to.deep.equal([])
        for (const name of Object.keys(answer.headers)) expect(name).to.not.match(/^access-control-/)
      })
    }

    it(`OPTIONS ${url} says what is allowed, and lets no other origin in`, async () => {
      const headers = { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' }
      const own = await gateway.send('OPTIONS', url, { cookies: { refresh: 'r' } })
      expect([own.statusCode, own.body]).to.deep.equal([204, ''])
      expect(own.headers).to.include({ allow: allowed, 'cache-control': 'no-store' })
      expect(setCookies(own)).to.deep.equal([])
      const preflight = await gateway.send('OPTIONS', url, { headers })
      expectProblem(preflight, 403, 'request.cross-site')
      for (const name of [...Object.keys(own.headers), ...Object.keys(preflight.headers)]) {
        expect(name).to.not.match(/^access-control-/)
      }
    })
  }

  it('what it sets is what logout expires', async () => {
    const set = await gateway.send('POST', URL, { body: { accessToken: 'a', refreshToken: 'r' } })
    const expired = await gateway.send('DELETE', URL)
    const attributes = (cookies: readonly string[]): string[] =>
      cookies.map((cookie) => cookie.replace(/=[^;]*; Max-Age=\d+/, ''))
    expect(setCookies(expired)).to.deep.equal(EXPIRED)
    expect(attributes(setCookies(set))).to.deep.equal(attributes(EXPIRED))
  })
})
