import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { CUSTOMERS, PRODUCTS, clerkProductItem, productItem, rowOf, VARIANTS, versionOf } from '../fixture.js'
import { changesNothing, count, select } from './stored.js'
import { etagOf, rowIn, send, tagOf } from './send.js'

const tag = (id: number): string => tagOf(versionOf(rowOf(PRODUCTS, id)))

describeApi(
  'PUT',
  (store) => {
    it('answers 200, the full DTO and the new ETag, as a read then shows them', async () => {
      const body = {
        name: 'Renamed ',
        sku: 'hm-001',
        categoryId: 3,
        price: '20.00',
        weightGrams: 501,
        barcode: '9223372036854775807',
        isActive: false,
        releasedAt: '2026-02-01T00:00:00+02:00',
        externalId: 'AAAAAAAA-0000-4000-8000-00000000FFFF',
        description: 'Another.',
        costPrice: '8.50',
        reorderLevel: 7
      }
      const { rowVersion: before } = productItem(1)
      const answer = await send(store, 'clerk PUT /products/1', { body, ifMatch: tag(1) })
      expect(answer.status, answer.text).to.equal(200)
      const { rowVersion } = rowIn(answer)
      expect(rowVersion).not.to.equal(before)
      expect(rowIn(answer)).to.deep.equal({
        ...body,
        id: 1,
        releasedAt: '2026-01-31T22:00:00.000Z',
        externalId: 'aaaaaaaa-0000-4000-8000-00000000ffff',
        displayName: 'Renamed  (hm-001)',
        margin: '11.50',
        rowVersion
      })
      expect(answer.headers).to.include({
        etag: tagOf(rowVersion),
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'api-supported-versions': '1.0'
      })
      const read = await store.as('clerk', '/products/1')
      expect(answer.bytes).to.deep.equal(read.bytes)
      expect(Object.keys(answer.headers)).to.have.members(Object.keys(read.headers))
      // Children and other rows are as they were.
      const variants = (
        rowIn(await store.call('/products/1?includeChildren=true'))['variants'] as { rowVersion: string }[]
      ).map((one) => one.rowVersion)
      expect(variants).to.deep.equal([1, 2].map((id) => versionOf(rowOf(VARIANTS, id))))
      expect(rowIn(await store.call('/products/2'))).to.deep.equal(productItem(2))
    })

    it('makes null of what is left out, or the default, and rejects where neither can be', async () => {
      const required = { name: '100% cotton', sku: 'CT-100', categoryId: 3, price: '5.50', isActive: true }
      const answer = await send(store, 'clerk PUT /products/3', { body: required, ifMatch: tag(3) })
      expect(answer.status, answer.text).to.equal(200)
      const { id: _id, displayName: _name, margin: _margin, rowVersion: _version, ...rest } = rowIn(answer)
      expect(rest).to.deep.equal({
        ...required,
        weightGrams: null,
        barcode: null,
        releasedAt: null,
        externalId: null,
        description: null,
        costPrice: null,
        reorderLevel: null
      })
      const { isActive: _default, ...needed } = required
      const suspended = await send(store, 'clerk PUT /products/3', {
        body: { ...required, isActive: false },
        ifMatch: etagOf(answer)
      })
      expect(rowIn(suspended)).to.include({ isActive: false })
      const defaulted = await send(store, 'clerk PUT /products/3', { body: needed, ifMatch: etagOf(suspended) })
      expect(rowIn(defaulted)).to.include({ isActive: true })
      for (const left of Object.keys(needed)) {
        const body = Object.fromEntries(Object.entries(required).filter(([name]) => name !== left))
        const rejected = await changesNothing(store, () =>
          send(store, 'clerk PUT /products/3', { body, ifMatch: etagOf(defaulted) })
        )
        store.problem(rejected, { status: 400, code: 'body.invalid', says: left })
      }
    })

    it('of the same body advances the version all the same', async () => {
      const { displayName: _computed, ...item } = productItem(4)
      const first = await send(store, 'clerk PUT /products/4', { body: item, ifMatch: tag(4) })
      const second = await send(store, 'clerk PUT /products/4', { body: item, ifMatch: etagOf(first) })
      expect([first.status, second.status]).to.deep.equal([200, 200])
      const versions = [item['rowVersion'], rowIn(first)['rowVersion'], rowIn(second)['rowVersion']]
      expect(new Set(versions)).to.have.property('size', 3)
      expect({ ...rowIn(second), rowVersion: null }).to.deep.equal({ ...clerkProductItem(4), rowVersion: null })
      store.problem(await send(store, 'clerk PUT /products/4', { body: item, ifMatch: etagOf(first) }), {
        status: 412,
        code: 'conflict'
      })
      expect(await count(store, "ur_audit_entries WHERE row_id = '4' AND action = 'update'")).to.equal(2)
    })

    it('keeps what no request sets, hidden columns among it', async () => {
      const [customer] = CUSTOMERS
      if (customer === undefined) throw new Error('the fixture has customers')
      const answer = await send(store, 'clerk PUT /customers/3', {
        body: {
          name: 'Ben',
          email: 'ben@example.com',
          phone: '1',
          isSuspended: false,
          createdAt: '1999-01-01T00:00:00Z',
          riskNote: 'x'
        },
        ifMatch: tagOf(versionOf(rowOf(CUSTOMERS, 3)))
      })
      expect(answer.status, answer.text).to.equal(200)
      expect(rowIn(answer)).to.deep.include({ isSuspended: true, createdAt: '2025-05-05T05:05:05.005Z', phone: '1' })
      expect(answer.headers['x-ignored-parameters']?.toString().split(',')).to.have.members([
        'body.isSuspended',
        'body.createdAt',
        'body.riskNote'
      ])
      const ada = await send(store, 'clerk PUT /customers/1', {
        body: { name: 'Ada', email: 'c1@example.com' },
        ifMatch: tagOf(versionOf(customer))
      })
      expect(ada.status, ada.text).to.equal(200)
      const rows = await select(store, 'SELECT risk_note FROM customers WHERE id IN (1, 3) ORDER BY id')
      expect(rows).to.deep.equal([{ risk_note: 'secret-alpha' }, { risk_note: 'secret-gamma' }])
      expect(ada.text + answer.text).not.to.match(/risk/i)
      expect(await count(store, 'customer_addresses')).to.equal(2)
    })

    it('takes the id of the path in the body and no other', async () => {
      const body = { name: 'back\\slash', sku: 'BS\\1', categoryId: 4, price: '1.00', isActive: false }
      for (const id of [6, '5', null, true, 5.5, 'x']) {
        const rejected = await changesNothing(store, () =>
          send(store, 'clerk PUT /products/5', { body: { ...body, id }, ifMatch: tag(5) })
        )
        store.problem(rejected, { status: 400, code: 'id.mismatch', says: 'id' })
      }
      const answer = await send(store, 'clerk PUT /products/5', { body: { ...body, id: 5 }, ifMatch: tag(5) })
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.headers).not.to.have.any.keys('x-ignored-parameters')
      const two = await send(store, 'clerk PUT /products/5', { body: { ...body, id: 6, price: 'x' }, ifMatch: tag(5) })
      store.problem(two, {
        status: 400,
        code: 'id.mismatch',
        violations: [
          { code: 'id.mismatch', pointer: '/id' },
          { code: 'body.invalid', pointer: '/price' }
        ]
      })
    })

    it('of a row that is not there creates none', async () => {
      const body = { name: 'n', sku: 'NONE', categoryId: 1, price: '1.00', isActive: true }
      const rejected = await changesNothing(store, () =>
        send(store, 'clerk PUT /products/999', { body, ifMatch: tag(1), key: 'none' })
      )
      store.problem(rejected, { status: 404, code: 'not-found' })
      expect(rejected.headers).not.to.have.any.keys('etag', 'location')
    })

    it('ignores what it does not know and says so; strict rejects it', async () => {
      const body = {
        name: '=SUM(A1)',
        sku: 'FX-1',
        categoryId: 1,
        price: '1.00',
        isActive: true,
        rowVersion: 'x',
        nope: 1
      }
      const strict = await changesNothing(store, () =>
        send(store, 'clerk PUT /products/6?a=b', { body, ifMatch: tag(6), headers: { prefer: 'handling=strict' } })
      )
      store.problem(strict, {
        status: 400,
        code: 'parameter.unknown',
        violations: [
          { code: 'parameter.unknown', pointer: '/rowVersion' },
          { code: 'parameter.unknown', pointer: '/nope' },
          { code: 'parameter.unknown', parameter: 'a' }
        ]
      })
      const answer = await send(store, 'clerk PUT /products/6?a=b', { body, ifMatch: tag(6) })
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.headers['x-ignored-parameters']).to.equal('a,body.rowVersion,body.nope')
    })

    it('of a category makes no circle', async () => {
      const category = async (id: number): Promise<{ etag: string; body: object }> => {
        const answer = await store.call(`/categories/${id}`)
        const { name, slug } = rowIn(answer)
        return { etag: etagOf(answer), body: { name, slug } }
      }
      for (const [id, parentId] of [
        [1, 1],
        [1, 2],
        [1, 5],
        [2, 5]
      ] as const) {
        const { etag, body } = await category(id)
        const rejected = await changesNothing(store, () =>
          send(store, `clerk PUT /categories/${id}`, { body: { ...body, parentId }, ifMatch: etag })
        )
        store.problem(rejected, { status: 422, code: 'state.invalid' })
      }
      const { etag, body } = await category(5)
      const moved = await send(store, 'clerk PUT /categories/5', { body: { ...body, parentId: 4 }, ifMatch: etag })
      expect(moved.status, moved.text).to.equal(200)
      expect(rowIn(moved)).to.include({ parentId: 4, parentName: 'Éclairs & Co' })
      const top = await send(store, 'clerk PUT /categories/5', { body, ifMatch: etagOf(moved) })
      expect(rowIn(top)).to.include({ parentId: null, parentName: null })
    })
  },
  { also: ['unary'] }
)

