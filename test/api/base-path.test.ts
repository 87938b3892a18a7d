import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { expectProblem } from './expect-problem.js'
import { ids, json } from './http-call.js'

const BASE = 'https://shop.example/api'

describeApi(
  'under PUBLIC_BASE_URL with a path',
  (store) => {
    /** The gateway listens where it listens; the base names how the world sees it. */
    const call = (target: string) => store.call(target)

    it('every route has the prefix', async () => {
      expect(ids(await call('/api/products/paged?pageSize=2'))).to.deep.equal([1, 2])
      expect((await call('/api/openapi.json')).status).to.equal(200)
      const bare = await call('/products')
      expectProblem(bare, { status: 404, code: 'route.not-found', base: BASE })
    })

    it('every link is absolute on the base, whatever a proxy reports', async () => {
      const headers = { 'x-forwarded-host': 'other.example', 'x-forwarded-proto': 'http', host: 'evil.example' }
      const link = String((await store.call('/api/products/paged?pageSize=2', { headers })).headers['link'])
      const targets = [...link.matchAll(/<([^>]+)>/g)].map(([, target = '']) => target)
      expect(targets).to.have.length(3)
      for (const target of targets) expect(target.startsWith(`${BASE}/products/paged?`), target).to.equal(true)
    })

    it('problems name their type by the base and their path as asked', async () => {
      const answer = await call('/api/products/x')
      const { type } = expectProblem(answer, { status: 400, code: 'id.invalid', base: BASE })
      const page = await call(new URL(type).pathname)
      expect(page.status).to.equal(200)
    })

    it('the OpenAPI document names it as its server', async () => {
      expect(json(await call('/api/openapi.json'))).to.have.nested.property('servers[0].url', BASE)
    })
  },
  { on: 'sqlite', env: () => ({ PUBLIC_BASE_URL: BASE, TRUSTED_PROXIES: '127.0.0.0/8' }) }
)
