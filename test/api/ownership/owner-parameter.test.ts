import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { GrpcCaller, isFailure, type Method } from '../../stack/grpc-caller.js'
import { ids, json } from '../http-call.js'

const headers = { 'content-type': 'application/json' }
/** `userId=…` of a query, that of ada being 1: who gets through. */
const PARAMETERS: readonly (readonly [query: string, verdict: 'own' | 'denied'])[] = [
  ['userId=1', 'own'],
  ['userId=01', 'own'],
  ['USERid=1', 'own'],
  ['', 'denied'],
  ['userId=', 'denied'],
  ['userId=2', 'denied'],
  ['userId=-1', 'denied'],
  ['userId=1abc', 'denied'],
  ['userId=1e0', 'denied'],
  ['userId=1.0', 'denied'],
  ['userId=%2B1', 'denied'],
  ['userId=%201', 'denied'],
  ['userId=1%20', 'denied'],
  ['userId=1&userId=1', 'denied'],
  ['userId=1&userId=2', 'denied'],
  ['id=1', 'denied'],
  ['customerId=1', 'denied'],
  ['userId=18446744073709551617', 'denied']
]

describeApi(
  'owner parameter',
  (store) => {
    const marked: Record<string, unknown[]> = { ada: [], ben: [] }
    let rpc: GrpcCaller

    before(async () => {
      rpc = new GrpcCaller(store.stack.dataAddress)
      for (const [account, sessions] of [
        ['ada', [17, 3]],
        ['ben', [5]]
      ] as const) {
        for (const sessionId of sessions) {
          const body = JSON.stringify({ sessionId })
          const answer = await store.as(account, '/bookmarks', { method: 'POST', headers, body })
          expect(answer.status, answer.text).to.equal(201)
          marked[account]?.push((json(answer) as { readonly id: unknown }).id)
        }
        const body = '{"currency":"EUR"}'
        const cart = await store.as(account, '/shopping-carts', { method: 'POST', headers, body })
        expect(cart.status, cart.text).to.equal(201)
      }
    })
    after(() => rpc.close())

    for (const [query, verdict] of PARAMETERS) {
      it(`answers ada's bookmarks?${query} with ${verdict}`, async () => {
        const list = await store.as('ada', `/bookmarks?${query}`)
        const read = await store.as('ada', `/bookmarks/session-ids?${query}`)
        if (verdict === 'denied') {
          for (const answer of [list, read]) store.problem(answer, { status: 403, code: 'ownership.denied' })
          return
        }
        expect(ids(list)).to.deep.equal(marked['ada'])
        expect(json(read)).to.deep.equal([3, 17])
        expect(read.headers).to.include({ 'x-row-limit': '1000', 'content-type': 'application/json; charset=utf-8' })
        expect(read.headers).not.to.have.any.keys('x-truncated', 'x-ignored-parameters')
      })
    }

    it('is the same to a caller over gRPC', async () => {
      const token = await store.stack.token('ada@example.com')
      const read = { resource: 'bookmarks', name: 'session-ids' }
      const answered = await rpc.unary('Read', { ...read, ownerParameter: '01' }, { token })
      expect(answered).to.have.property('json').that.deep.equals(Buffer.from('[3,17]'))
      const requests: readonly (readonly [Method, object])[] = [
        ['Read', read],
        ['List', { resource: 'bookmarks' }],
        ...['', '2', '+1', '1,1'].flatMap((ownerParameter): (readonly [Method, object])[] => [
          ['Read', { ...read, ownerParameter }],
          ['List', { resource: 'bookmarks', ownerParameter }],
          ['Get', { resource: 'shopping-carts', id: '1', ownerParameter }],
          ['Delete', { resource: 'shopping-carts', id: '1', ownerParameter }],
          ['Create', { resource: 'shopping-carts', body: Buffer.from('{}'), ownerParameter }],
          ['Act', { resource: 'shopping-carts', id: '1', action: 'clear', ownerParameter }]
        ])
      ]
      for (const [method, request] of requests) {
        const answer = await rpc.unary(method, request, { token })
        if (!isFailure(answer)) throw new Error(`${method} ${JSON.stringify(request)} was answered`)
        expect([answer.status, answer.details.reason], `${method} ${JSON.stringify(request)}`).to.deep.equal([
          status.PERMISSION_DENIED,
          'ownership.denied'
        ])
      }
    })

    it('narrows what the bypass role sees, and widens nothing where it is no integer', async () => {
      expect(json(await store.as('admin', '/bookmarks/session-ids?userId=1'))).to.deep.equal([3, 17])
      expect(json(await store.as('admin', '/bookmarks/session-ids?userId=2'))).to.deep.equal([5])
      expect(json(await store.as('admin', '/bookmarks/session-ids?userId=99999999999'))).to.deep.equal([])
      expect(json(await store.as('admin', '/bookmarks/session-ids'))).to.deep.equal([3, 5, 17])
      for (const userId of ['', 'x', '1&userId=1', '%2B1']) {
        for (const path of ['/bookmarks', '/bookmarks/session-ids']) {
          const answer = await store.as('admin', `${path}?userId=${userId}`)
          const violation = { code: 'filter.value.invalid', parameter: 'userId' }
          store.problem(answer, { status: 400, code: 'filter.value.invalid', violations: [violation] })
        }
      }
    })

    it('narrows pages with their totals, exports and lookups', async () => {
      const paged = await store.as('admin', '/shopping-carts/paged?customerId=2&pageSize=1')
      expect(paged.headers['x-total-count']).to.equal('1')
      expect(json(paged)).to.have.nested.property('[0].customerId', 2)
      const all = await store.as('admin', '/shopping-carts/paged')
      expect(all.headers['x-total-count']).to.equal('2')
      const exported = await store.as('admin', '/shopping-carts/export?customerId=2&fields=customerId&bom=false')
      expect(exported.text).to.equal('customerId\r\n2\r\n')
      const found = await store.as('admin', '/shopping-carts/lookup?customerId=2')
      expect(json(found)).to.have.property('items').with.length(1)
    })

    it('is 403 on every route of carts where it is foreign, and may be left out on each', async () => {
      const [cart] = ids(await store.as('ada', '/shopping-carts'))
      const tag = (await store.as('ada', `/shopping-carts/${String(cart)}`)).headers['etag'] ?? ''
      const write = (method: string, body?: string) => ({
        method,
        headers: { ...headers, 'if-match': tag },
        ...(body === undefined ? {} : { body })
      })
      const ROUTES: readonly (readonly [path: string, options?: object])[] = [
        [''],
        ['/paged'],
        ['/export'],
        ['/lookup'],
        [`/${String(cart)}`],
        ['', write('POST', '{"currency":"EUR"}')],
        [`/${String(cart)}/clear`, write('PUT', '{}')],
        [`/${String(cart)}`, write('DELETE')]
      ]
      for (const [path, options = {}] of ROUTES) {
        for (const query of ['customerId=2', 'customerId=x', 'customerId=']) {
          const answer = await store.as('ada', `/shopping-carts${path}?${query}`, options)
          const violations = [{ code: 'ownership.denied', parameter: 'customerId' }]
          store.problem(answer, { status: 403, code: 'ownership.denied', violations })
        }
      }
      expect(ids(await store.as('ada', '/shopping-carts'))).to.deep.equal([cart])
      for (const [path, options = {}] of ROUTES.slice(0, -2)) {
        for (const query of ['', 'customerId=1']) {
          const answer = await store.as('ada', `/shopping-carts${path}?${query}`, options)
          expect(answer.status, `${path}?${query} ${answer.text}`).to.be.within(200, 201)
        }
      }
    })
  },
  { on: 'sqlite' }
)
