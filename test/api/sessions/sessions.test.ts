import { expect } from 'chai'
import { expectProblem } from '../expect-problem.js'
import { json } from '../http-call.js'
import { cookiesOf, describeSessions } from './session-stack.js'

const EXPIRED = [
  'app_auth_access=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
  'app_auth_refresh=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax'
]

describeSessions(
  'browser sessions',
  { REFRESH_GRACE: '1m' },
  (stack) => {
    after(() => {
      const bodies = stack.answers.map(({ text }) => text).join('\n')
      const log = stack.logText()
      const tokens = stack.answers.map((answer) => cookiesOf(answer).refresh ?? '').filter((token) => token !== '')
      expect(tokens.length).to.be.greaterThan(10)
      for (const token of tokens) {
        expect(bodies.includes(token), 'a refresh token in a body').to.equal(false)
        expect(log.includes(token), 'a refresh token in a log').to.equal(false)
      }
      for (const secret of ['demo-password', 'wrong-password', 'eyJ', 'app_auth_']) {
        expect(log.includes(secret), `${secret} in a log`).to.equal(false)
      }
    })

    it('log in, go on, and log out', async () => {
      const login = await stack.login('ada')
      expect(login.status, login.text).to.equal(200)
      const cookies = cookiesOf(login)
      const { accessToken, accessTokenExpiry } = json(login) as { accessToken: string; accessTokenExpiry: string }
      expect(json(login)).to.deep.equal({ accessToken: cookies.access, accessTokenExpiry })
      expect(login.headers['set-cookie']).to.deep.equal([
        `app_auth_access=${accessToken}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`,
        `app_auth_refresh=${cookies.refresh}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`
      ])
      expect(login.headers).to.include({ 'cache-control': 'private, no-store', vary: 'Cookie' })

      const other = await stack.send('/auth/session/token', { cookies, gateway: 1 })
      expect(other.status, other.text).to.equal(200)

      const logout = await stack.send('/auth/session-cookie', { method: 'DELETE', cookies, gateway: 1 })
      expect(logout.status).to.equal(204)
      expect(logout.headers['set-cookie']).to.deep.equal(EXPIRED)
      const over = await stack.send('/auth/session/token', { cookies: { refresh: cookies.refresh ?? '' } })
      expect(over.status).to.equal(401)
      expect(over.headers['content-type']).to.equal('application/json')
      expect(over.text).to.equal('{"error":"no_session"}')
      expect(over.headers['set-cookie']).to.deep.equal(EXPIRED)
    })

    it('give an access token that the API takes, which it does not take from a cookie', async () => {
      const cookies = cookiesOf(await stack.login('ada'))
      const answer = await stack.send('/auth/session/token', { cookies })
      const { accessToken } = json(answer) as { accessToken: string }
      const byToken = await stack.send('/orders', { method: 'GET', token: accessToken })
      expect(byToken.status, byToken.text).to.equal(200)
      const byCookie = await stack.send('/orders', { method: 'GET', cookies })
      expectProblem(byCookie, { status: 401, code: 'auth.required', base: stack.url() })
    })

    it('sign with keys that are published', async () => {
      const cookies = cookiesOf(await stack.login('ben'))
      const { kid } = header(cookies.access ?? '') as { kid: string }
      for (const gateway of [0, 1]) {
        const { keys } = json(await stack.send('/.well-known/jwks.json', { method: 'GET', gateway })) as {
          keys: object[]
        }
        expect(
          keys.map((key) => (key as { kid: string }).kid),
          `gateway ${gateway}`
        ).to.include(kid)
        for (const [at, key] of keys.entries())
          expect(key, `gateway ${gateway}, key ${at}`).to.not.have.any.keys('d', 'p', 'q', 'k')
      }
    })

    it('go on at both gateways when many tabs ask at the same moment', async () => {
      const { refresh = '' } = cookiesOf(await stack.login('ada'))
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, tab) =>
          stack.send('/auth/session/token', { cookies: { refresh }, gateway: tab % 2, alone: true })
        )
      )
      for (const answer of answers) expect(answer.status, answer.text).to.equal(200)
      const successors = new Set(answers.map((answer) => cookiesOf(answer).refresh))
      expect(successors.size).to.equal(1)
      expect(successors.has(refresh)).to.equal(false)
    })

    it('are not begun by a refresh token that was never issued', async () => {
      for (const refresh of ['x', 'A'.repeat(43)]) {
        const answer = await stack.send('/auth/session/token', { cookies: { refresh } })
        expect(answer.text, refresh).to.equal('{"error":"no_session"}')
        expect(answer.headers['set-cookie'], refresh).to.deep.equal(EXPIRED)
      }
    })

    it('go on from tokens that a client mirrors', async () => {
      const { access = '', refresh = '' } = cookiesOf(await stack.login('ada'))
      const seeded = await stack.send('/auth/session-cookie', { json: { accessToken: access, refreshToken: refresh } })
      expect(seeded.status).to.equal(204)
      expect(cookiesOf(seeded)).to.deep.equal({ access, refresh })
      expect((await stack.send('/auth/session/token', { cookies: cookiesOf(seeded) })).status).to.equal(200)
    })

    it('are rejected alike for a wrong password and an unknown account', async () => {
      for (const account of ['ada', 'nobody-at-all']) {
        const answer = await stack.login(account, 'wrong-password')
        expectProblem(answer, { status: 401, code: 'auth.invalid-credentials', base: stack.url() })
        expect(cookiesOf(answer), account).to.deep.equal({})
      }
    })

    it('are throttled after ten failures, with the right password too and at every gateway', async () => {
      for (let failures = 0; failures < 10; failures += 1) {
        expect((await stack.login('ben', 'wrong-password', failures % 2)).status, `failures ${failures}`).to.equal(401)
      }
      for (const gateway of [0, 1]) {
        const answer = await stack.login('ben', 'demo-password', gateway)
        expectProblem(answer, { status: 429, code: 'quota-exceeded', base: stack.url(gateway) })
        expect(Number(answer.headers['retry-after']), `gateway ${gateway}`).to.be.within(1, 15 * 60)
      }
      expect((await stack.login('ada')).status).to.equal(200)
    })

    it('outlive a data service that is away', async () => {
      const cookies = cookiesOf(await stack.login('ada'))
      const { refresh = '' } = cookies
      const { keys } = json(await stack.send('/.well-known/jwks.json', { method: 'GET' })) as { keys: unknown[] }
      const [address = ''] = await stack.stopDataServices()

      const token = await stack.send('/auth/session/token', { cookies: { refresh } })
      expectProblem(token, { status: 503, code: 'upstream.unavailable', base: stack.url() })
      expect(token.headers['set-cookie']).to.equal(undefined)
      expect(token.headers['retry-after']).to.equal('1')
      const login = await stack.login('ada')
      expectProblem(login, { status: 503, code: 'upstream.unavailable', base: stack.url() })
      const other = await stack.send('/auth/logout', { cookies: { refresh } })
      expectProblem(other, { status: 503, code: 'upstream.unavailable', base: stack.url() })
      expect(other.headers['set-cookie']).to.deep.equal(EXPIRED)
      expect(other.headers['cache-control']).to.equal('private, no-store')
      expect(json(await stack.send('/.well-known/jwks.json', { method: 'GET' }))).to.deep.equal({ keys })

      await stack.startDataService({ DATA_SERVICE_ADDRESS: address })
      let answer = await stack.send('/auth/session/token', { cookies: { refresh } })
      while (answer.status === 503) answer = await stack.send('/auth/session/token', { cookies: { refresh } })
      expect(answer.status, answer.text).to.equal(200)
      expect(cookiesOf(answer).refresh).to.not.equal(refresh)
    })
  },
  { also: ['document'] }
)

function header(token: string): unknown {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString('utf8'))
}
