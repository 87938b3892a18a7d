import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { send } from './send.js'
import { changesNothing, count, select } from './stored.js'

const product = (sku: string, more: object = {}): object => ({
  name: `Name of ${sku}`,
  sku,
  categoryId: 1,
  price: '1.50',
  ...more
})
const many = (length: number, prefix: string): object[] =>
  Array.from({ length }, (_, index) => product(`${prefix}-${index}`))
const rowsIn = (answer: Answer): Record<string, unknown>[] => JSON.parse(answer.text) as Record<string, unknown>[]

describeApi(
  'batch create',
  (store) => {
    it('creates 500 rows in one transaction and answers them in order, as reads show them', async () => {
      const body = many(500, 'B').map((one, index) => (index === 3 ? { ...one, description: 'ä,"\n' } : one))
      const created = await send(store, 'clerk POST /products/batch', { body })
      expect(created.status, created.text.slice(0, 500)).to.equal(201)
      expect(created.headers).to.include({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'api-supported-versions': '1.0'
      })
      expect(created.headers).to.not.have.any.keys('etag', 'location', 'idempotent-replayed', 'x-ignored-parameters')
      const rows = rowsIn(created)
      expect(rows.map(({ sku }) => sku)).to.deep.equal(Array.from({ length: 500 }, (_, index) => `B-${index}`))
      expect(new Set(rows.map(({ rowVersion }) => rowVersion))).to.have.property('size', 500)
      for (const index of [0, 3, 499]) {
        const read = await store.as('clerk', `/products/${String(rows[index]?.['id'])}`)
        expect(JSON.parse(read.text), String(index)).to.deep.equal(rows[index])
      }
      const stored = await select(store, "SELECT id, sku FROM products WHERE sku LIKE 'B-%' ORDER BY id")
      expect(stored.map(({ id, sku }) => [Number(id), sku])).to.deep.equal(rows.map(({ id, sku }) => [id, sku]))
      const entries = "ur_audit_entries WHERE resource = 'products' AND action = 'create' AND row_id = ?"
      for (const { id } of rows.slice(498)) expect(await count(store, entries, [String(id)])).to.equal(1)
    })

    it('creates rows with their children, each owned by the caller', async () => {
      const order = (quantity: number): object => ({
        lines: [
          { productId: 1, quantity },
          { productId: 2, quantity: 1 }
        ]
      })
      const created = await send(store, 'ada POST /orders/batch', { body: [order(1), order(2)] })
      expect(created.status, created.text).to.equal(201)
      const rows = rowsIn(created)
      expect(rows.map(({ customerId, status }) => [customerId, status])).to.deep.equal([
        [1, 'placed'],
        [1, 'placed']
      ])
      for (const [index, { id }] of rows.entries()) {
        const lines = await select(store, 'SELECT quantity FROM order_lines WHERE order_id = ? ORDER BY id', [
          Number(id)
        ])
        expect(lines.map(({ quantity }) => Number(quantity))).to.deep.equal([index + 1, 1])
      }
    })

    it('replays the first answer under a key, and refuses another body', async () => {
      const body = many(3, 'K')
      const first = await send(store, 'clerk POST /products/batch', { body, key: 'batch' })
      expect(first.status, first.text).to.equal(201)
      await changesNothing(store, async () => {
        const again = await send(store, 'clerk POST /products/batch', { body, key: 'batch' })
        expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([201, 'true'])
        expect(again.bytes).to.deep.equal(first.bytes)
        const other = await send(store, 'clerk POST /products/batch', { body: many(2, 'K'), key: 'batch' })
        store.problem(other, { status: 422, code: 'idempotency.key.reused' })
      })
      // The same key for one row is another key: its path is another.
      const single = await send(store, 'clerk POST /products', { body: product('K-one'), key: 'batch' })
      expect([single.status, single.headers['idempotent-replayed']]).to.deep.equal([201, undefined])
    })

    it('names what it ignored by the place of its row; strict handling refuses it', async () => {
      const body = [product('I-0'), product('I-1', { id: 7, colour: 'red' })]
      const created = await send(store, 'clerk POST /products/batch?x=1', { body })
      expect(created.status, created.text).to.equal(201)
      expect(String(created.headers['x-ignored-parameters']).split(',')).to.have.members([
        'x',
        'body.1%2Fid',
        'body.1%2Fcolour'
      ])
      const strict = await changesNothing(store, () =>
        send(store, 'clerk POST /products/batch', {
          body: [product('I-2'), product('I-3', { colour: 'red' })],
          headers: { prefer: 'handling=strict' }
        })
      )
      store.problem(strict, { status: 400, code: 'parameter.unknown', says: '1/colour' })
    })

    const bad = (at: number, more: object): object[] => [...many(at, 'X'), product('X-bad', more)]
    const REJECTED: readonly (readonly [
      what: string,
      body: object | string,
      status: number,
      code: string,
      pointers: unknown[]
    ])[] = [
      ['no array', product('X'), 400, 'body.invalid', ['']],
      ['an empty array', [], 400, 'body.invalid', ['']],
      ['more than 500 rows', many(501, 'X'), 400, 'body.invalid', ['']],
      ['a row that is no object', [product('X'), 7, null], 400, 'body.invalid', ['/1', '/2']],
      [
        'bad members of several rows',
        [product('X', { price: '-1' }), product('X-1'), product('X-2', { name: '', categoryId: 'one' })],
        400,
        'body.invalid',
        ['/0/price', '/2/name', '/2/categoryId']
      ],
      ['a sku that another row of the batch has', [...many(499, 'X'), product('X-0')], 409, 'conflict', []],
      ['a sku that is taken', bad(499, { sku: 'HM-001' }), 409, 'conflict', []],
      ['a category that does not exist', bad(9, { categoryId: 4711 }), 409, 'conflict', []]
    ]
    for (const [what, body, status, code, pointers] of REJECTED) {
      it(`writes nothing of a batch with ${what}`, async () => {
        const answer = await changesNothing(store, () =>
          send(store, 'clerk POST /products/batch', { body, key: `no-${code}` })
        )
        const { errors = [] } = store.problem(answer, { status, code })
        expect(errors.map(({ pointer }) => pointer)).to.deep.equal(pointers)
        if (code === 'conflict') {
          expect(JSON.parse(answer.text)).to.include({
            detail: 'A data conflict occurred. Please retry or contact support.'
          })
        }
      })
    }

    it('names as many bad rows of 500 as an answer may hold', async () => {
      const body = many(500, 'X').map((one) => ({ ...one, price: 'free' }))
      const answer = await changesNothing(store, () => send(store, 'clerk POST /products/batch', { body }))
      const { errors = [], detail } = store.problem(answer, { status: 400, code: 'body.invalid' })
      const pointers = errors.map(({ pointer }) => pointer)
      expect(pointers.length).to.be.greaterThan(10)
      expect(pointers).to.deep.equal(pointers.map((_, index) => `/${index}/price`))
      expect(detail).to.match(/ 499 more faults in errors\.$/)
    })

    it('refuses more than 2000 rows with their children, before it reads one of them', async () => {
      const lines = (count: number): object => ({
        lines: Array.from({ length: count }, () => ({ productId: 1, quantity: 0 }))
      })
      const orders = Array.from({ length: 39 }, () => lines(49))
      await changesNothing(store, async () => {
        const many = await send(store, 'ada POST /orders/batch', { body: [...orders, lines(50)] })
        const { detail } = store.problem(many, { status: 400, code: 'body.invalid' })
        expect(detail).to.include('must be at most 2000 together')
        // As many as there may be: their members are looked at.
        const read = await send(store, 'ada POST /orders/batch', { body: [...orders, lines(49)] })
        const { errors = [] } = store.problem(read, { status: 400, code: 'body.invalid' })
        expect(errors[0]?.pointer).to.equal('/0/lines/0/quantity')
      })
    })

    it('refuses a batch with a row of another owner, whole', async () => {
      const line = { lines: [{ productId: 1, quantity: 1 }] }
      for (const body of [
        [line, { ...line, customerId: 2 }],
        [{ ...line, customerId: 2 }, { lines: [] }]
      ]) {
        const answer = await changesNothing(store, () => send(store, 'ada POST /orders/batch', { body }))
        expect([400, 403], answer.text).to.include(answer.status)
      }
      const foreign = await changesNothing(store, () =>
        send(store, 'ada POST /orders/batch', { body: [line, { ...line, customerId: 2 }] })
      )
      store.problem(foreign, { status: 403, code: 'ownership.denied' })
      store.problem(await send(store, 'nobody POST /orders/batch', { body: [line] }), {
        status: 403,
        code: 'ownership.denied'
      })
    })

    it('names the row whose rule rejects it', async () => {
      const body = [{ lines: [{ productId: 1, quantity: 1 }] }, { lines: [{ productId: 4711, quantity: 1 }] }]
      const answer = await changesNothing(store, () => send(store, 'ada POST /orders/batch', { body }))
      store.problem(answer, { status: 400, code: 'body.invalid', says: 'Row 1, counted from 0: ' })
    })

    for (const [line, status, code] of [
      ['- POST /products/batch', 401, 'auth.required'],
      ['ada POST /products/batch', 403, 'capability.denied'],
      ['clerk POST /nope/batch', 404, 'route.not-found'],
      ['clerk POST /audit-entries/batch', 405, 'method.not-allowed'],
      ['clerk POST /products/1', 405, 'method.not-allowed'],
      ['ada POST /shopping-carts/batch?customerId=2', 403, 'ownership.denied']
    ] as const) {
      it(`answers ${line} with ${status}`, async () => {
        store.problem(await send(store, line, { body: [{}] }), { status, code })
      })
    }

    it('is a method of its path alone: a read by that id stays what it is', async () => {
      store.problem(await store.call('/products/batch'), { status: 400, code: 'id.invalid' })
      const options = await store.call('/products/batch', { method: 'OPTIONS' })
      expect(String(options.headers['allow']).split(', ')).to.include.members(['POST', 'GET', 'OPTIONS'])
      const row = await store.call('/products/1', { method: 'OPTIONS' })
      expect(String(row.headers['allow']).split(', ')).to.not.include('POST')
    })
  },
  { also: ['unary'] }
)
