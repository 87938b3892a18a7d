import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { filter, json } from './http-call.js'
import { inside, parametersOf } from '../harness/openapi-document.js'

describeApi(
  'GET /openapi.json',
  (store) => {
    it('is OpenAPI 3.1 and holds every read of every resource', async () => {
      const answer = await store.call('/openapi.json')
      expect(answer.status).to.equal(200)
      expect(answer.headers['content-type']).to.match(/json/)
      const document = json(answer)
      expect(document)
        .to.have.property('openapi')
        .that.matches(/^3\.1\./)
      for (const resource of ['products', 'categories', 'customers', 'orders']) {
        for (const route of ['', '/paged', '/export', '/lookup', '/{id}']) {
          expect(document, `${resource}, ${JSON.stringify(route)}`).to.have.nested.property(
            `paths./${resource}${route}.get`
          )
        }
      }
    })

    it('is valid for the whole store', async () => {
      // The validator judges whether it is one.
      const { valid, errors } = await new Validator().validate(
        json(await store.call('/openapi.json')) as Record<string, unknown>
      )
      expect(valid, JSON.stringify(errors)).to.equal(true)
    })

    it('is under 500 KB for the whole store', async () => {
      const whole = await store.as('admin', '/openapi.json')
      expect(inside(json(whole), 'paths', '/audit-entries/paged', 'get')).to.be.an('object')
      expect(Buffer.byteLength(whole.text)).to.be.lessThan(500_000)
    })

    it('states the bounds of the entity files, and so do the pages of /docs', async () => {
      const { schemas } = (json(await store.call('/openapi.json')) as Document).components
      const quantity = { type: 'integer', format: 'int32', minimum: 1, maximum: 10_000 }
      expect(schemas['stock-items.reserve.input']?.properties['quantity']).to.deep.equal(quantity)
      expect(schemas['orders.lines']?.properties['quantity'])
        .to.have.property('description')
        .that.includes('from 1 to 10000')
      for (const name of ['products.create', 'products.update']) {
        const { properties } = schemas[name] ?? { properties: {} }
        expect(properties['name'], name).to.include({ minLength: 1 })
        expect(properties['weightGrams'], name).to.include({ minimum: 0 })
        expect(properties['price'], name).to.have.property('description').that.includes('At least 0.')
      }
      expect((await store.call('/docs/resources/stock-items')).text).to.include(
        '<code>quantity</code> int from 1 to 10000'
      )
      expect((await store.call('/docs/resources/products')).text).to.include('decimal(10,2) at least 0')
    })

    it('lists the states of a row, and the operators that they have', async () => {
      const { schemas } = (json(await store.call('/openapi.json')) as Document).components
      const states = ['placed', 'paid', 'shipped', 'delivered', 'cancelled']
      expect(schemas['orders']?.properties['status']).to.deep.include({ type: 'string', enum: states })
      const answer = await store.as('admin', `/orders/paged?${filter('status', 'equals', 'posted')}`)
      store.problem(answer, { status: 400, code: 'filter.value.invalid' })
      expect((json(answer) as { detail: string }).detail).to.include('placed, paid, shipped, delivered, cancelled')
      const contains = await store.as('admin', `/orders/paged?${filter('status', 'contains', 'paid')}`)
      store.problem(contains, { status: 400, code: 'filter.operator.unsupported' })
    })

    it('has no concurrency token in the body of an update', async () => {
      const { schemas } = (json(await store.call('/openapi.json')) as Document).components
      const updates = Object.entries(schemas).filter(([name]) => /\.(?:update|patch)$/.test(name))
      expect(updates).to.have.length.at.least(5)
      for (const [name, { properties }] of updates) expect(properties, name).to.not.have.property('rowVersion')
    })

    it('shows reads of a resource’s own, and its owner parameter where its filter stands', async () => {
      const document = json(await store.call('/openapi.json'))
      expect(document).to.have.nested.property('paths./bookmarks/session-ids.get.responses.200')
      const named = (path: string): boolean => parametersOf(document, path, 'get').get('userId')?.in === 'query'
      expect(
        ['', '/session-ids', '/paged', '/export', '/lookup'].map((route) => named(`/bookmarks${route}`))
      ).to.deep.equal([true, true, false, false, false])
      const html = (await store.call('/docs/resources/bookmarks')).text
      expect(html).to.include('/bookmarks/session-ids').and.include('?userId=…')
    })
  },
  { on: 'sqlite', never: ['cuts'] }
)

/** As much of the document as is looked at. */
interface Document {
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties: Readonly<Record<string, object>> }>>
  }
}

describeApi(
  'problem pages',
  (store) => {
    it('explain the code that `type` names', async () => {
      const { type } = store.problem(await store.call('/products/x'), { status: 400, code: 'id.invalid' })
      const page = await store.call(new URL(type).pathname)
      expect(page.status).to.equal(200)
      expect(page.text).to.include('id.invalid')
    })
  },
  { on: 'sqlite', never: ['cuts'] }
)
