import { expect } from 'chai'
import { DomainError } from '../../../shared/errors.js'
import { request } from '../../harness/http.js'
import { noSession, type ProxyingGateway, startProxying } from './proxying-gateway.js'
import { type FakeRenderer, startRenderer } from './renderer-fixture.js'

describe('the renderer behind the gateway, for requests that change something', () => {
  let renderer: FakeRenderer
  let gateway: ProxyingGateway
  before(async () => {
    renderer = await startRenderer()
    gateway = await startProxying(renderer.url)
  })
  after(async () => {
    await gateway[Symbol.asyncDispose]()
    await renderer[Symbol.asyncDispose]()
  })
  beforeEach(() => {
    renderer.seen.length = 0
  })

  describe('behind a check of antiforgery tokens that rejects', () => {
    let strict: ProxyingGateway
    before(async () => {
      strict = await startProxying(renderer.url, {
        session: {
          ...noSession,
          checkAntiforgery: () => Promise.reject(new DomainError('antiforgery.invalid', 'No token.'))
        }
      })
    })
    after(() => strict[Symbol.asyncDispose]())

    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const [kind, sent] of [
        [
          'with a form',
          { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '3' } }
        ],
        ['without a body', {}]
      ] as const) {
        it(`never gets a ${method} ${kind}`, async () => {
          const answer = await request(`${strict.url}/cart`, { method, ...sent })
          expect([answer.status, renderer.seen.length]).to.deep.equal([403, 0])
          expect(answer.json()).to.include({ code: 'antiforgery.invalid' })
        })
      }
    }

    it('leaves a client of the API, which has a token and no cookie, a path that does not exist', async () => {
      const headers = { authorization: 'Bearer x' }
      const answers = [
        await request(`${strict.url}/cart`, { method: 'POST', headers }),
        await request(`${strict.url}/cart`, { method: 'POST', headers: { ...headers, cookie: 'app_antiforgery=x' } }),
        await request(`${strict.url}/cart`, { method: 'POST', headers: { ...headers, 'sec-fetch-site': 'same-site' } })
      ]
      expect(answers.map((answer) => [answer.status, (answer.json() as { readonly code: string }).code])).to.deep.equal(
        [
          [404, 'route.not-found'],
          [403, 'antiforgery.invalid'],
          [403, 'request.cross-site']
        ]
      )
      expect(renderer.seen).to.deep.equal([])
    })

    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      it(`gets a ${method}, which needs no token`, async () => {
        const answer = await request(`${strict.url}/cart`, { method })
        expect([answer.status, renderer.seen.map((seen) => seen.method)]).to.deep.equal([200, [method]])
      })
    }
  })

  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    it(`never gets a ${method} that a page of another origin sent`, async () => {
      const answer = await request(`${gateway.url}/cart`, { method, headers: { 'sec-fetch-site': 'cross-site' } })
      expect([answer.status, renderer.seen.length]).to.deep.equal([403, 0])
      expect(answer.json()).to.include({ code: 'request.cross-site' })
    })
  }
})
