import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { productItem } from './fixture.js'
import { json } from './http-call.js'

describeApi(
  'methods and routes',
  (store) => {
    for (const path of ['/products', '/products/paged?pageSize=3', '/products/lookup', '/products/1']) {
      it(`answers HEAD ${path} as GET without a body`, async () => {
        const get = await store.call(path)
        const head = await store.call(path, { method: 'HEAD' })
        expect(head.status).to.equal(get.status)
        expect(head.bytes).to.have.length(0)
        const same = ({ date: _date, 'x-request-id': _id, ...headers }: typeof get.headers): object => headers
        expect(same(head.headers)).to.deep.equal(same(get.headers))
      })
    }

    it('has no HEAD on export', async () => {
      const answer = await store.call('/products/export', { method: 'HEAD' })
      expect(answer.status).to.equal(405)
      expect(answer.bytes).to.have.length(0)
    })

    it('answers HEAD of what is absent with 404 and no body', async () => {
      const answer = await store.call('/products/999', { method: 'HEAD' })
      expect(answer.status).to.equal(404)
      expect(answer.bytes).to.have.length(0)
    })

    const WRONG: readonly (readonly [method: string, path: string])[] = [
      ['PATCH', '/products'],
      ['PATCH', '/orders/1'],
      ['POST', '/products/1'],
      ['PUT', '/products'],
      ['POST', '/products/paged'],
      ['DELETE', '/products/lookup'],
      ['PUT', '/products/export'],
      ['PATCH', '/openapi.json']
    ]
    for (const [method, path] of WRONG) {
      it(`answers ${method} ${path} with 405 and Allow`, async () => {
        const answer = await store.call(path, { method })
        store.problem(answer, { status: 405, code: 'method.not-allowed' })
        const allowed = String(answer.headers['allow']).split(/, ?/)
        expect(allowed).to.include.members(['GET', 'OPTIONS']).and.not.include(method)
      })
    }

    const OPTIONS: readonly (readonly [path: string, allow: string])[] = [
      ['/products', 'GET, HEAD, POST, OPTIONS'],
      ['/products/paged', 'GET, HEAD, OPTIONS'],
      ['/products/export?fields=zz', 'GET, OPTIONS'],
      ['/products/lookup', 'GET, HEAD, OPTIONS'],
      ['/products/x', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
      ['/products/1/publish', 'PUT, OPTIONS'],
      ['/orders/1', 'GET, HEAD, DELETE, OPTIONS'],
      ['/audit-entries', 'GET, HEAD, OPTIONS'],
      ['/audit-entries/1', 'GET, HEAD, OPTIONS'],
      ['/bookmarks/session-ids', 'GET, HEAD, OPTIONS'],
      ['/openapi.json', 'GET, HEAD, OPTIONS'],
      ['/problems/conflict', 'GET, HEAD, OPTIONS'],
      ['/health', 'GET, HEAD, OPTIONS']
    ]
    for (const [path, allow] of OPTIONS) {
      it(`answers OPTIONS ${path} with 204 and Allow, whoever asks`, async () => {
        const answer = await store.call(path, { method: 'OPTIONS' })
        expect([answer.status, answer.bytes.length]).to.deep.equal([204, 0])
        expect(answer.headers).to.include({ allow })
        expect(answer.headers).to.not.have.any.keys('content-type', 'content-length', 'access-control-allow-origin')
      })
    }

    it('answers OPTIONS of an entity with the headers that entities have', async () => {
      const { headers } = await store.call('/products/1', { method: 'OPTIONS', headers: { 'x-request-id': 'mine' } })
      expect(headers).to.include({
        'cache-control': 'no-store',
        'api-supported-versions': '1.0',
        'x-request-id': 'mine'
      })
    })

    for (const path of ['/nope', '/nope/1', '/products/1/nope', '/products/']) {
      it(`answers OPTIONS ${path} with 404`, async () => {
        store.problem(await store.call(path, { method: 'OPTIONS' }), { status: 404, code: 'route.not-found' })
      })
    }

    for (const path of ['/nope', '/nope/1', '/products/1/nope/more', '/', '/products/', '/Products', '//products']) {
      it(`answers ${path} with 404`, async () => {
        store.problem(await store.call(path), { status: 404, code: 'route.not-found' })
      })
    }

    it('reads the id from a percent-encoded path', async () => {
      expect(json(await store.call('/products/%31'))).to.deep.equal(productItem(1))
    })

    it('wants no body of a GET and ignores one', async () => {
      const answer = await store.call('/products/1', {
        headers: { 'content-type': 'text/plain', 'content-length': '2' },
        body: 'hi'
      })
      expect([200, 400, 415]).to.include(answer.status)
      if (answer.status === 200) expect(json(answer)).to.deep.equal(productItem(1))
    })
  },
  { on: 'sqlite' }
)
