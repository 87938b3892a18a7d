import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { versionOf, rowOf, PRODUCTS } from '../fixture.js'
import { everything, select } from './stored.js'
import { rowIn, send, tagOf } from './send.js'

const BODY = { name: 'n', sku: 'NEW', categoryId: 1, price: '1.00', isActive: true }
const LINES = [{ productId: 1, quantity: 1 }]

describeApi(
  'who may write',
  (store) => {
    const tag = tagOf(versionOf(rowOf(PRODUCTS, 1)))
    let stored: unknown

    const rejections: readonly (readonly [line: string, status: number, code: string, body?: object])[] = [
      ['ada POST /products', 403, 'capability.denied', BODY],
      ['nobody POST /products', 403, 'capability.denied', BODY],
      ['ada PUT /products/1', 403, 'capability.denied', BODY],
      ['ada PUT /products/1/unpublish', 403, 'capability.denied', {}],
      ['ada DELETE /products/12', 403, 'capability.denied'],
      ['ada POST /categories', 403, 'capability.denied', { name: 'n', slug: 's' }],
      ['ada POST /customers', 403, 'capability.denied', { name: 'n', email: 'e@example.com' }],
      // A customer reads the row that is theirs, and writes none.
      ['ada PUT /customers/1', 403, 'capability.denied', { name: 'n', email: 'e@example.com' }],
      ['ada PUT /customers/1/suspend', 403, 'capability.denied', {}],
      ['ada DELETE /customers/1', 403, 'capability.denied'],
      // Owning an order is not enough for the work of the store.
      ['ada PUT /orders/1/ship', 403, 'capability.denied', { trackingCode: 'x' }],
      ['ada PUT /orders/1/update-shipment', 403, 'capability.denied', { trackingCode: 'x' }],
      ['ada PUT /orders/1/deliver', 403, 'capability.denied', {}],
      ['clerk PUT /orders/1/ship', 403, 'capability.denied', { trackingCode: 'x' }],
      // No owner claim: nothing of theirs to write.
      ['nobody POST /orders', 403, 'ownership.denied', { lines: LINES }],
      ['nobody POST /orders', 403, 'ownership.denied', { lines: LINES, customerId: 1 }],
      ['clerk POST /orders', 403, 'ownership.denied', { lines: LINES, customerId: 1 }],
      ['nobody PUT /orders/1/pay', 403, 'ownership.denied', {}],
      ['nobody PUT /orders/999/pay', 403, 'ownership.denied', {}],
      ['clerk DELETE /orders/1', 403, 'ownership.denied'],
      // A claim, and another owner's row: as if it did not exist.
      ['ada PUT /orders/2/pay', 404, 'not-found', {}],
      ['ada PUT /orders/2/cancel', 404, 'not-found', {}],
      ['ada DELETE /orders/2', 404, 'not-found'],
      ['ben DELETE /orders/1', 404, 'not-found'],
      // Another owner in the body.
      ['ada POST /orders', 403, 'ownership.denied', { lines: LINES, customerId: 2 }],
      ['ada POST /orders', 403, 'ownership.denied', { lines: LINES, customerId: 999 }],
      // A bypass caller has to say whose it is.
      ['admin POST /orders', 400, 'body.invalid', { lines: LINES }],
      ['admin POST /orders', 400, 'body.invalid', { lines: LINES, customerId: null }]
    ]
    before(async () => (stored = await everything(store)))

    for (const [line, status, code, body] of rejections) {
      it(`${line} ${JSON.stringify(body) ?? ''} is ${code}`, async () => {
        const rejected = await send(store, line, { ...(body === undefined ? {} : { body }), ifMatch: tag, key: 'k' })
        store.problem(rejected, { status, code })
      })
    }

    it("another's row and an absent one answer alike", async () => {
      const bodies = await Promise.all(
        ['/orders/2/pay', '/orders/999/pay'].map(async (target) => {
          const { text } = await send(store, `ada PUT ${target}`, { ifMatch: tag })
          const { instance: _path, requestId: _id, ...rest } = JSON.parse(text) as Record<string, unknown>
          return rest
        })
      )
      expect(bodies[0]).to.deep.equal(bodies[1])
    })

    it('asks for a token, and for a good one', async () => {
      for (const [method, target] of [
        ['POST', '/products'],
        ['PUT', '/products/1'],
        ['PUT', '/products/1/publish'],
        ['DELETE', '/products/1'],
        ['POST', '/orders']
      ] as const) {
        const options = {
          method,
          ...(method === 'DELETE' ? {} : { body: '{}', headers: { 'content-type': 'application/json' } })
        }
        const missing = await store.call(target, options)
        store.problem(missing, { status: 401, code: 'auth.required' })
        expect(missing.headers['www-authenticate'], `${method}, ${target}`).to.equal('Bearer')
        const bad = await store.call(target, { ...options, token: 'a.b.c' })
        store.problem(bad, { status: 401, code: 'auth.invalid-token' })
        expect(bad.headers['www-authenticate'], `${method}, ${target}`).to.equal('Bearer error="invalid_token"')
      }
    })

    for (const [type, status] of [
      ['text/plain', 415],
      ['application/json-patch+json', 415],
      ['application/problem+json', 415],
      ['application/x-www-form-urlencoded', 415],
      ['multipart/form-data; boundary=x', 415],
      ['application/jsonx', 415],
      ['json', 415],
      ['', 415],
      [undefined, 415],
      ['application/json; charset=utf-8', 403],
      ['Application/JSON ; x=y', 403]
    ] as const) {
      it(`the media type ${String(type)} is ${status === 415 ? 'rejected' : 'taken'}`, async () => {
        for (const line of ['ada POST /products', 'ada PUT /products/1', 'ada PUT /products/1/publish']) {
          const rejected = await send(store, line, { body: '{}', headers: { 'content-type': type } })
          store.problem(rejected, { status, code: status === 415 ? 'media-type.unsupported' : 'capability.denied' })
        }
      })
    }

    it('takes bodies of up to 1 MiB and no more', async () => {
      const most = 1024 * 1024
      const padded = (bytes: number): string => `{"x":"${'x'.repeat(bytes - 8)}"}`
      for (const line of ['clerk POST /products', 'clerk PUT /products/1', 'clerk PUT /products/1/unpublish']) {
        const tooLarge = await send(store, line, { body: padded(most + 1), ifMatch: '"bad' })
        store.problem(tooLarge, { status: 413, code: 'body.too-large' })
      }
      const rejected = await send(store, 'clerk POST /products', { body: padded(most) })
      store.problem(rejected, { status: 400, code: 'body.invalid' })
    })

    it('rejects unknown parameters of every write where handling is strict', async () => {
      for (const line of [
        'clerk POST /products?x=1',
        'clerk PUT /products/1?x=1',
        'clerk PUT /products/1/unpublish?x=1',
        'clerk DELETE /products/12?x=1'
      ]) {
        const body = line.includes('DELETE') ? {} : { body: line.includes('unpublish') ? {} : BODY }
        const rejected = await send(store, line, { ...body, ifMatch: tag, headers: { prefer: 'handling=strict' } })
        store.problem(rejected, {
          status: 400,
          code: 'parameter.unknown',
          violations: [{ code: 'parameter.unknown', parameter: 'x', says: 'x' }]
        })
        expect(rejected.headers, line).to.include({ 'preference-applied': 'handling=strict' })
        expect(rejected.headers, line).not.to.have.property('x-ignored-parameters')
      }
    })

    it('says which methods a path has', async () => {
      for (const [line, allow] of [
        ['clerk PUT /products', 'GET, HEAD, POST'],
        ['clerk DELETE /products', 'GET, HEAD, POST'],
        ['clerk POST /products/1', 'GET, HEAD, PUT, PATCH, DELETE'],
        ['ada PUT /orders/1', 'GET, HEAD, DELETE'],
        ['clerk POST /products/1/publish', 'PUT'],
        ['clerk GET /products/1/publish', 'PUT'],
        ['admin POST /audit-entries', 'GET, HEAD'],
        ['admin DELETE /audit-entries/1', 'GET, HEAD']
      ] as const) {
        const rejected = await send(store, line, { body: {} })
        store.problem(rejected, { status: 405, code: 'method.not-allowed' })
        expect(rejected.headers.allow?.split(', '), line).to.have.members([...allow.split(', '), 'OPTIONS'])
      }
      for (const line of [
        'clerk PUT /products/1/nope',
        'clerk PUT /nope/1',
        'clerk POST /nope',
        'clerk PUT /orders/1/publish'
      ]) {
        store.problem(await send(store, line, { body: {} }), { status: 404, code: 'route.not-found' })
      }
    })

    it('writes of callers who may not write have changed no row', async () => {
      expect(await everything(store)).to.deep.equal(stored)
    })
  },
  { on: 'sqlite' }
)

describeApi('the owner of a new row', (store) => {
  for (const [line, customerId, owner] of [
    ['ada POST /orders', undefined, 1],
    ['ada POST /orders', 1, 1],
    ['ben POST /orders', undefined, 2],
    ['admin POST /orders', 2, 2]
  ] as const) {
    it(`is ${owner} for ${line} with ${String(customerId)}`, async () => {
      const created = await send(store, line, { body: { lines: LINES, customerId } })
      expect(created.status, created.text).to.equal(201)
      const { id } = rowIn(created)
      expect(rowIn(created)).to.include({ customerId: owner })
      const [row] = await select(store, 'SELECT customer_id FROM orders WHERE id = ?', [Number(id)])
      expect(Number(row?.['customer_id'])).to.equal(owner)
    })
  }
})
