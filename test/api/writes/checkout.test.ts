import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { describeApi, type ApiStore } from '../api-store.js'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'
import { json, type Answer } from '../http-call.js'
import { insertRows, TABLES } from '../../harness/insert-rows.js'
import { withTestDatabase } from '../../oracle/test-database.js'
import { Cart, coupon } from './carts.js'
import { gathered } from './hold.js'
import { changesNothing, count, select } from './stored.js'
import { etagOf, rowIn, send, sendTo } from './send.js'

type Row = Readonly<Record<string, unknown>>

/** The order that was created last, as Ada reads it. */
async function lastOrder(store: ApiStore): Promise<Row> {
  const [last] = await select(store, 'SELECT MAX(id) AS id FROM orders')
  return rowIn(await store.as('ada', `/orders/${String(last?.['id'])}?includeChildren=true`))
}

/** A cart of Ada's with a hammer, a large one and three O'Briens: 19.90 + 2 × 25.50 + 3 × 19.99. */
const ITEMS = [
  { productId: 1, quantity: 1 },
  { productId: 1, variantId: 2, quantity: 2 },
  { productId: 11, quantity: 3 }
]
const TOTAL = '130.87'

describeApi(
  'checkout',
  (store) => {
    it('makes an order at the prices of the moment, with an audit entry of each', async () => {
      const cart = await Cart.of(store, { items: ITEMS })
      const entries = await count(store, 'ur_audit_entries')
      const orders = await count(store, 'orders')
      const earliest = Date.now()
      const { updatedAt } = await cart.done('checkout')
      expect(await count(store, 'orders')).to.equal(orders + 1)
      const { id, number, placedAt, lines, rowVersion: _version, ...rest } = await lastOrder(store)
      expect(rest).to.deep.equal({
        customerId: 1,
        status: 'placed',
        total: TOTAL,
        paidAt: null,
        deliveredAt: null,
        trackingCode: null
      })
      expect(number).to.match(/^O-[0-9A-Z]{12}$/)
      expect(placedAt).to.equal(updatedAt)
      expect(Date.parse(String(placedAt))).to.be.within(earliest, Date.now())
      expect((lines as Row[]).map(({ id: _id, rowVersion: _of, ...line }) => line)).to.deep.equal([
        { productId: 1, variantId: null, quantity: 1, unitPrice: '19.90' },
        { productId: 1, variantId: 2, quantity: 2, unitPrice: '25.50' },
        { productId: 11, variantId: null, quantity: 3, unitPrice: '19.99' }
      ])
      expect(await count(store, 'ur_audit_entries')).to.equal(entries + 3)
      const written = await select(
        store,
        'SELECT resource, row_id, action, at, subject FROM ur_audit_entries ORDER BY id DESC LIMIT 3'
      )
      const [of, ...others] = written.map(({ at, subject }) => ({ at, subject }))
      for (const other of others) expect(of).to.deep.equal(other)
      expect(written.map(({ resource, row_id: row, action }) => ({ resource, row, action }))).to.have.deep.members([
        { resource: 'orders', row: String(id), action: 'create' },
        // The stock of the variant that was bought.
        { resource: 'products', row: '1', action: 'update' },
        { resource: 'shopping-carts', row: String(cart.id), action: 'checkout' }
      ])
    })

    it('takes the percent of a coupon off the total, rounded down to the cent', async () => {
      await coupon(store, { code: 'THIRD', percent: 33 })
      await coupon(store, { code: 'ALL', percent: 100 })
      // 130.87 × 0.67 is 87.6829.
      for (const [couponCode, total] of [
        ['third', '87.68'],
        ['ALL', '0.00'],
        [null, TOTAL]
      ]) {
        await (await Cart.of(store, { items: ITEMS, couponCode })).done('checkout')
        expect(await lastOrder(store), `${String(couponCode)}, ${String(total)}`).to.include({ total })
      }
    })

    it('rejects a cart without items, and a total that no order holds', async () => {
      const empty = await Cart.of(store)
      const rich = await Cart.of(store, { items: [{ productId: 5, quantity: 10_000 }] })
      for (const [cart, says] of [
        [empty, 'empty'],
        [rich, '999999999900.00']
      ] as const) {
        const rejected = await changesNothing(store, () => cart.act('checkout'))
        store.problem(rejected, { status: 422, code: 'state.invalid', says })
      }
      await empty.done('add-item', { productId: 1, quantity: 1 })
      await empty.done('checkout')
    })

    it('rejects a coupon that has ended since it was applied, until the cart is rid of it', async () => {
      await coupon(store, { code: 'ENDS' })
      await coupon(store, { code: 'GOES' })
      for (const [code, says, line] of [
        ['ENDS', 'not active', 'PUT /coupons/%/deactivate'],
        ['GOES', 'no coupon', 'DELETE /coupons/%']
      ] as const) {
        const cart = await Cart.of(store, { items: ITEMS, couponCode: code })
        const [found] = await select(store, 'SELECT id FROM coupons WHERE code = ?', [code])
        const { rowVersion } = rowIn(await store.as('clerk', `/coupons/${String(found?.['id'])}`))
        const ended = await send(store, `clerk ${line.replace('%', String(found?.['id']))}`, {
          ifMatch: `W/"${String(rowVersion)}"`
        })
        expect(ended.status, ended.text).to.be.within(200, 204)
        const rejected = await changesNothing(store, () => cart.act('checkout'))
        store.problem(rejected, { status: 422, code: 'state.invalid', says })
        await cart.done('clear')
        await cart.done('add-item', { productId: 11, quantity: 1 })
        await cart.done('checkout')
        expect(await lastOrder(store), `${code}, ${says}`).to.include({ total: '19.99' })
      }
    })

    it('is for the owner and the bypass role, and the order is the owner’s', async () => {
      const cart = await Cart.of(store, { items: ITEMS })
      const by = (account: string): Promise<Answer> =>
        send(store, `${account} PUT ${cart.path}/checkout`, { ifMatch: cart.etag })
      for (const [account, code, expected] of [
        ['ben', 'not-found', 404],
        ['nobody', 'ownership.denied', 403],
        ['clerk', 'ownership.denied', 403]
      ] as const) {
        store.problem(await changesNothing(store, () => by(account)), { status: expected, code })
      }
      expect((await by('admin')).status).to.equal(200)
      expect(await lastOrder(store)).to.include({ customerId: 1 })
    })

    it('does both or neither: without the order the cart stays open', async () => {
      const cart = await Cart.of(store, { items: ITEMS })
      for (const table of ['orders', 'order_lines']) {
        await withTestDatabase(store.databaseUrl, (database) =>
          database.run(
            database.kind === 'sqlite'
              ? `CREATE TRIGGER refuse BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'refused'); END`
              : `CREATE TRIGGER refuse BEFORE INSERT ON ${table} FOR EACH ROW SIGNAL SQLSTATE '45000'`
          )
        )
        const failed = await changesNothing(store, () => cart.act('checkout'))
        store.problem(failed, { status: 422, code: 'state.invalid' })
        await select(store, 'DROP TRIGGER refuse')
      }
      await cart.done('checkout')
    })
  },
  { on: 'mysql' }
)

