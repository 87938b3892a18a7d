import { expect } from 'chai'
import Fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify'
import { privateCookies } from '../../../gateway/server/requests.js'
import { HtmlRefresh } from '../../../gateway/session/html-refresh.js'
import { type SessionTools, sessionTools } from '../../../gateway/session/session-tools.js'
import { DomainError } from '../../../shared/errors.js'
import { FakeAuthClient } from './fake-auth-client.js'
import { cookieHeader, expectPrivate, type SendOptions, setCookies } from './session-fixture.js'
import { type MemoryLog, memoryLog } from '../../harness/memory-log.js'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

describe('the refresh before a page', () => {
  let now: number
  let logged: MemoryLog
  let auth: FakeAuthClient
  let app: FastifyInstance
  let tools: SessionTools

  // A renderer that answers with the cookies that it sees.
  beforeEach(async () => {
    now = Date.parse('2031-02-03T04:05:06.000Z')
    logged = memoryLog()
    auth = new FakeAuthClient(() => new Date(now))
    tools = sessionTools(auth, { cookieSecure: false, refreshTokenTtl: 1000 }, () => new Date(now))
    const pages = new HtmlRefresh(tools, logged.log)
    app = Fastify()
    await app.register(privateCookies)
    app.addHook('onRequest', (request, reply) => pages.refresh(request, reply))
    app.all('/page', async (request, reply) => reply.type('text/html').send(pages.cookiesOf(request) ?? 'none'))
  })
  afterEach(() => app.close())

  const page = (
    cookies: SendOptions['cookies'] | string,
    more: { readonly method?: 'GET' | 'HEAD' | 'POST'; readonly accept?: string | undefined } = {}
  ): Promise<LightMyRequestResponse> => {
    const { method = 'GET' } = more
    const accept = 'accept' in more ? more.accept : BROWSER
    const cookie = typeof cookies === 'string' ? cookies : cookieHeader(cookies ?? {})
    return app.inject({
      method,
      url: '/page',
      headers: { ...(accept === undefined ? {} : { accept }), ...(cookie === undefined ? {} : { cookie }) }
    })
  }
  const refreshes = (): number => auth.made('refresh').length

  function expectUntouched(answer: LightMyRequestResponse, cookie: string): void {
    expect(answer.statusCode).to.equal(200)
    if (answer.body !== '') expect(answer.body).to.equal(cookie)
    expect(setCookies(answer)).to.deep.equal([])
  }

  it('gives the renderer and the browser fresh cookies once the access token has expired', async () => {
    const { accessToken, refreshToken } = auth.open()
    now += 900_000
    const answer = await page(`theme=dark; app_auth_access=${accessToken}; app_auth_refresh=${refreshToken}; lang=en`)
    expect(answer.statusCode).to.equal(200)
    const [refresh = ''] = auth.live
    const access = auth.token()
    expect(refresh).to.not.equal(refreshToken)
    const seen = /^theme=dark; lang=en; app_auth_access=(\S+); app_auth_refresh=(\S+)$/.exec(answer.body)
    expect(seen?.[2]).to.equal(refresh)
    expect(claimsOf(seen?.[1] ?? '')).to.deep.equal(claimsOf(access))
    expect(setCookies(answer)).to.deep.equal([
      `app_auth_access=${seen?.[1]}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`,
      `app_auth_refresh=${refresh}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`
    ])
    expectPrivate(answer)
  })

  it('leaves a token alone that is good for a while', async () => {
    const { accessToken, refreshToken } = auth.open()
    now += 869_000
    const cookie = `app_auth_access=${accessToken}; app_auth_refresh=${refreshToken}`
    expectUntouched(await page(cookie), cookie)
    expect(refreshes()).to.equal(0)
  })

  const SKEWS: readonly (readonly [lifetime: number, skew: number])[] = [
    [900, 30],
    [300, 30],
    [200, 20],
    [60, 6],
    [10, 1]
  ]
  for (const [lifetime, skew] of SKEWS) {
    it(`refreshes a token of ${lifetime} s from ${skew} s before its end`, async () => {
      const access = auth.token({ exp: now / 1000 + lifetime })
      const { refreshToken: refresh } = auth.open()
      now += (lifetime - skew) * 1000 - 1
      await page({ access, refresh })
      expect(refreshes()).to.equal(0)
      now += 1
      await page({ access, refresh })
      expect(refreshes()).to.equal(1)
    })
  }

  const DUE: readonly (readonly [what: string, access: () => string | undefined])[] = [
    ['absent', () => undefined],
    ['no JWT', () => 'garbage'],
    ['without exp', () => auth.token({ exp: undefined })],
    ['expired and without iat', () => auth.token({ iat: undefined, exp: now / 1000 })]
  ]
  for (const [what, access] of DUE) {
    it(`refreshes an access cookie that is ${what}`, async () => {
      const { refreshToken: refresh } = auth.open()
      const token = access()
      const answer = await page(token === undefined ? { refresh } : { access: token, refresh })
      expect(refreshes()).to.equal(1)
      expect(setCookies(answer)).to.have.length(2)
    })
  }

  const NO_PAGES: readonly (readonly [accept: string | undefined, method?: 'HEAD' | 'POST'])[] = [
    [undefined],
    ['*/*'],
    ['text/*'],
    ['application/json'],
    ['text/html;q=0'],
    ['text/html;q=0.000, */*'],
    ['application/json, text/htmlx'],
    [BROWSER, 'HEAD'],
    [BROWSER, 'POST']
  ]
  for (const [accept, method] of NO_PAGES) {
    it(`is none of ${method ?? 'GET'} with Accept ${JSON.stringify(accept)}`, async () => {
      const cookie = `app_auth_refresh=${auth.open().refreshToken}`
      expectUntouched(await page(cookie, { accept, ...(method === undefined ? {} : { method }) }), cookie)
      expect(refreshes()).to.equal(0)
    })
  }

  for (const accept of ['text/html', 'TEXT/HTML;q=0.1', 'application/json, text/html ; q=0.001', 'text/html;level=1']) {
    it(`is one with Accept ${accept}`, async () => {
      await page({ refresh: auth.open().refreshToken }, { accept })
      expect(refreshes()).to.equal(1)
    })
  }

  it('has nothing to do without a refresh cookie', async () => {
    const cookie = `app_auth_access=${auth.token({ exp: 1 })}`
    expectUntouched(await page(cookie), cookie)
    expectUntouched(await page({}), 'none')
    expect(auth.calls).to.deep.equal([])
  })

  for (const failure of [
    new DomainError('upstream.unavailable', 'Away.'),
    new DomainError('upstream.timeout', 'Late.'),
    new DomainError('internal', 'Broken.'),
    new TypeError('Unforeseen.')
  ]) {
    it(`leaves page and cookies as they are on ${failure.message}`, async () => {
      const { accessToken, refreshToken } = auth.open()
      now += 900_000
      auth.failure = failure
      const cookie = `app_auth_access=${accessToken}; app_auth_refresh=${refreshToken}`
      expectUntouched(await page(cookie), cookie)
      expect(logged.text()).to.include('without a refresh').and.not.include(refreshToken).and.not.include(accessToken)
    })
  }

  it('waits 2 s for a data service that hangs, keeps the cookies, and cancels a call that nobody waits for', async () => {
    const { accessToken, refreshToken } = auth.open()
    now += 900_000
    let answer = (): void => {}
    auth.gate = new Promise((resolve) => (answer = resolve))
    const cookie = `app_auth_access=${accessToken}; app_auth_refresh=${refreshToken}`
    const started = performance.now()
    const first = page(cookie)
    const [tab] = await Promise.all([first, page(cookie)])
    // It answered without the data service, which hangs until `answer` is called below.
    expect(performance.now() - started).to.be.at.least(1900)
    expectUntouched(tab, cookie)
    expect(logged.text()).to.include('upstream.timeout').and.include('without a refresh')
    const [call] = auth.calls
    expect(call?.call).to.have.nested.property('signal.aborted', true)
    answer()
    await new Promise((done) => setImmediate(done))
    expect([...auth.live], 'the token was not used').to.include(refreshToken)
    expect(setCookies(await page(cookie)), 'the next page').to.have.length(2)
    expect(refreshes()).to.equal(2)
  })

  it('a page that gives up leaves the call to a request that still waits for it', async () => {
    const { refreshToken } = auth.open()
    let answer = (): void => {}
    auth.gate = new Promise((resolve) => (answer = resolve))
    const whole = tools.refresh.refresh({ requestId: 'x', traceparent: undefined }, refreshToken)
    expectUntouched(await page({ refresh: refreshToken }), `app_auth_refresh=${refreshToken}`)
    answer()
    expect(await whole).to.include.keys('accessToken', 'refreshToken')
    expect(refreshes()).to.equal(1)
  })

  it('does not show a session that is over to the renderer, and keeps the cookies', async () => {
    const answer = await page({ access: auth.token({ exp: 1 }), refresh: 'dead' })
    expectUntouched(answer, 'none')
    expectUntouched(await page('theme=dark; app_auth_refresh=dead'), 'theme=dark')
  })

  it('shows no session to the renderer that may be a neighbour’s, whatever the request', async () => {
    const access = auth.token()
    for (const method of ['GET', 'POST'] as const) {
      const answer = await page(`a=b; app_auth_access=${access}; app_auth_access=other; app_auth_refresh=r`, { method })
      expectUntouched(answer, 'a=b')
    }
    expect(auth.calls).to.deep.equal([])
  })

  it('refreshes once for ten tabs restored at the same moment', async () => {
    const { refreshToken: refresh } = auth.open()
    let answer = (): void => {}
    auth.gate = new Promise((resolve) => (answer = resolve))
    const tabs = Array.from({ length: 10 }, () => page({ refresh }))
    const last = page({ refresh: 'last' })
    while (!auth.made('refresh').includes('last')) await new Promise((done) => setImmediate(done))
    answer()
    const pages = await Promise.all(tabs)
    await last
    expect(auth.made('refresh')).to.deep.equal([refresh, 'last'])
    expect(new Set(pages.map(({ body }) => body)).size).to.equal(1)
    for (const [at, one] of pages.entries()) expect(setCookies(one), `case ${at}`).to.have.length(2)
  })
})

function claimsOf(token: string): unknown {
  const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
  return claims
}
