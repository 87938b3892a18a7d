import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { BAD_DOCUMENTS, BAD_MEMBERS, MALFORMED } from './invalid-bodies.js'
import { everything } from './stored.js'
import { send } from './send.js'

const GOOD: Readonly<Record<string, string>> = { name: '"n"', sku: '"S"', categoryId: '1', price: '"1.00"' }
const TAG = 'W/"AAAAAAAAAAE="'
const PRODUCT = { name: 'n', sku: 'S', categoryId: 1, price: '1.00' }

/** A product's body with one member as JSON text. */
function withMember(member: string, json: string): string {
  return `{${Object.entries({ ...GOOD, [member]: json })
    .map(([name, text]) => `"${name}":${text}`)
    .join(',')}}`
}

describeApi(
  'invalid bodies',
  (store) => {
    let before: unknown
    beforeEach(async () => (before ??= await everything(store)))

    for (const { member, json, says } of BAD_MEMBERS) {
      it(`${member} ${json.slice(0, 60)}`, async () => {
        const body = withMember(member, json)
        const rejected = await send(store, 'clerk POST /products', { body, key: 'same' })
        const { detail } = store.problem(rejected, { status: 400, code: 'body.invalid', says })
        expect(detail).to.include(member)
        expect(rejected.headers).to.include({ 'api-supported-versions': '1.0' })
        expect(rejected.headers).not.to.have.any.keys('etag', 'location', 'idempotent-replayed')
        // PUT goes by the same rules, but that it has no defaults.
        const put = await send(store, 'clerk PUT /products/1', {
          body: member === 'isActive' ? body : `${body.slice(0, -1)},"isActive":true}`,
          ifMatch: TAG
        })
        store.problem(put, { status: 400, code: 'body.invalid', says: member })
      })
    }

    for (const { body, says } of BAD_DOCUMENTS) {
      it(`${body.slice(0, 60)} is no request`, async () => {
        store.problem(await send(store, 'clerk POST /products', { body }), { status: 400, code: 'body.invalid', says })
        store.problem(await send(store, 'clerk PUT /products/1', { body, ifMatch: TAG }), {
          status: 400,
          code: 'body.invalid',
          says
        })
        store.problem(await send(store, 'clerk PUT /products/1/publish', { body, ifMatch: TAG }), {
          status: 400,
          code: 'body.invalid',
          says
        })
      })
    }

    for (const body of MALFORMED) {
      it(`${JSON.stringify(body.toString('latin1').slice(0, 60))} is no JSON, whoever sends it`, async () => {
        for (const line of ['clerk POST /products', 'clerk PUT /products/1', 'ada PUT /products/1/publish']) {
          // Malformed JSON comes before the token, the permission and the missing If-Match.
          store.problem(await send(store, line, { body }), { status: 400, code: 'body.malformed' })
        }
        const anonymous = await store.call('/products', {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json' }
        })
        store.problem(anonymous, { status: 400, code: 'body.malformed' })
      })
    }

    it('an empty body is no JSON on create and PUT', async () => {
      const headers = { 'content-type': 'application/json' }
      store.problem(await send(store, 'clerk POST /products', { headers }), { status: 400, code: 'body.malformed' })
      store.problem(await send(store, 'clerk PUT /products/1', { headers, ifMatch: TAG }), {
        status: 400,
        code: 'body.malformed'
      })
      // It comes before the token, too, and needs no media type.
      for (const line of ['- POST /products', '- PUT /products/1'])
        for (const sent of [{ headers }, {}])
          store.problem(await send(store, line, sent), { status: 400, code: 'body.malformed' })
    })

    it('names all faults at once', async () => {
      const body = '{"name":"","price":"1.999","weightGrams":-1,"barcode":9007199254740993,"isActive":null,"extra":1}'
      const expected = ['/name', '/sku', '/categoryId', '/price', '/weightGrams', '/barcode', '/isActive']
      const answer = await send(store, 'clerk POST /products', { body })
      store.problem(answer, {
        status: 400,
        code: 'body.invalid',
        violations: expected.map((pointer) => ({ code: 'body.invalid', pointer, says: pointer.slice(1) }))
      })
      const strict = await send(store, 'clerk POST /products?x=1', { body, headers: { prefer: 'handling=strict' } })
      store.problem(strict, {
        status: 400,
        code: 'body.invalid',
        violations: [
          ...expected.map((pointer) => ({ code: 'body.invalid', pointer })),
          { code: 'parameter.unknown', pointer: '/extra' },
          { code: 'parameter.unknown', parameter: 'x' }
        ]
      })
    })

    it('says the rule of each fault with its numbers, of one fault too', async () => {
      const rulesOf = async (body: object): Promise<unknown> => {
        const answer = await send(store, 'clerk POST /products', { body })
        const { errors = [] } = store.problem(answer, { status: 400, code: 'body.invalid' })
        return errors.map(({ code: _code, detail: _detail, ...rule }) => rule)
      }
      expect(await rulesOf({ ...PRODUCT, name: '' })).to.deep.equal([
        { pointer: '/name', rule: 'length', minimum: 1, maximum: 200 }
      ])
      const { sku: _sku, ...without } = PRODUCT
      expect(await rulesOf({ ...without, price: '1.999', categoryId: 'x', isActive: null })).to.deep.equal([
        { pointer: '/sku', rule: 'required' },
        { pointer: '/categoryId', rule: 'type', type: 'int' },
        { pointer: '/price', rule: 'digits', whole: 8, fraction: 2 },
        { pointer: '/isActive', rule: 'notNull' }
      ])
      expect(await rulesOf({ ...PRODUCT, categoryId: 2 ** 31 })).to.deep.equal([
        { pointer: '/categoryId', rule: 'range', minimum: -2147483648, maximum: 2147483647 }
      ])
    })

    it('points at what a rule of the entity rejects', async () => {
      const body = { lines: [{ productId: 999, quantity: 1 }] }
      store.problem(await send(store, 'ada POST /orders', { body }), {
        status: 400,
        code: 'body.invalid',
        violations: [{ code: 'body.invalid', pointer: '/lines/0/productId' }]
      })
    })

    it('names those of a bad id, of the body and of another id in it together', async () => {
      const answer = await send(store, 'clerk PUT /products/x', { body: '{"id":2,"name":1}', ifMatch: TAG })
      const { errors = [] } = store.problem(answer, { status: 400, code: 'id.invalid' })
      expect(errors.map(({ code }) => code)).to.include.members(['id.invalid', 'body.invalid'])
      expect(errors.map(({ pointer }) => pointer)).to.include.members(['/name', '/sku', '/categoryId', '/price'])
    })

    it('points at members of children', async () => {
      const lines = [
        { productId: 1, quantity: 0 },
        7,
        { quantity: 10001, variantId: 'x' },
        { productId: 1, quantity: 1 }
      ]
      const answer = await send(store, 'ada POST /orders', { body: { lines, trackingCode: '' } })
      store.problem(answer, {
        status: 400,
        code: 'body.invalid',
        violations: [
          '/trackingCode',
          '/lines/0/quantity',
          '/lines/1',
          '/lines/2/productId',
          '/lines/2/variantId',
          '/lines/2/quantity'
        ].map((pointer) => ({ code: 'body.invalid', pointer }))
      })
    })

    for (const [lines, says] of [
      [undefined, 'lines'],
      [null, 'lines'],
      [[], 'lines'],
      [{}, 'lines'],
      ['x', 'lines'],
      [[{ productId: 999, quantity: 1 }], 'product'],
      [[{ productId: 1, variantId: 3, quantity: 1 }], 'variant'],
      [[{ productId: 1, variantId: 999, quantity: 1 }], 'variant'],
      [Array.from({ length: 200 }, () => ({ productId: 5, quantity: 10000 })), 'more than an order holds']
    ] as const) {
      it(`no order of ${JSON.stringify(lines)?.slice(0, 60) ?? 'no lines'}`, async () => {
        const rejected = await send(store, 'ada POST /orders', { body: { lines } })
        store.problem(rejected, { status: 400, code: 'body.invalid', says })
      })
    }

    it('takes a category, a customer and an address by the same rules', async () => {
      store.problem(
        await send(store, 'clerk POST /categories', { body: { name: 'x', slug: 'y'.repeat(65), parentId: '1' } }),
        {
          status: 400,
          code: 'body.invalid',
          violations: [
            { code: 'body.invalid', pointer: '/slug' },
            { code: 'body.invalid', pointer: '/parentId' }
          ]
        }
      )
      const body = { email: 'x', phone: 5, addresses: [{ line1: '', city: 'c', postalCode: 'p', country: null }] }
      store.problem(await send(store, 'clerk POST /customers', { body }), {
        status: 400,
        code: 'body.invalid',
        violations: ['/name', '/email', '/phone', '/addresses/0/line1', '/addresses/0/country'].map((pointer) => ({
          code: 'body.invalid',
          pointer
        }))
      })
    })

    it('rejected bodies have changed no row', async () => {
      expect(await everything(store)).to.deep.equal(before)
    })
  },
  { also: ['document'] }
)