describeApi(
  'DELETE',
  (store) => {
    it('answers 204 with nothing in it, and the row is gone with its children', async () => {
      const created = await send(store, 'clerk POST /customers', {
        body: {
          name: 'Gone',
          email: 'gone@example.com',
          addresses: [{ line1: 'l', city: 'c', postalCode: 'p', country: 'x' }]
        }
      })
      const { id } = rowIn(created)
      expect(await count(store, 'customer_addresses WHERE customer_id = ?', [Number(id)])).to.equal(1)
      const deleted = await send(store, `clerk DELETE /customers/${String(id)}`)
      expect(deleted.status, deleted.text).to.equal(204)
      expect(deleted.bytes).to.have.length(0)
      expect(deleted.headers).to.include({ 'cache-control': 'no-store', 'api-supported-versions': '1.0' })
      expect(deleted.headers).not.to.have.any.keys('content-type', 'etag', 'content-length', 'transfer-encoding')
      expect(await count(store, 'customers WHERE id = ?', [Number(id)])).to.equal(0)
      expect(await count(store, 'customer_addresses WHERE customer_id = ?', [Number(id)])).to.equal(0)
      const [entry] = await select(
        store,
        'SELECT resource, row_id, action FROM ur_audit_entries ORDER BY id DESC LIMIT 1'
      )
      expect(entry).to.deep.equal({ resource: 'customers', row_id: String(id), action: 'delete' })
      store.problem(await send(store, `clerk DELETE /customers/${String(id)}`), { status: 404, code: 'not-found' })
    })

    it('takes an order with its lines, and leaves another one', async () => {
      expect((await send(store, 'ben DELETE /orders/2')).status).to.equal(204)
      expect(await count(store, 'order_lines WHERE order_id = 2')).to.equal(0)
      expect(await count(store, 'orders')).to.equal(4)
      // A bypass caller deletes anyone's.
      expect((await send(store, 'admin DELETE /orders/5', { ifMatch: '*' })).status).to.equal(204)
    })

    it('of what others refer to is 409 where it is unguarded and 412 where it is guarded', async () => {
      for (const [line, ifMatch, status] of [
        ['clerk DELETE /categories/1', undefined, 409],
        ['clerk DELETE /categories/1', '*', 409],
        ['clerk DELETE /categories/3', undefined, 409],
        ['clerk DELETE /products/3', tag(3), 412],
        ['clerk DELETE /customers/3', undefined, 409]
      ] as const) {
        const rejected = await changesNothing(store, () => send(store, line, ifMatch === undefined ? {} : { ifMatch }))
        const { title, detail } = store.problem(rejected, { status, code: 'conflict' })
        expect([title, detail], `${line}, ${String(ifMatch)}`).to.deep.equal([
          'Conflict',
          'A data conflict occurred. Please retry or contact support.'
        ])
      }
    })

    it('ignores a body, and names query parameters that it ignores', async () => {
      const deleted = await send(store, 'clerk DELETE /products/12?x=1', { body: 'not JSON' })
      expect(deleted.status, deleted.text).to.equal(204)
      expect(deleted.headers['x-ignored-parameters']).to.equal('x')
      const strict = await changesNothing(store, () =>
        send(store, 'clerk DELETE /products/11?x=1', { headers: { prefer: 'handling=strict' } })
      )
      store.problem(strict, { status: 400, code: 'parameter.unknown', says: 'x' })
    })
  },
  { also: ['unary'] }
)
