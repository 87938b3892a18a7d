import { expect } from 'chai'
import type { LightMyRequestResponse } from 'fastify'
import { DomainError } from '../../../shared/errors.js'
import { type FakeRenderer, startRenderer } from '../renderer/renderer-fixture.js'
import { keySet } from './fake-auth-client.js'
import { cookieHeader, expectProblem, type SessionFixture, startSessions } from './session-fixture.js'
import { newSigner, unsigned } from './signing.js'

/** A token with the cookie that it belongs to. */
interface Antiforgery {
  readonly cookie: string
  readonly token: string
}

describe('antiforgery tokens of sessions', () => {
  let renderer: FakeRenderer
  let gateway: SessionFixture

  beforeEach(async () => {
    renderer = await startRenderer()
    gateway = await startSessions({ RENDERER_URL: renderer.url })
  })
  afterEach(async () => {
    await gateway.close()
    await renderer[Symbol.asyncDispose]()
  })

  /** `cookies` is a `Cookie` header, undefined for nobody. */
  const fetchFor = async (cookies: string | undefined): Promise<Antiforgery> => {
    const answer = await gateway.send('GET', '/auth/antiforgery', {
      headers: cookies === undefined ? {} : { cookie: cookies }
    })
    expect(answer.statusCode, answer.body).to.equal(200)
    const { token }: { token: string } = answer.json()
    return { token, cookie: /app_antiforgery=([^;]+)/.exec(String(answer.headers['set-cookie']))?.[1] ?? '' }
  }
  const post = (
    cookies: string | undefined,
    { cookie, token }: Antiforgery,
    headers: Readonly<Record<string, string>> = {},
    method = 'POST'
  ): Promise<LightMyRequestResponse> => {
    const all = [...(cookies === undefined ? [] : [cookies]), `app_antiforgery=${cookie}`].join('; ')
    return gateway.send(method, '/form', { headers: { cookie: all, 'x-csrf-token': token, ...headers }, body: 'x' })
  }
  /** Whether the renderer gets the form. */
  const serves = async (cookies: string | undefined, issued: Antiforgery): Promise<boolean> => {
    const before = renderer.seen.length
    const answer = await post(cookies, issued)
    const arrived = renderer.seen.length > before
    if (arrived) expect(answer.statusCode).to.equal(200)
    else expectProblem(answer, 403, 'antiforgery.invalid')
    return arrived
  }
  const session = (claims: object, more: { refresh?: string } = {}): string =>
    cookieHeader({ access: gateway.auth.token({ ...claims }), ...more }) ?? ''

  it('serve the session that they were made in, refreshed or expired, and no other', async () => {
    const mine = session({ sid: 'one' }, { refresh: 'r1' })
    const issued = await fetchFor(mine)
    expect(await serves(mine, issued)).to.equal(true)
    expect(await serves(session({ sid: 'one', jti: 'later' }, { refresh: 'r2' }), issued)).to.equal(true)
    gateway.advance(100_000)
    expect(await serves(mine, issued)).to.equal(true)
    const again = await fetchFor(`${mine}; app_antiforgery=${issued.cookie}`)
    expect(await serves(mine, again)).to.equal(true)
    expect(await serves(mine, { cookie: again.cookie, token: issued.token })).to.equal(true)
    for (const other of [{ sid: 'two' }, { sid: 'one', sub: 'ben@example.com' }, { sid: 'one', iss: 'x' }, {}]) {
      expect(await serves(session(other), issued), JSON.stringify(other)).to.equal(false)
    }
    expect(await serves(undefined, issued)).to.equal(false)
  })

  it('serve no session when they were made without one, and nobody when made in one', async () => {
    const issued = await fetchFor(undefined)
    expect(await serves(undefined, issued)).to.equal(true)
    expect(await serves('other=1', issued)).to.equal(true)
    expect(await serves(session({ sid: 'one' }), issued)).to.equal(false)
    expect(await serves(session({}), issued)).to.equal(false)
    expect(await serves(cookieHeader({ refresh: 'r' }), issued)).to.equal(false)
    expect(await serves(cookieHeader({ access: 'no-jwt', refresh: 'r' }), issued)).to.equal(false)
    expect(await serves(cookieHeader({ access: 'no-jwt' }), issued)).to.equal(true)
  })

  it('are bound to issuer and subject where an access token has no sid', async () => {
    const mine = session({})
    const issued = await fetchFor(mine)
    for (const same of [mine, session({ jti: 'later' }), session({ sid: 7 })]) {
      expect(await serves(same, issued), same).to.equal(true)
    }
    for (const other of [session({ sid: 'one' }), session({ sub: 'ben@example.com' })]) {
      expect(await serves(other, issued), other).to.equal(false)
    }
    const signer = newSigner('outside')
    gateway.auth.outside = [keySet('https://idp.test', 'store', [signer])]
    gateway.advance(61)
    const claims = { iss: 'https://idp.test', aud: 'store' }
    const outside = cookieHeader({ access: gateway.auth.token(claims, signer) })
    expect(await serves(outside, await fetchFor(outside))).to.equal(true)
    expect(await serves(outside, issued)).to.equal(false)
  })

  it('are made for no session by an access token that nobody has signed', async () => {
    const mine = session({ sid: 'one' })
    const [header = '', payload = ''] = mine.replace('app_auth_access=', '').split('.')
    const forged = [
      `${header}.${payload}.`,
      `${header}.${payload}.AAAA`,
      `${unsigned({ iss: 'uniform-rest', aud: 'uniform-rest', sub: 'ada@example.com', sid: 'one', exp: 4e9 })}.`,
      gateway.auth.token({ sid: 'one' }, newSigner('own'))
    ]
    for (const access of forged) {
      const issued = await fetchFor(cookieHeader({ access }))
      expect(await serves(mine, issued), access).to.equal(false)
    }
  })

  it('see no session in cookies of two values, which the renderer is not shown either', async () => {
    const both = `${session({ sid: 'one' })}; ${session({ sid: 'two' })}`
    expect(await serves(both, await fetchFor(session({ sid: 'one' })))).to.equal(false)
    expect(await serves(both, await fetchFor(both))).to.equal(true)
    expect(renderer.seen.at(-1)?.headers.cookie).to.match(/^app_antiforgery=[^;]+$/)
  })

  it('need the published keys to be made for a session, and nobody to be checked', async () => {
    const mine = session({ sid: 'one' })
    const cold = await startSessions({ RENDERER_URL: renderer.url })
    try {
      cold.auth.failure = new DomainError('upstream.unavailable', 'gone', { retryAfter: 1 })
      const rejected = await cold.send('GET', '/auth/antiforgery', { headers: { cookie: mine } })
      expectProblem(rejected, 503, 'upstream.unavailable')
      expect((await cold.send('GET', '/auth/antiforgery')).statusCode).to.equal(200)
    } finally {
      await cold.close()
    }
    const issued = await fetchFor(mine)
    gateway.auth.failure = new DomainError('upstream.unavailable', 'gone', { retryAfter: 1 })
    gateway.advance(25 * 60 * 60)
    expect(await serves(mine, issued)).to.equal(true)
  })

  it('do not help an unsafe request that a page of another origin sends, of this site or another', async () => {
    const mine = session({ sid: 'one' }, { refresh: 'r1' })
    const issued = await fetchFor(mine)
    for (const site of ['cross-site', 'same-site', 'Same-Site', 'same-origin, same-site', 'CROSS-SITE, none']) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const rejected = await post(mine, issued, { 'sec-fetch-site': site }, method)
        expectProblem(rejected, 403, 'request.cross-site')
        expect(rejected.headers, `${site}, ${method}`).to.not.have.property('set-cookie')
      }
    }
    expect(renderer.seen).to.have.length(0)
    for (const site of ['same-origin', 'none']) {
      expect((await post(mine, issued, { 'sec-fetch-site': site })).statusCode, site).to.equal(200)
    }
    for (const site of ['same-site', 'cross-site']) {
      const page = await gateway.send('GET', '/form', { headers: { accept: 'text/html', 'sec-fetch-site': site } })
      expect(page.statusCode, site).to.equal(200)
    }
    expect(renderer.seen).to.have.length(4)
  })
})