describeApi(
  'checkout of a cart that is checked out',
  (store) => {
    let cart: Cart
    let number: unknown
    let rpc: GrpcCaller
    before(async () => {
      rpc = new GrpcCaller(store.stack.dataAddress)
      cart = await Cart.of(store, { items: ITEMS })
      await cart.done('checkout')
      number = (await lastOrder(store))['number']
    })
    after(() => rpc.close())

    it('is a conflict in the action’s own words, with the status of a failed precondition', async () => {
      const answer = await changesNothing(store, () => cart.act('checkout'))
      expect(answer.status).to.equal(412)
      expect(answer.headers['content-type']).to.match(/^application\/problem\+json/)
      expect(json(answer)).to.deep.equal({
        type: `${store.url}/problems/conflict`,
        title: 'Cart checked out',
        status: 412,
        detail: `The cart is order ${String(number)} already.`,
        instance: `${cart.path}/checkout`,
        code: 'conflict',
        orderNumber: number,
        requestId: answer.headers['x-request-id']
      })
      expect(answer.headers).not.to.have.any.keys('etag', 'location', 'retry-after')
    })

    it('has the status and reason of every conflict of a guarded call over gRPC, and the words besides', async () => {
      const version = (etag: string): object => ({
        kind: 'PRECONDITION_KIND_TAGS',
        versions: [Buffer.from(etag.slice('W/"'.length, -1), 'base64')]
      })
      const token = await store.stack.token('ada@example.com')
      const request = { resource: 'shopping-carts', id: String(cart.id), action: 'checkout' }
      const call = (etag: string): Promise<object> =>
        rpc.unary('Act', { ...request, precondition: version(etag) }, { token })
      const built = await changesNothing(store, () => call(cart.etag))
      const stale = await call('W/"AAAAAAAAAAA="')
      if (!isFailure(built) || !isFailure(stale)) throw new Error('Neither may pass')
      for (const [at, failure] of [built, stale].entries()) {
        expect(failure.status, `failure ${at}`).to.equal(status.FAILED_PRECONDITION)
        expect(failure.details.reason, `failure ${at}`).to.equal('conflict')
      }
      expect(built.message).to.equal(`The cart is order ${String(number)} already.`)
      expect(built.details.metadata).to.deep.equal({
        guarded: 'true',
        conflict: 'unspecified',
        title: 'Cart checked out',
        members: JSON.stringify({ orderNumber: number })
      })
      expect(stale.details.metadata).to.deep.equal({ guarded: 'true', conflict: 'stale' })
    })

    it('tells those who know an older version, and those whose cart it is not, nothing of the order', async () => {
      const stale = await send(store, `ada PUT ${cart.path}/checkout`, { ifMatch: 'W/"AAAAAAAAAAA="' })
      store.problem(stale, { status: 412, code: 'conflict', says: 'A data conflict occurred.' })
      const foreign = await send(store, `ben PUT ${cart.path}/checkout`, { ifMatch: cart.etag })
      store.problem(foreign, { status: 404, code: 'not-found' })
    })
  },
  { on: 'mysql' }
)

