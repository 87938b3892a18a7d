import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'

const json = { 'content-type': 'application/json' }
const headers = { ...json, 'if-match': '"AAAAAAAAAAA="' }
const request = (method: string) => ({ method, headers, ...(method.startsWith('P') ? { body: '{}' } : {}) })

describeApi(
  'ownership without OWNER_BYPASS_ROLE',
  (store) => {
    it('leaves what needs no ownership as it is, writes and start included', async () => {
      for (const target of ['/products', '/products/paged', '/products/export', '/categories/1', '/venues/lookup']) {
        expect((await store.call(target)).status, target).to.equal(200)
        expect((await store.as('ada', target)).status, target).to.equal(200)
      }
      for (const target of ['/customers', '/suppliers', '/warehouses/paged']) {
        expect((await store.as('clerk', target)).status, target).to.equal(200)
      }
      const body = '{"name":"Saws","slug":"saws"}'
      const created = await store.as('clerk', '/categories', { method: 'POST', headers: json, body })
      expect(created.status, created.text).to.equal(201)
    })

    const USES: readonly (readonly [method: string, target: string])[] = [
      ['GET', '/orders'],
      ['GET', '/orders/paged'],
      ['GET', '/orders/export'],
      ['GET', '/orders/lookup'],
      ['GET', '/orders/1'],
      ['GET', '/customers/1'],
      ['GET', '/customers/abc'],
      ['GET', '/bookmarks?userId=1'],
      ['GET', '/bookmarks/session-ids?userId=1'],
      ['GET', '/shopping-carts?customerId=x'],
      ['POST', '/orders'],
      ['PUT', '/orders/1/pay'],
      ['PUT', '/shopping-carts/1/clear'],
      ['DELETE', '/orders/1']
    ]
    for (const [method, target] of USES) {
      it(`fails ${method} ${target} without a word of detail, whoever asks`, async () => {
        const options = request(method)
        for (const account of ['ada', 'admin', 'nobody']) {
          const problem = store.problem(await store.as(account, target, options), {
            status: 500,
            code: 'configuration'
          })
          expect(JSON.stringify(problem), account).not.to.match(/bypass|role|owner/i)
        }
      })

      it(`asks ${method} ${target} for a token first`, async () => {
        const options = request(method)
        store.problem(await store.call(target, options), { status: 401, code: 'auth.required' })
      })
    }

    it('fails over gRPC alike', async () => {
      const rpc = new GrpcCaller(store.stack.dataAddress)
      try {
        const token = await store.stack.token('admin@example.com')
        for (const method of ['List', 'Page', 'Lookup', 'Get'] as const) {
          const answer = await rpc.unary(method, { resource: 'orders', id: '1' }, { token })
          expect(isFailure(answer) && answer.details.reason, method).to.equal('configuration')
          expect(JSON.stringify(answer), method).not.to.match(/bypass/i)
        }
      } finally {
        rpc.close()
      }
    })

    it('says in the log which setting is missing', async () => {
      await store.as('ada', '/orders', { headers: { 'x-request-id': 'which-setting' } })
      const logged = await store.stack.dataService.logged(
        (entry) => entry['requestId'] === 'which-setting' && JSON.stringify(entry).includes('OWNER_BYPASS_ROLE')
      )
      expect(logged['level']).to.equal('error')
    })
  },
  { on: 'sqlite', env: () => ({ OWNER_BYPASS_ROLE: '' }) }
)
