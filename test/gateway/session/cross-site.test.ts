import { expect } from 'chai'
import { crossSiteHeader } from '../../../gateway/http/cross-site.js'
import { expectProblem, type SessionFixture, setCookies, startSessions } from './session-fixture.js'

const OWN = 'http://127.0.0.1:3000'

describe('the cross-site check', () => {
  const CASES: readonly (readonly [site: string | undefined, origin: string | undefined, rejected: boolean])[] = [
    [undefined, undefined, false],
    [undefined, OWN, false],
    [undefined, 'http://127.0.0.1:3001', true],
    [undefined, 'https://127.0.0.1:3000', true],
    [undefined, 'http://localhost:3000', true],
    [undefined, 'http://127.0.0.1:3000.evil.example', true],
    [undefined, 'http://127.0.0.1:3000/', true],
    [undefined, `${OWN}, ${OWN}`, true],
    [undefined, 'null', true],
    [undefined, '', true],
    ['same-origin', OWN, false],
    ['same-origin', undefined, false],
    ['same-site', undefined, false],
    ['none', undefined, false],
    ['SAME-ORIGIN', 'http://elsewhere.example', false],
    ['cross-site', undefined, true],
    ['cross-site', OWN, true],
    ['Cross-Site', OWN, true],
    ['CROSS-SITE', OWN, true],
    ['same-origin, cross-site', OWN, true],
    ['cross-site,same-origin', OWN, true],
    [' cross-site ', OWN, true],
    ['cross-site;a=b', OWN, true],
    ['"cross-site"', OWN, true],
    ['', OWN, false],
    ['', 'http://elsewhere.example', true],
    ['something', OWN, false],
    ['something', 'http://elsewhere.example', true],
    ['same-origin, something', 'http://elsewhere.example', true]
  ]
  for (const [site, origin, rejected] of CASES) {
    it(`${rejected ? 'rejects' : 'passes'} Sec-Fetch-Site ${JSON.stringify(site)} with Origin ${JSON.stringify(origin)}`, () => {
      const name = site?.toLowerCase().includes('cross-site') === true ? 'Sec-Fetch-Site' : 'Origin'
      for (const isSafe of [true, false]) {
        expect(crossSiteHeader({ site, origin, isSafe }, () => OWN)).to.equal(rejected ? name : undefined)
      }
    })
  }

  for (const site of ['same-site', 'Same-Site', 'same-origin, same-site', '"same-site"', 'same-site;a=b']) {
    it(`rejects Sec-Fetch-Site ${site} with another Origin, of unsafe methods`, () => {
      const isRejected = (origin: string | undefined, isSafe: boolean): boolean =>
        crossSiteHeader({ site, origin, isSafe }, () => OWN) === 'Origin'
      expect(isRejected('http://neighbour.example', false)).to.equal(true)
      expect(isRejected('null', false)).to.equal(true)
      expect(isRejected(OWN, false)).to.equal(false)
      expect(isRejected(undefined, false)).to.equal(false)
      expect(isRejected(OWN, true)).to.equal(false)
    })
  }
  it('passes a safe request of a neighbour', () => {
    const asked = { site: 'same-site', origin: 'http://neighbour.example', isSafe: true }
    expect(crossSiteHeader(asked, () => OWN)).to.equal(undefined)
  })

  describe('stands before everything else', () => {
    let gateway: SessionFixture
    before(async () => {
      gateway = await startSessions()
    })
    after(() => gateway.close())

    const sent = { access: 'a', refresh: 'r' }
    it('but not at the page of a one-time link, which a page with the mail leads to', async () => {
      const headers = { 'sec-fetch-site': 'cross-site' }
      const { statusCode, headers: answered } = await gateway.send('GET', '/auth/one-time-link', { headers })
      expect([statusCode, answered['referrer-policy'], answered['cache-control']]).to.deep.equal([
        200,
        'no-referrer',
        'no-store'
      ])
    })
    const urls = [
      '/auth/forgotten-password',
      '/auth/login',
      '/auth/logout',
      '/auth/logout-everywhere',
      '/auth/password',
      '/auth/session-cookie',
      '/auth/session/token',
      '/auth/sign-up'
    ]
    for (const url of urls) {
      for (const method of ['POST', 'GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
        it(`at ${method} ${url}`, async () => {
          for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'http://localhost:3000' }]) {
            const answer = await gateway.send(method, url, {
              headers: { ...headers, 'content-type': 'text/plain', 'access-control-request-method': 'POST' },
              cookies: sent,
              ...(method === 'GET' || method === 'HEAD' ? {} : { body: 'not JSON' })
            })
            expect(answer.statusCode, JSON.stringify(headers)).to.equal(403)
            if (method !== 'HEAD') expectProblem(answer, 403, 'request.cross-site')
            expect(setCookies(answer), JSON.stringify(headers)).to.deep.equal([])
            for (const name of Object.keys(answer.headers))
              expect(name, `${JSON.stringify(headers)}, ${name}`).to.not.match(/^(access-control-|allow$)/)
          }
          expect(gateway.auth.calls).to.deep.equal([])
        })
      }
    }

    for (const [method, url] of [
      ['POST', '/auth/logout'],
      ['POST', '/auth/logout-everywhere'],
      ['DELETE', '/auth/session-cookie'],
      ['POST', '/auth/session-cookie'],
      ['POST', '/auth/session/token'],
      ['POST', '/auth/password'],
      ['POST', '/auth/one-time-link'],
      ['POST', '/auth/login']
    ] as const) {
      it(`at ${method} ${url} of another host of the same site`, async () => {
        const headers = { 'sec-fetch-site': 'same-site', origin: 'http://neighbour.example' }
        const answer = await gateway.send(method, url, { headers, cookies: sent })
        const { errors } = expectProblem(answer, 403, 'request.cross-site')
        expect(errors).to.have.nested.property('[0].header', 'Origin')
        expect(setCookies(answer)).to.deep.equal([])
        expect(gateway.auth.calls).to.deep.equal([])
      })
    }

    it('and leaves the API and the key set alone', async () => {
      for (const url of ['/products', '/.well-known/jwks.json', '/docs']) {
        const answer = await gateway.send('GET', url, { headers: { 'sec-fetch-site': 'cross-site' } })
        expect(answer.statusCode, url).to.equal(200)
      }
    })
  })

  it('compares with the origin of PUBLIC_BASE_URL', async () => {
    const gateway = await startSessions({ PUBLIC_BASE_URL: 'https://Shop.example:443/api' })
    const status = async (origin: string): Promise<number> =>
      (await gateway.send('POST', '/api/auth/logout', { headers: { origin } })).statusCode
    expect(await status('https://shop.example')).to.equal(204)
    expect(await status('https://shop.example:443')).to.equal(403)
    expect(await status('http://shop.example')).to.equal(403)
    expect(await status('http://127.0.0.1:3000')).to.equal(403)
    await gateway.close()
  })

  it('compares with what a trusted proxy tells, and nobody else', async () => {
    const headers = {
      origin: 'https://shop.example',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'shop.example'
    }
    for (const [trusted, status] of [
      ['127.0.0.1', 204],
      ['10.0.0.1', 403]
    ] as const) {
      const gateway = await startSessions({ TRUSTED_PROXIES: trusted })
      expect(
        (await gateway.send('POST', '/auth/logout', { headers })).statusCode,
        `${trusted}, status ${status}`
      ).to.equal(status)
      await gateway.close()
    }
  })
})
