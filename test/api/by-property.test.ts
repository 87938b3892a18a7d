import { expect } from 'chai'
import type { DescribeResponse__Output } from '../../shared/gen/entity/v1/DescribeResponse.js'
import { rowVersionOf } from '../harness/insert-rows.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { describeApi } from './api-store.js'
import { CATEGORIES, CUSTOMERS, PRODUCTS, productItem, rowOf, versionOf } from './fixture.js'
import { json } from './http-call.js'
import { send } from './writes/send.js'
import { select } from './writes/stored.js'

const at = (resource: string, property: string, value: unknown): string =>
  `/${resource}/by/${property}/${encodeURIComponent(String(value))}`

describeApi(
  'GET /{resource}/by/{property}/{value}',
  (store) => {
    for (const row of PRODUCTS) {
      it(`answers product ${String(row['id'])} by its sku as it does by its id`, async () => {
        const answer = await store.call(at('products', 'sku', row['sku']))
        expect(answer.status, answer.text).to.equal(200)
        expect(json(answer)).to.deep.equal(productItem(Number(row['id'])))
        expect(answer.headers.etag).to.equal(`W/"${versionOf(row)}"`)
        expect(answer.headers).to.include({ 'cache-control': 'no-store', 'api-supported-versions': '1.0' })
        expect(answer.bytes).to.deep.equal((await store.call(`/products/${String(row['id'])}`)).bytes)
      })
    }

    it('knows every unique property that is never null, and no other, in the tables of the store', async () => {
      const rpc = new GrpcCaller(store.stack.dataAddress)
      // Of the proto.
      const { resources } = (await rpc.unary('Describe', {}, { asGateway: true })) as DescribeResponse__Output
      rpc.close()
      const named = resources.flatMap(({ name, properties, updatesByProperty }) =>
        properties.filter(({ unique }) => unique).map((one) => `${name}.${one.name}${updatesByProperty ? ' PUT' : ''}`)
      )
      expect(named).to.have.members([
        'categories.name PUT',
        'categories.slug PUT',
        'coupons.code PUT',
        'customers.email PUT',
        'invoices.number',
        'invoices.orderId',
        'orders.number',
        'products.sku PUT'
      ])
    })

    it('finds each row of the other resources by each of these properties', async () => {
      for (const row of CATEGORIES) {
        const whole = await store.call(`/categories/${String(row['id'])}`)
        for (const property of ['name', 'slug']) {
          const answer = await store.call(at('categories', property, row[property]))
          expect(answer.bytes, String(row[property])).to.deep.equal(whole.bytes)
        }
      }
      for (const { number } of await select(store, 'SELECT number FROM orders')) {
        const answer = await store.as('admin', at('orders', 'number', number))
        expect(json(answer)).to.include({ number })
      }
      for (const row of CUSTOMERS) {
        expect(json(await store.as('admin', at('customers', 'email', row['email'])))).to.include({ id: row['id'] })
      }
    })

    // The index itself is the judge: a create of the same name is refused where it takes the names for equal.
    for (const name of [
      'Tools',
      'TOOLS',
      'tools ',
      'Hand tools',
      'HAND TOOLS ',
      'éclairs & CO',
      'Eclairs & Co',
      'tool%'
    ]) {
      it(`compares ${JSON.stringify(name)} as the unique index does`, async () => {
        const found = await store.call(at('categories', 'name', name))
        const made = await send(store, 'clerk POST /categories', { body: { name, slug: `made-of-${name.length}` } })
        const isTaken = made.headers['conflict-reason'] === 'unique; property="name"'
        expect([made.status, isTaken], made.text).to.be.deep.oneOf([
          [201, false],
          [409, true]
        ])
        expect(found.status, found.text).to.equal(isTaken ? 200 : 404)
        if (made.status !== 201) return
        const { id } = json(made) as { readonly id: number }
        expect((await store.as('clerk', `/categories/${id}`, { method: 'DELETE' })).status).to.equal(204)
      })
    }

    it('takes the name of the property in any letter case', async () => {
      expect(json(await store.call('/products/by/SKU/HM-001'))).to.deep.equal(productItem(1))
    })

    it('takes fields, includes and the headers of a read by id, and answers HEAD', async () => {
      const query = '?fields=id,variants,category&includeChildren=true&includeFKs=true&nope=1'
      const [byId, byValue] = [
        await store.call(`/products/1${query}`),
        await store.call(`/products/by/sku/HM-001${query}`)
      ]
      expect(byValue.bytes).to.deep.equal(byId.bytes)
      expect(byValue.status).to.equal(byId.status)
      const strict = { headers: { prefer: 'handling=strict' } }
      store.problem(await store.call('/products/by/sku/HM-001?nope=1', strict), {
        status: 400,
        code: 'parameter.unknown',
        violations: [{ code: 'parameter.unknown', parameter: 'nope' }]
      })
      const whole = await store.call('/products/by/sku/HM-001?includeChildren=true&includeFKs=true&nope=1')
      expect(whole.bytes).to.deep.equal((await store.call('/products/1?includeChildren=true&includeFKs=true')).bytes)
      expect(whole.headers['x-ignored-parameters']).to.equal('nope')
      const head = await store.call('/products/by/sku/HM-001', { method: 'HEAD' })
      expect([head.status, head.text, head.headers.etag]).to.deep.equal([
        200,
        '',
        `W/"${versionOf(rowOf(PRODUCTS, 1))}"`
      ])
    })

    for (const value of ['none', '%25', 'HM-00_', 'HM-001%20', '%20HM-001', '..%2Fproducts']) {
      it(`answers 404 where no sku is ${value}, with the body of an absent id`, async () => {
        store.problem(await store.call(`/products/by/sku/${value}`), {
          status: 404,
          code: 'not-found',
          says: 'There is no such row.'
        })
      })
    }

    for (const [path, parameter, says] of [
      ['/products/by/sku/a%00b', 'sku', 'it must be text without U+0000.'],
      [`/products/by/sku/${'9'.repeat(200)}`, 'sku', 'is no sku here: none has more than 64 characters.'],
      ['/invoices/by/orderId/abc', 'orderId', 'it must be a whole number'],
      ['/invoices/by/orderid/1.0', 'orderId', 'it must be a whole number'],
      ['/invoices/by/orderId/2147483648', 'orderId', 'it must be a whole number']
    ] as const) {
      it(`rejects the malformed value of ${path.slice(0, 40)}`, async () => {
        const violations = [{ code: 'id.invalid', parameter }]
        store.problem(await store.as('admin', path), { status: 400, code: 'id.invalid', violations, says })
      })
    }

    // Not unique, null in some rows, the id, of other callers, hidden, of children, joined, nothing at all.
    for (const path of [
      '/products/by/name/Hammer',
      '/products/by/barcode/0',
      '/products/by/id/1',
      '/products/by/costPrice/1.00',
      '/products/by/rowVersion/x',
      '/products/by/variants/x',
      '/customers/by/riskNote/secret-alpha',
      '/categories/by/parentName/Tools',
      '/products/by/nope/1',
      '/products/by/sku/',
      '/products/by/sku',
      '/products/by/',
      '/products/by'
    ]) {
      it(`has nothing at ${path} for anybody`, async () => {
        for (const account of ['admin', 'ada']) {
          store.problem(await store.as(account, path), { status: 404, code: 'route.not-found' })
        }
      })
    }

    it('answers other methods with 405 and what there is', async () => {
      for (const [method, path, allow] of [
        ['POST', '/products/by/sku/HM-001', 'GET, HEAD, PUT, OPTIONS'],
        ['PATCH', '/products/by/sku/HM-001', 'GET, HEAD, PUT, OPTIONS'],
        ['DELETE', '/products/by/sku/HM-001', 'GET, HEAD, PUT, OPTIONS'],
        ['PUT', '/orders/by/number/O-00001', 'GET, HEAD, OPTIONS']
      ] as const) {
        const answer = await store.as('admin', path, { method })
        store.problem(answer, { status: 405, code: 'method.not-allowed' })
        expect(answer.headers['allow']).to.equal(allow)
      }
      const answer = await store.call('/products/by/sku/x', { method: 'OPTIONS' })
      expect([answer.status, answer.headers['allow']]).to.deep.equal([204, 'GET, HEAD, PUT, OPTIONS'])
    })

    it('shows a caller the rows that it sees by id, and tells no more of others', async () => {
      const own = await store.as('ada', '/orders/by/number/O-00001')
      expect(own.bytes).to.deep.equal((await store.as('ada', '/orders/1')).bytes)
      for (const number of ['O-00002', 'O-99999']) {
        store.problem(await store.as('ada', at('orders', 'number', number)), {
          status: 404,
          code: 'not-found',
          says: 'There is no such row.'
        })
        store.problem(await store.as('nobody', at('orders', 'number', number)), {
          status: 403,
          code: 'ownership.denied'
        })
        store.problem(await store.call(at('orders', 'number', number)), { status: 401, code: 'auth.required' })
        store.problem(await store.as('ada', at('coupons', 'code', number)), { status: 403, code: 'capability.denied' })
      }
    })

    it('judges the row where the owner filter compares the id of the path: any other is 403, there or not', async () => {
      const own = await store.as('ada', at('customers', 'email', 'C1@example.com'))
      expect(own.bytes).to.deep.equal((await store.as('ada', '/customers/1')).bytes)
      const told = new Set<string>()
      for (const email of ['c2@example.com', 'nobody@nowhere.example', 'c2@example.com?id=1', 'x?id=1']) {
        const [value = '', query = ''] = email.split('?')
        const target = `${at('customers', 'email', value)}${query === '' ? '' : `?${query}`}`
        const answer = await store.as('ada', target)
        told.add(store.problem(answer, { status: 403, code: 'ownership.denied' }).detail)
        store.problem(await store.as('nobody', target), { status: 403, code: 'ownership.denied' })
        store.problem(await store.call(target), { status: 401, code: 'auth.required' })
      }
      expect([...told]).to.have.length(1)
      store.problem(await store.as('admin', at('customers', 'email', 'nobody@nowhere.example')), {
        status: 404,
        code: 'not-found'
      })
    })

    it('is the rpc GetBy', async () => {
      const rpc = new GrpcCaller(store.stack.dataAddress)
      try {
        const asked = { resource: 'products', property: 'SKU', value: 'hm-001' }
        const answer = await rpc.unary('GetBy', asked)
        expect(answer)
          .to.have.nested.property('record.json')
          .that.deep.equals((await store.call('/products/1')).bytes)
        expect(answer)
          .to.have.nested.property('record.rowVersion')
          .that.deep.equals(rowVersionOf(rowOf(PRODUCTS, 1)))
        for (const [request, reason] of [
          [{ ...asked, value: 'none' }, 'not-found'],
          [{ ...asked, value: 'a\0b' }, 'id.invalid'],
          [{ ...asked, property: 'name' }, 'route.not-found'],
          [{ ...asked, property: '' }, 'route.not-found'],
          [{ ...asked, resource: 'customers', property: 'email', ownerParameter: '1' }, 'auth.required']
        ] as const) {
          const failure = await rpc.unary('GetBy', request)
          if (!isFailure(failure)) throw new Error(`${JSON.stringify(request)} did not fail`)
          expect(failure.details.reason, JSON.stringify(request)).to.equal(reason)
        }
        const token = await store.stack.token('ada@example.com')
        const foreign = { resource: 'customers', property: 'email', value: 'c2@example.com', ownerParameter: '1' }
        expect(await rpc.unary('GetBy', foreign, { token })).to.have.nested.property(
          'details.reason',
          'ownership.denied'
        )
      } finally {
        rpc.close()
      }
    })
  },
  { also: ['unary'] }
)
