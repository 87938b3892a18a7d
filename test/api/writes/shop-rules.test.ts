import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { rowIn, send, tagOf } from './send.js'
import { changesNothing, count, select } from './stored.js'

type Row = Readonly<Record<string, unknown>>

const STARTS = '2037-05-01T10:00:00.000Z'
const ENDS = '2037-05-01T12:00:00.000Z'
const LINES = [{ productId: 1, quantity: 1 }]

describeApi('what the shop does', (store) => {
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
      expect(await done(`ada PUT /tickets/${String(id)}/transfer`, { customerId: 2 })).to.include({ customerId: 2 })
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
      for (const seat of ['A2', 'A1 ', null, null]) await made('ben POST /tickets', { eventId: one, seat, price: '1' })
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
      await rejected(() => put(`clerk PUT /events/${String(eventId)}/schedule`, { startsAt: STARTS, endsAt: ENDS }), no)
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
})
