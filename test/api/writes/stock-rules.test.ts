import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { created, did, linesOf, rejected } from './back-office.js'
import { rowIn, send } from './send.js'
import { select } from './stored.js'

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describeApi(
  'rules of purchase orders, warehouses and stock',
  (store) => {
    describe('purchase orders', () => {
      const make = async () => {
        const supplier = rowIn(
          await created(store, { account: 'clerk', resource: 'suppliers', body: { name: 'Å & Co', country: 'SE' } })
        )
        const lines = [
          { productId: 1, quantity: 3 },
          { productId: 2, quantity: 1, receivedQuantity: 1 }
        ]
        const answer = await created(store, {
          account: 'clerk',
          resource: 'purchase-orders',
          body: { supplierId: supplier['id'], lines }
        })
        expect(answer.headers['x-ignored-parameters']).to.equal('body.lines%2F1%2FreceivedQuantity')
        const row = rowIn(answer)
        expect(row).to.deep.equal({
          id: row['id'],
          supplierId: supplier['id'],
          status: 'draft',
          expectedAt: null,
          requestedBy: 'clerk@example.com',
          rowVersion: row['rowVersion']
        })
        const path = `/purchase-orders/${String(row['id'])}`
        const [first, second] = await linesOf(store, path)
        expect([first, second].map((line) => line?.['receivedQuantity'])).to.deep.equal([0, 0])
        return { actor: { account: 'clerk', path }, supplier: supplier['id'], lines: [first?.['id'], second?.['id']] }
      }

      it('are received line by line, and as a whole with the last of them', async () => {
        const { actor, lines } = await make()
        const receive = (lineId: unknown, quantity: unknown) => ({ name: 'receive-line', body: { lineId, quantity } })
        await did(store, actor, { name: 'submit' })
        expect(await did(store, actor, receive(lines[0], 2))).to.include({ status: 'submitted' })
        const more = store.problem(await rejected(store, actor, receive(lines[0], 2)), {
          status: 422,
          code: 'state.invalid'
        })
        expect(more.detail).to.equal('The line waits for 1; 2 is more than that.')
        expect(await did(store, actor, receive(lines[1], 1))).to.include({ status: 'submitted' })
        const arrived = store.problem(await rejected(store, actor, { name: 'cancel' }), {
          status: 422,
          code: 'state.invalid'
        })
        expect(arrived.detail).to.equal('Some of the order has arrived; cancel needs it to be without receipts.')
        expect(await did(store, actor, receive(lines[0], 1))).to.include({ status: 'received' })
        const received = (await linesOf(store, actor.path)).map((line) => line['receivedQuantity'])
        expect(received).to.deep.equal([3, 1])
      })

      it('know their own lines alone', async () => {
        const [one, other] = [await make(), await make()]
        await did(store, one.actor, { name: 'submit' })
        for (const lineId of [other.lines[0], 999_999]) {
          const answer = await rejected(store, one.actor, { name: 'receive-line', body: { lineId, quantity: 1 } })
          store.problem(answer, {
            status: 400,
            code: 'body.invalid',
            says: 'lineId must be a line of the purchase order.'
          })
        }
        for (const quantity of [0, -1, 10_001, '1', null]) {
          const body = { lineId: one.lines[0], quantity }
          const answer = await rejected(store, one.actor, { name: 'receive-line', body })
          store.problem(answer, { status: 400, code: 'body.invalid', says: 'quantity' })
        }
      })

      it('keep why they were cancelled, and hold their supplier', async () => {
        const { actor, supplier } = await make()
        await did(store, actor, { name: 'cancel', body: { reason: 'Zu spät' } })
        const [kept] = await select(store, 'SELECT cancel_reason FROM purchase_orders ORDER BY id DESC LIMIT 1')
        expect(kept?.['cancel_reason']).to.equal('Zu spät')
        const path = `/suppliers/${String(supplier)}`
        store.problem(await send(store, `clerk DELETE ${path}`), { status: 409, code: 'conflict' })
        expect((await send(store, `clerk DELETE ${actor.path}`)).status).to.equal(204)
        expect((await send(store, `clerk DELETE ${path}`)).status).to.equal(204)
      })
    })

    describe('warehouses and their stock', () => {
      const MAX_INT = 2_147_483_647
      const make = async (onHand: number) => {
        const body = { name: 'Süd', city: 'Köln' }
        const warehouse = rowIn(await created(store, { account: 'clerk', resource: 'warehouses', body }))
        expect(warehouse['id']).to.match(GUID)
        const item = await created(store, {
          account: 'clerk',
          resource: 'stock-items',
          body: { warehouseId: String(warehouse['id']).toUpperCase(), productId: 1, onHand, reserved: 5 }
        })
        expect(item.headers['x-ignored-parameters']).to.equal('body.reserved')
        const row = rowIn(item)
        expect(row).to.deep.equal({
          id: row['id'],
          warehouseId: warehouse['id'],
          productId: 1,
          onHand,
          reserved: 0,
          rowVersion: row['rowVersion']
        })
        expect(row['id']).to.match(/^\d+$/).and.be.a('string')
        const path = `/stock-items/${String(row['id'])}`
        expect(item.headers['location']).to.equal(`${store.url}${path}`)
        return { actor: { account: 'clerk', path }, warehouse: `/warehouses/${String(warehouse['id'])}` }
      }

      it('keep 0 ≤ reserved ≤ onHand', async () => {
        const { actor } = await make(10)
        const act = (name: string, body: object) => did(store, actor, { name, body })
        const no = async (name: string, body: object, detail: string) => {
          const answer = await rejected(store, actor, { name, body })
          expect(store.problem(answer, { status: 422, code: 'state.invalid' }).detail).to.equal(detail)
        }
        await no('release', { quantity: 1 }, '0 are reserved; 1 is more than that.')
        await no('reserve', { quantity: 11 }, '10 are free to reserve; 11 is more than that.')
        expect(await act('reserve', { quantity: 4 })).to.include({ onHand: 10, reserved: 4 })
        await no('reserve', { quantity: 7 }, '6 are free to reserve; 7 is more than that.')
        await no('adjust', { delta: -7 }, '10 are on hand and 4 reserved; it cannot lose 7.')
        expect(await act('adjust', { delta: -6 })).to.include({ onHand: 4, reserved: 4 })
        expect(await act('release', { quantity: 3 })).to.include({ onHand: 4, reserved: 1 })
        await no('release', { quantity: 2 }, '1 are reserved; 2 is more than that.')
        expect(await act('adjust', { delta: 0 })).to.include({ onHand: 4, reserved: 1 })
        expect(await act('adjust', { delta: MAX_INT - 4 })).to.include({ onHand: MAX_INT, reserved: 1 })
        const beyond = await rejected(store, actor, { name: 'adjust', body: { delta: 1 } })
        store.problem(beyond, {
          status: 400,
          code: 'body.invalid',
          says: `delta must leave at most ${MAX_INT} on hand.`
        })
        for (const name of ['reserve', 'release']) {
          for (const quantity of [0, -1, 10_001, null, undefined]) {
            const answer = await rejected(store, actor, { name, body: { quantity } })
            store.problem(answer, { status: 400, code: 'body.invalid', says: 'quantity' })
          }
        }
      })

      it('are not deleted while they hold any', async () => {
        const { actor, warehouse } = await make(0)
        store.problem(await send(store, `clerk DELETE ${warehouse}`), { status: 409, code: 'conflict' })
        expect((await send(store, `clerk DELETE ${actor.path}`)).status).to.equal(204)
        expect(
          (await send(store, `clerk DELETE ${warehouse.toUpperCase().replace('/WAREHOUSES', '/warehouses')}`)).status
        ).to.equal(204)
      })

      it('reject stock of what there is not, and less than none', async () => {
        const { warehouse } = await make(1)
        const warehouseId = warehouse.split('/').at(-1)
        const item = { warehouseId, productId: 1, onHand: 1 }
        for (const change of [{ productId: 999 }, { warehouseId: '00000000-0000-4000-8000-000000000000' }]) {
          const answer = await send(store, 'clerk POST /stock-items', { body: { ...item, ...change } })
          store.problem(answer, { status: 409, code: 'conflict' })
        }
        const answer = await send(store, 'clerk POST /stock-items', { body: { warehouseId: 'x', onHand: -1 } })
        store.problem(answer, {
          status: 400,
          code: 'body.invalid',
          violations: ['/warehouseId', '/productId', '/onHand'].map((pointer) => ({ code: 'body.invalid', pointer }))
        })
      })

      it('are found by the product that they hold', async () => {
        const { actor } = await make(1)
        const lookup = await store.as('clerk', '/stock-items/lookup?search=1')
        const { items } = JSON.parse(lookup.text) as { items: { id: string; name: string }[] }
        expect(items).to.deep.include({ id: actor.path.split('/').at(-1), name: '1' })
        store.problem(await store.as('clerk', '/stock-items/lookup?search=one'), {
          status: 400,
          code: 'filter.value.invalid'
        })
      })
    })
  },
  { on: 'mysql' }
)