describeApi(
  'an order, or a cart that becomes one,',
  (store) => {
    it('takes the stock of a hundred variants, and not of one more', async () => {
      const ids = Array.from({ length: 101 }, (_, index) => 5000 + index)
      const variants = ids.map((id) => {
        return { id, productId: 1, name: `V${id}`, sku: `V-${id}`, price: '1.00', stock: 10 }
      })
      await withTestDatabase(store.databaseUrl, (database) => insertRows(database, TABLES.variants, variants))
      const lines = ids.map((variantId) => ({ productId: 1, variantId, quantity: 1 }))
      const detail = 'An order takes the stock of at most 100 variants, and not of 101.'
      const rejected = await send(store, 'ada POST /orders', { body: { lines } })
      store.problem(rejected, { status: 400, code: 'body.invalid', says: detail })
      // Many lines of one variant are one row that others wait for.
      const many = [...lines.slice(1), ...lines.slice(1)]
      expect((await send(store, 'ada POST /orders', { body: { lines: many } })).status).to.equal(201)
      const cart = await Cart.of(store, { items: lines })
      store.problem(await cart.act('checkout'), { status: 422, code: 'state.invalid', says: detail })
      await cart.done('remove-item', { itemId: (await cart.items())[0]?.id })
      await cart.done('checkout')
    })
  },
  { on: 'mysql' }
)

describeApi('checkouts of one cart', (store) => {
  it('at the same moment make one order', async () => {
    const cart = await Cart.of(store, { items: ITEMS })
    const orders = await count(store, 'orders')
    const token = await store.stack.token('ada@example.com')
    const target = `${cart.path}/checkout`
    const answers = await gathered(store, `SELECT id FROM shopping_carts WHERE id = ${cart.id} FOR UPDATE`, () =>
      Promise.all(
        Array.from({ length: 8 }, () =>
          sendTo(store.url, { method: 'PUT', target, token }, { body: {}, ifMatch: cart.etag })
        )
      )
    )
    expect(answers.map((answer) => answer.status)).to.have.members([200, ...Array<number>(7).fill(412)])
    expect(await count(store, 'orders')).to.equal(orders + 1)
    expect(
      await count(store, 'ur_audit_entries WHERE action = ? AND row_id = ?', ['checkout', String(cart.id)])
    ).to.equal(1)
  })

  it('with one key make one order, and get one answer', async () => {
    const cart = await Cart.of(store, { items: ITEMS })
    const orders = await count(store, 'orders')
    const checkout = (ifMatch: string, key = 'pay'): Promise<Answer> =>
      send(store, `ada PUT ${cart.path}/checkout`, { ifMatch, key })
    const first = await checkout(cart.etag)
    expect(first.status, first.text).to.equal(200)
    // A replay looks at no version, but has to name one.
    for (const ifMatch of [cart.etag, etagOf(first), 'W/"AAAAAAAAAAA="']) {
      const again = await changesNothing(store, () => checkout(ifMatch))
      expect(again.status, ifMatch).to.equal(200)
      expect(again.bytes, ifMatch).to.deep.equal(first.bytes)
      expect(again.headers, ifMatch).to.include({ 'idempotent-replayed': 'true', etag: etagOf(first) })
    }
    store.problem(await send(store, `ada PUT ${cart.path}/checkout`, { key: 'pay' }), {
      status: 428,
      code: 'precondition.required'
    })
    // The rejection is not kept under the other key.
    for (let time = 0; time < 2; time++) {
      const rejected = await changesNothing(store, () => checkout(etagOf(first), 'again'))
      expect(rejected.status, `time ${time}`).to.equal(412)
      expect(json(rejected), `time ${time}`).to.have.property('orderNumber')
      expect(rejected.headers, `time ${time}`).not.to.have.any.keys('idempotent-replayed')
    }
    expect(await count(store, 'orders')).to.equal(orders + 1)
  })
})
