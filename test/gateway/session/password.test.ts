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

const URL = '/auth/password'
const CHANGE = { currentPassword: 'demo-password', newPassword: 'a longer one' }
const SECRETS = /demo-password|a longer one|refresh-\d|eyJ/

describe('a password change', () => {
  let gateway: SessionFixture
  let refresh: string
  beforeEach(async () => {
    gateway = await startSessions()
    refresh = gateway.auth.open().refreshToken
  })
  afterEach(() => gateway.close())

  it('hands the passwords on with the refresh cookie, and sets the cookies of the session anew', async () => {
    const answer = await gateway.send('POST', URL, { cookies: { refresh }, body: CHANGE })
    expect(answer.statusCode, answer.body).to.equal(204)
    expect(answer.body).to.equal('')
    expect(gateway.auth.made('changePassword')).to.deep.equal([
      { ...CHANGE, refreshToken: refresh, clientAddress: '127.0.0.1' }
    ])
    const [next = ''] = gateway.auth.live
    const [access = '', ...others] = setCookies(answer)
    expect(next).to.not.equal(refresh)
    expect(access).to.match(/^app_auth_access=eyJ[^;]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(others).to.deep.equal([`app_auth_refresh=${next}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`])
    expectPrivate(answer)
    expect(gateway.logText()).to.not.match(SECRETS)
  })

  it('is rejected without a refresh cookie, whatever the access cookie says', async () => {
    for (const headers of [
      {},
      { cookie: `app_auth_access=${gateway.auth.token()}` },
      { authorization: `Bearer ${gateway.auth.token()}` },
      { cookie: `app_auth_refresh=${refresh}; app_auth_refresh=another` }
    ]) {
      const answer = await gateway.send('POST', URL, { headers, body: CHANGE })
      expectProblem(answer, 401, 'auth.required')
      expect(setCookies(answer), JSON.stringify(headers)).to.deep.equal([])
    }
    expect(gateway.auth.calls).to.deep.equal([])
  })

  it('expires the cookies of a session that is over', async () => {
    const answer = await gateway.send('POST', URL, { cookies: { refresh: 'dead' }, body: CHANGE })
    expectProblem(answer, 401, 'auth.invalid-token')
    expect(setCookies(answer)).to.deep.equal(EXPIRED)
    expectPrivate(answer)
  })

  it('keeps the cookies when it fails for another reason', async () => {
    const wrong = { ...CHANGE, currentPassword: 'wrong' }
    const answer = await gateway.send('POST', URL, { cookies: { refresh }, body: wrong })
    expectProblem(answer, 401, 'auth.invalid-credentials')
    expect(setCookies(answer)).to.deep.equal([])
    gateway.auth.failure = new DomainError('quota-exceeded', 'Too many.', { retryAfter: 7 })
    const throttled = await gateway.send('POST', URL, { cookies: { refresh }, body: CHANGE })
    expectProblem(throttled, 429, 'quota-exceeded')
    expect(throttled.headers['retry-after']).to.equal('7')
    gateway.auth.failure = new DomainError('upstream.unavailable', 'Away.')
    const away = await gateway.send('POST', URL, { cookies: { refresh }, body: CHANGE })
    expectProblem(away, 503, 'upstream.unavailable')
    for (const one of [throttled, away]) expect(setCookies(one)).to.deep.equal([])
  })

  for (const [body, pointers] of [
    [{}, ['/currentPassword', '/newPassword']],
    [{ ...CHANGE, newPassword: 12_345_678 }, ['/newPassword']],
    [{ ...CHANGE, currentPassword: null }, ['/currentPassword']]
  ] as const) {
    it(`names what is wrong with ${JSON.stringify(body)}, without a call`, async () => {
      const answer = await gateway.send('POST', URL, { cookies: { refresh }, body })
      const { errors, detail } = expectProblem(answer, 400, 'body.invalid')
      if (pointers.length > 1) expect(JSON.stringify(errors)).to.include(pointers[0]).and.include(pointers[1])
      else expect(detail).to.include(pointers[0])
      expect(gateway.auth.calls).to.deep.equal([])
    })
  }

  it('is a POST alone', async () => {
    const answer = await gateway.send('PUT', URL, { cookies: { refresh }, body: CHANGE })
    expectProblem(answer, 405, 'method.not-allowed')
    expect(answer.headers.allow).to.equal('POST, OPTIONS')
  })
})
