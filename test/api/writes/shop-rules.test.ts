import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { rowIn, send, tagOf } from './send.js'
import { changesNothing, count, select } from './stored.js'

type Row = Readonly<Record<string, unknown>>

const STARTS = '2037-05-01T10:00:00.000Z'
const ENDS = '2037-05-01T12:00:00.000Z'
const LINES = [{ productId: 1, quantity: 1 }]

describeApi(
  'what the shop does',
  (store) => {
    const made = async (line: string, body: object): Promise<Row> => {
      const answer = await send(store, line, { body })
      expect(answer.status, answer.text).to.equal(201)
      return rowIn(answer)
    }
    /** An action or a PUT with the version that the row has now. */
    const put = async (line: string, body: object = {}): Promise<Answer> => {
      const [, , path = ''] = line.split(' ')
      const [, resource = '', id = ''] = path.split('/')
      const current = rowIn(await store.as('admin', `/${resource}/${id}`))
      return send(store, line, { body, ifMatch: tagOf(current['rowVersion']) })
    }
    const done = async (line: string, body?: object): Promise<Row> => {
      const answer = await put(line, body)
      expect(answer.status, answer.text).to.equal(200)
      return rowIn(answer)
    }
    const rejected = async (write: () => Promise<Answer>, detail: string): Promise<void> => {
      const answer = await changesNothing(store, write)
      expect(store.problem(answer, { status: 422, code: 'state.invalid' }).detail).to.equal(detail)
    }

    describe('with a customer who is suspended', () => {
      const no = (what: string): string => `The customer is suspended; ${what} needs one who is not.`

      it('sells nothing, and takes nothing away', async () => {
        const cart = await made('ben POST /shopping-carts', { currency: 'EUR', items: LINES })
        const { id: subscription } = await made('ben POST /subscriptions', { plan: 'Basic', renewsAt: STARTS })
        await done(`ben PUT /subscriptions/${String(subscription)}/pause`)
        const eventId = await scheduled(await venue(5))
        const order = await made('ben POST /orders', { lines: LINES })
        await done('clerk PUT /customers/2/suspend')
        await rejected(() => send(store, 'ben POST /orders', { body: { lines: LINES } }), no('an order'))
        const named = { lines: LINES, customerId: 2 }
        await rejected(() => send(store, 'admin POST /orders', { body: named }), no('an order'))
        await rejected(() => put(`ben PUT /shopping-carts/${String(cart['id'])}/checkout`), no('checkout'))
        const ticket = { eventId, price: '1.00' }
        await rejected(() => send(store, 'ben POST /tickets', { body: ticket }), no('a ticket'))
        const plan = { plan: 'Basic', renewsAt: STARTS }
        await rejected(() => send(store, 'ben POST /subscriptions', { body: plan }), no('a subscription'))
        await rejected(() => put(`ben PUT /subscriptions/${String(subscription)}/resume`), no('resume'))
        // What is bought already is paid, delivered and returned.
        const path = `/orders/${String(order['id'])}`
        await done(`ben PUT ${path}/pay`)
        await done(`admin PUT ${path}/ship`, { trackingCode: 'T' })
        await done(`admin PUT ${path}/deliver`)
        await made('ben POST /returns', { orderId: order['id'], reason: 'Broken', lines: LINES })
        await done('clerk PUT /customers/2/reinstate')
        await made('ben POST /orders', { lines: LINES })
        await done(`ben PUT /shopping-carts/${String(cart['id'])}/checkout`)
      })

      it('tells who gives a ticket away neither that nor whether there is one', async () => {
        const { id } = await made('ada POST /tickets', { eventId: await scheduled(await venue(5)), price: '1.00' })
        for (const customerId of [3, 999]) {
          const detail = `Customer ${customerId} can take no tickets; transfer needs a customer who can.`
          await rejected(() => put(`ada PUT /tickets/${String(id)}/transfer`, { customerId }), detail)
        }
        expect(await done(`ada PUT /tickets/${String(id)}/transfer`, { customerId: 2 })).to.deep.equal({ id })
      })
    })

    it('sells active products only', async () => {
      const category = { categoryId: 1, price: '1.00' }
      const { id } = await made('clerk POST /products', { ...category, name: 'Off', sku: 'OFF-1', isActive: false })
      const no = `Product ${String(id)} is not active and cannot be bought.`
      const lines = [...LINES, { productId: id, quantity: 1 }]
      await rejected(() => send(store, 'ada POST /orders', { body: { lines } }), no)
      await rejected(() => send(store, 'ada POST /shopping-carts', { body: { currency: 'EUR', items: lines } }), no)
      const { id: cart } = await made('ada POST /shopping-carts', { currency: 'EUR' })
      const path = `/shopping-carts/${String(cart)}`
      await rejected(() => put(`ada PUT ${path}/add-item`, { productId: id, quantity: 1 }), no)
      await done(`clerk PUT /products/${String(id)}/publish`)
      await done(`ada PUT ${path}/add-item`, { productId: id, quantity: 1 })
      await done(`clerk PUT /products/${String(id)}/unpublish`)
      await rejected(() => put(`ada PUT ${path}/checkout`), no)
      await done(`clerk PUT /products/${String(id)}/publish`)
      await done(`ada PUT ${path}/checkout`)
    })

    const venue = async (capacity: number): Promise<unknown> =>
      (await made('clerk POST /venues', { name: 'Hall', city: 'Lyon', capacity }))['id']
    const draft = async (venueId: unknown): Promise<unknown> =>
      (await made('clerk POST /events', { title: 'Tea', startsAt: STARTS, endsAt: ENDS, venueId }))['id']
    const scheduled = async (venueId: unknown): Promise<unknown> => {
      const eventId = await draft(venueId)
      await done(`clerk PUT /events/${String(eventId)}/schedule`, { startsAt: STARTS, endsAt: ENDS })
      return eventId
    }
    const ticket = (account: string, body: object): Promise<Answer> =>
      send(store, `${account} POST /tickets`, { body: { price: '1.00', ...body } })
    const sold = (eventId: unknown): Promise<number> => count(store, 'tickets WHERE event_id = ?', [Number(eventId)])

    describe('with stock', () => {
      let numbered = 0
      /** A product with variants of so many pieces. */
      const stocked = async (...stocks: number[]): Promise<{ productId: number; variants: number[] }> => {
        const sku = `STOCK-${(numbered += 1)}`
        const { id } = await made('clerk POST /products', {
          name: 'Shirt',
          sku,
          categoryId: 1,
          price: '2.00',
          isActive: true
        })
        for (const [n, stock] of stocks.entries()) {
          await done(`clerk PUT /products/${String(id)}/add-variant`, {
            name: `S${n}`,
            sku: `${sku}-${n}`,
            price: '2',
            stock
          })
        }
        const rows = await select(store, 'SELECT id FROM product_variants WHERE product_id = ? ORDER BY id', [
          Number(id)
        ])
        return { productId: Number(id), variants: rows.map((row) => Number(row['id'])) }
      }
      const stocks = async (productId: number): Promise<number[]> => {
        const rows = await select(store, 'SELECT stock FROM product_variants WHERE product_id = ? ORDER BY id', [
          productId
        ])
        return rows.map(({ stock }) => Number(stock))
      }
      const left = (stock: number, variant: number | undefined, wanted: number, name = 'S0'): string =>
        `There are ${stock} left of variant ${String(variant)}, ${name}; the order takes ${wanted}.`

      it('takes what is ordered out of the stock of its variants', async () => {
        const { productId, variants } = await stocked(5, 7)
        const other = await stocked(1)
        const [small, large] = variants
        const before = rowIn(await store.call(`/products/${productId}?includeChildren=true`))
        const lines = [
          { productId, variantId: small, quantity: 2 },
          { productId: other.productId, variantId: other.variants[0], quantity: 1 },
          { productId, quantity: 3 },
          { productId, variantId: large, quantity: 7 },
          { productId, variantId: small, quantity: 1 }
        ]
        await made('ada POST /orders', { lines })
        expect(await stocks(productId)).to.deep.equal([2, 0])
        expect(await stocks(other.productId)).to.deep.equal([0])
        // The product is written with its variants: both have another version, and the write is in the trail.
        const after = rowIn(await store.call(`/products/${productId}?includeChildren=true`))
        expect(after['rowVersion']).to.not.equal(before['rowVersion'])
        const firstVersion = (row: Row): unknown => (row['variants'] as Row[])[0]?.['rowVersion'] // domain.md
        expect(firstVersion(after)).to.not.equal(firstVersion(before))
        const entries = "ur_audit_entries WHERE resource = 'products' AND action = 'update' AND row_id = ?"
        expect(await count(store, entries, [String(productId)])).to.equal(1)
      })

      it('sells no more than there is, at once and from a cart', async () => {
        const { productId, variants } = await stocked(3)
        const variantId = variants[0]
        const lines = [
          { productId, variantId, quantity: 2 },
          { productId, variantId, quantity: 2 }
        ]
        await rejected(() => send(store, 'ada POST /orders', { body: { lines } }), left(3, variantId, 4))
        const named = { customerId: 1, lines }
        await rejected(() => send(store, 'admin POST /orders', { body: named }), left(3, variantId, 4))
        // A cart holds what there is not. It takes nothing out before it is checked out.
        const { id } = await made('ada POST /shopping-carts', { currency: 'EUR', items: lines })
        const path = `/shopping-carts/${String(id)}`
        await rejected(() => put(`ada PUT ${path}/checkout`), left(3, variantId, 4))
        const { items: [item] = [] } = rowIn(await store.as('ada', `${path}?includeChildren=true`)) as { items?: Row[] } // domain.md
        await done(`ada PUT ${path}/change-item-quantity`, { itemId: item?.['id'], quantity: 3 })
        expect(await stocks(productId)).to.deep.equal([3])
        await done(`ada PUT ${path}/checkout`)
        expect(await stocks(productId)).to.deep.equal([0])
        const one = { lines: [{ productId, variantId, quantity: 1 }] }
        await rejected(() => send(store, 'ada POST /orders', { body: one }), left(0, variantId, 1))
        // A product without a variant is sold without limit.
        await made('ada POST /orders', { lines: [{ productId, quantity: 10_000 }] })
      })

      it('takes it once for a request that is repeated, and all or nothing for a batch', async () => {
        const { productId, variants } = await stocked(5)
        const order = (quantity: number): object => ({ lines: [{ productId, variantId: variants[0], quantity }] })
        for (const _ of [1, 2]) {
          expect(
            (await send(store, 'ada POST /orders', { body: order(1), key: `stock-${productId}` })).status
          ).to.equal(201)
        }
        expect(await stocks(productId)).to.deep.equal([4])
        const none = await changesNothing(store, () =>
          send(store, 'ada POST /orders/batch', { body: [order(3), order(2)] })
        )
        store.problem(none, { status: 422, code: 'state.invalid', says: left(1, variants[0], 2) })
        expect((await send(store, 'ada POST /orders/batch', { body: [order(3), order(1)] })).status).to.equal(201)
        expect(await stocks(productId)).to.deep.equal([0])
      })

      it('puts back what was called off or deleted, once', async () => {
        const { productId, variants } = await stocked(9)
        const lines = [{ productId, variantId: variants[0], quantity: 4 }]
        const ordered = async (): Promise<string> =>
          `/orders/${String((await made('ada POST /orders', { lines }))['id'])}`
        const one = await ordered()
        const two = await ordered()
        expect(await stocks(productId)).to.deep.equal([1])
        await done(`ada PUT ${one}/pay`)
        await done(`ada PUT ${one}/cancel`)
        expect(await stocks(productId)).to.deep.equal([5])
        expect((await send(store, `ada DELETE ${one}`)).status).to.equal(204)
        expect(await stocks(productId)).to.deep.equal([5])
        const stale = await changesNothing(store, () => send(store, `ada DELETE ${two}`, { ifMatch: '"AAAAAAAAAAA="' }))
        store.problem(stale, { status: 412, code: 'conflict' })
        expect((await send(store, `ada DELETE ${two}`)).status).to.equal(204)
        expect(await stocks(productId)).to.deep.equal([9])
        store.problem(await send(store, `ada DELETE ${two}`), { status: 404, code: 'not-found' })
        expect(await stocks(productId)).to.deep.equal([9])
      })

      it('puts back what comes back, when it arrives', async () => {
        const { productId, variants } = await stocked(5)
        const variantId = variants[0]
        const { id: orderId } = await made('ada POST /orders', { lines: [{ productId, variantId, quantity: 5 }] })
        await done(`ada PUT /orders/${String(orderId)}/pay`)
        await done(`admin PUT /orders/${String(orderId)}/ship`, { trackingCode: 'T' })
        await done(`admin PUT /orders/${String(orderId)}/deliver`)
        const lines = [{ productId, variantId, quantity: 2 }]
        const { id } = await made('ada POST /returns', { orderId, reason: 'Broken', lines })
        for (const [action, stock] of [
          ['approve', 0],
          ['receive', 2],
          ['refund', 2]
        ] as const) {
          await done(`admin PUT /returns/${String(id)}/${action}`)
          expect(await stocks(productId), action).to.deep.equal([stock])
        }
      })

      it('puts nothing back that the stock cannot hold', async () => {
        const { productId, variants } = await stocked(1)
        const { id } = await made('ada POST /orders', { lines: [{ productId, variantId: variants[0], quantity: 1 }] })
        await select(store, 'UPDATE product_variants SET stock = 2147483647 WHERE product_id = ?', [productId])
        const no = `There are 2147483647 of variant ${String(variants[0])}, S0; its stock is at most 2147483647.`
        await rejected(() => put(`ada PUT /orders/${String(id)}/cancel`), no)
      })
    })

    describe('with what is deleted', () => {
      const lines = [{ productId: 1, quantity: 2 }]
      const delivered = async (): Promise<unknown> => {
        const { id } = await made('ada POST /orders', { lines })
        await done(`ada PUT /orders/${String(id)}/pay`)
        await done(`admin PUT /orders/${String(id)}/ship`, { trackingCode: 'T' })
        await done(`admin PUT /orders/${String(id)}/deliver`)
        return id
      }
      const gone = async (line: string): Promise<void> => {
        const answer = await send(store, line)
        expect(answer.status, answer.text).to.equal(204)
      }

      it('keeps an order that was paid', async () => {
        const { id } = await made('ada POST /orders', { lines })
        const path = `/orders/${String(id)}`
        await done(`ada PUT ${path}/pay`)
        const no = (is: string): string => `The order is ${is}; delete needs it to be placed or cancelled.`
        await rejected(() => send(store, `ada DELETE ${path}`), no('paid'))
        await rejected(() => send(store, `admin DELETE ${path}`, { ifMatch: '*' }), no('paid'))
        await done(`admin PUT ${path}/ship`, { trackingCode: 'T' })
        await rejected(() => send(store, `ada DELETE ${path}`), no('shipped'))
        await done(`admin PUT ${path}/deliver`)
        await rejected(() => send(store, `ada DELETE ${path}`), no('delivered'))
        await made('ada POST /returns', { orderId: id, reason: 'Broken', lines })
        // The state comes before the rows that refer to it, and after the row itself and its version.
        await rejected(() => send(store, `ada DELETE ${path}`), no('delivered'))
        const stale = await changesNothing(store, () =>
          send(store, `ada DELETE ${path}`, { ifMatch: '"AAAAAAAAAAA="' })
        )
        store.problem(stale, { status: 412, code: 'conflict' })
        store.problem(await send(store, `ben DELETE ${path}`), { status: 404, code: 'not-found' })
      })

      it('lets no customer delete a refunded return, and return the goods again', async () => {
        const orderId = await delivered()
        const { id } = await made('ada POST /returns', { orderId, reason: 'Broken', lines })
        const path = `/returns/${String(id)}`
        for (const [action, is] of [
          ['approve', 'approved'],
          ['receive', 'received'],
          ['refund', 'refunded']
        ] as const) {
          await done(`admin PUT ${path}/${action}`)
          const no = `The return is ${is}; delete needs it to be requested or rejected.`
          await rejected(() => send(store, `ada DELETE ${path}`), no)
        }
        const again = await send(store, 'ada POST /returns', { body: { orderId, reason: 'Broken', lines } })
        store.problem(again, { status: 400, code: 'body.invalid' })
      })

      it('takes back what nobody relies on yet', async () => {
        const orderId = await delivered()
        const { id } = await made('ada POST /returns', { orderId, reason: 'Broken', lines })
        await gone(`ada DELETE /returns/${String(id)}`)
        const { id: other } = await made('ada POST /returns', { orderId, reason: 'Broken', lines })
        await done(`admin PUT /returns/${String(other)}/reject`, { reason: 'Worn' })
        await gone(`ada DELETE /returns/${String(other)}`)
        const { id: placed } = await made('ada POST /orders', { lines })
        // An invoice refers to its order, and goes first.
        const { id: invoice } = await made('admin POST /invoices', { orderId: placed, customerId: 1 })
        const held = await changesNothing(store, () => send(store, `ada DELETE /orders/${String(placed)}`))
        store.problem(held, { status: 409, code: 'conflict' })
        await gone(`admin DELETE /invoices/${String(invoice)}`)
        await gone(`ada DELETE /orders/${String(placed)}`)
        const { id: cancelled } = await made('ada POST /orders', { lines })
        await done(`ada PUT /orders/${String(cancelled)}/cancel`)
        await gone(`ada DELETE /orders/${String(cancelled)}`)
      })

      it('keeps stock that is promised to somebody', async () => {
        const { id: warehouseId } = await made('clerk POST /warehouses', { name: 'Süd', city: 'Köln' })
        const { id } = await made('clerk POST /stock-items', { warehouseId, productId: 1, onHand: 5 })
        const path = `/stock-items/${String(id)}`
        await done(`clerk PUT ${path}/reserve`, { quantity: 2 })
        const no = 'The stock item is with reserved 2; delete needs it to be with reserved 0.'
        await rejected(() => send(store, `clerk DELETE ${path}`), no)
        await done(`clerk PUT ${path}/release`, { quantity: 2 })
        await gone(`clerk DELETE ${path}`)
      })
    })

    describe('with places and seats', () => {
      it('sells as many tickets as the venue holds, those at the door counted', async () => {
        const eventId = await scheduled(await venue(2))
        const { id } = await made('ada POST /tickets', { eventId, price: '1.00' })
        await done(`ada PUT /tickets/${String(id)}/check-in`)
        await made('ben POST /tickets', { eventId, price: '1.00' })
        await rejected(() => ticket('ada', { eventId }), 'The event is sold out: its venue holds 2.')
        expect(await sold(eventId)).to.equal(2)
        // Other events have places of their own, and one in a venue without any has none.
        await made('ada POST /tickets', { eventId: await scheduled(await venue(1)), price: '1.00' })
        const none = await scheduled(await venue(0))
        await rejected(() => ticket('ada', { eventId: none }), 'The event is sold out: its venue holds 0.')
      })

      it('sells a seat of an event once', async () => {
        const hall = await venue(10)
        const [one, other] = [await scheduled(hall), await scheduled(hall)]
        await made('ada POST /tickets', { eventId: one, seat: 'A1', price: '1.00' })
        for (const seat of ['A1', 'a1']) {
          await rejected(() => ticket('ben', { eventId: one, seat }), `Seat ${seat} of the event is taken.`)
        }
        for (const seat of ['A2', 'A1 ', null, null])
          await made('ben POST /tickets', { eventId: one, seat, price: '1' })
        await made('ben POST /tickets', { eventId: other, seat: 'A1', price: '1.00' })
      })

      it('moves an event only to a venue that holds the tickets to it', async () => {
        const [small, large] = [await venue(1), await venue(2)]
        const eventId = await scheduled(large)
        const event = { title: 'Tea', startsAt: STARTS, endsAt: ENDS, venueId: small }
        for (const account of ['ada', 'ben']) await made(`${account} POST /tickets`, { eventId, price: '1.00' })
        const no = `Venue ${String(small)} holds 1; there are 2 tickets to the event.`
        const path = `/events/${String(eventId)}`
        await rejected(() => put(`clerk PUT ${path}/change-venue`, { venueId: small }), no)
        await rejected(() => put(`clerk PUT ${path}`, event), no)
        await done(`clerk PUT ${path}/change-venue`, { venueId: await venue(2) })
        await done(`clerk PUT ${path}`, { ...event, venueId: await venue(3) })
      })

      it('schedules no draft with more tickets than its venue holds', async () => {
        // No request gives a draft tickets, so these are put there by hand.
        const [venueId, other] = [await venue(1), await scheduled(await venue(5))]
        const eventId = await draft(venueId)
        for (const account of ['ada', 'ben']) await made(`${account} POST /tickets`, { eventId: other, price: '1.00' })
        await select(store, 'UPDATE tickets SET event_id = ? WHERE event_id = ?', [Number(eventId), Number(other)])
        const no = `Venue ${String(venueId)} holds 1; there are 2 tickets to the event.`
        await rejected(
          () => put(`clerk PUT /events/${String(eventId)}/schedule`, { startsAt: STARTS, endsAt: ENDS }),
          no
        )
      })

      it('keeps room in a venue for the tickets to what is still to come there', async () => {
        const venueId = await venue(5)
        const [first, second] = [await scheduled(venueId), await scheduled(venueId)]
        for (const eventId of [first, second, second]) await made('ada POST /tickets', { eventId, price: '1.00' })
        const hall = (capacity: number): object => ({ name: 'Hall', city: 'Lyon', capacity, isOpen: true })
        const path = `/venues/${String(venueId)}`
        const no = `There are 2 tickets to event ${String(second)} at the venue; a capacity needs room for them.`
        await rejected(() => put(`clerk PUT ${path}`, hall(1)), no)
        expect(await done(`clerk PUT ${path}`, hall(2))).to.include({ capacity: 2 })
        await done(`clerk PUT /events/${String(second)}/cancel`)
        expect(await done(`clerk PUT ${path}`, hall(1))).to.include({ capacity: 1 })
        const period = { startsAt: '2020-01-01T00:00:00Z', endsAt: '2020-01-02T00:00:00Z' }
        await done(`clerk PUT /events/${String(first)}`, { title: 'Tea', ...period, venueId })
        expect(await done(`clerk PUT ${path}`, hall(0))).to.include({ capacity: 0 })
      })
    })
  },
  { on: 'sqlite' }
)
