import { expect } from 'chai'
import { describeWriters } from './writers.js'
import type { Answer } from '../http-call.js'
import { rowIn, tagOf } from './send.js'
import { count, select } from './stored.js'

const CALLERS = 8
const STARTS = '2037-05-01T10:00:00.000Z'
const ENDS = '2037-05-01T12:00:00.000Z'

describeWriters('what is left of something, asked for over two gateways at once', (writers) => {
  const made = async (line: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await writers.send(0, line, { body })
    expect(answer.status, answer.text).to.equal(201)
    return rowIn(answer)
  }
  const event = async (capacity: number): Promise<{ venueId: unknown; eventId: unknown }> => {
    const { id: venueId } = await made('clerk POST /venues', { name: 'Hall', city: 'Lyon', capacity })
    const period = { startsAt: STARTS, endsAt: ENDS }
    const { id, rowVersion } = await made('clerk POST /events', { title: 'Tea', ...period, venueId })
    const schedule = { body: period, ifMatch: tagOf(rowVersion) }
    expect((await writers.send(0, `clerk PUT /events/${String(id)}/schedule`, schedule)).status).to.equal(200)
    return { venueId, eventId: id }
  }
  const all = (write: (n: number) => Promise<Answer>): Promise<Answer[]> =>
    Promise.all(Array.from({ length: CALLERS }, (_, n) => write(n)))
  const once = (answers: readonly Answer[], says: string): void => {
    const [first, ...others] = answers.toSorted((one, other) => one.status - other.status)
    expect(first?.status, first?.text).to.equal(201)
    for (const other of others) writers.problem(other, { status: 422, code: 'state.invalid', says })
  }

  it('sells the last ticket once', async () => {
    const { eventId } = await event(1)
    const answers = await all((n) =>
      writers.send(n, `${n % 3 === 0 ? 'ben' : 'ada'} POST /tickets`, { body: { eventId, price: '1.00' } })
    )
    once(answers, 'sold out')
    expect(await count(writers, 'tickets WHERE event_id = ?', [Number(eventId)])).to.equal(1)
  })

  it('sells a seat once', async () => {
    const { eventId } = await event(CALLERS)
    once(await all((n) => writers.send(n, 'ada POST /tickets', { body: { eventId, seat: 'A1', price: '1' } })), 'taken')
    expect(await count(writers, "tickets WHERE event_id = ? AND seat = 'A1'", [Number(eventId)])).to.equal(1)
  })

  const product = async (name: string, stock: number): Promise<{ productId: unknown; variantId: number }> => {
    const body = { name, sku: name, categoryId: 1, price: '1.00', isActive: true }
    const { id, rowVersion } = await made('clerk POST /products', body)
    const variant = { body: { name, sku: `${name}-V`, price: '1', stock }, ifMatch: tagOf(rowVersion) }
    expect((await writers.send(0, `clerk PUT /products/${String(id)}/add-variant`, variant)).status).to.equal(200)
    const [row] = await select(writers, 'SELECT id FROM product_variants WHERE product_id = ?', [Number(id)])
    return { productId: id, variantId: Number(row?.['id']) }
  }
  const stockOf = async (variantId: number): Promise<number> => {
    const [row] = await select(writers, 'SELECT stock FROM product_variants WHERE id = ?', [variantId])
    return Number(row?.['stock'])
  }

  it('sells the last piece once', async () => {
    const line = await product('LAST', 1)
    const body = { lines: [{ ...line, quantity: 1 }] }
    once(await all((n) => writers.send(n, `${n % 3 === 0 ? 'ben' : 'ada'} POST /orders`, { body })), 'There are 0 left')
    expect(await stockOf(line.variantId)).to.equal(0)
    expect(await count(writers, 'order_lines WHERE variant_id = ?', [line.variantId])).to.equal(1)
  })

  it('sells all of several products that are ordered together in any order', async () => {
    const [one, other] = [await product('ONE', CALLERS), await product('OTHER', CALLERS)]
    const [first, second] = [one, other].map((line) => ({ ...line, quantity: 1 }))
    const answers = await all((n) => {
      const plain = { productId: n % 2 === 0 ? other.productId : one.productId, quantity: 1 }
      const lines = n % 4 < 2 ? [first, second, plain] : [second, first, plain]
      return writers.send(n, 'ada POST /orders', { body: { lines } })
    })
    expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 201))
    expect([await stockOf(one.variantId), await stockOf(other.variantId)]).to.deep.equal([0, 0])
  })

  it('never sells more than a venue holds that shrinks meanwhile', async () => {
    const { venueId, eventId } = await event(CALLERS)
    const venue = rowIn(await writers.read(0, `/venues/${String(venueId)}`))
    const shrink = {
      body: { name: 'Hall', city: 'Lyon', capacity: 5, isOpen: true },
      ifMatch: tagOf(venue['rowVersion'])
    }
    const [shrunk] = await Promise.all([
      writers.send(1, `clerk PUT /venues/${String(venueId)}`, shrink),
      all((n) => writers.send(n, 'ada POST /tickets', { body: { eventId, price: '1' } }))
    ])
    const { capacity } = rowIn(await writers.read(0, `/venues/${String(venueId)}`))
    expect(capacity, shrunk.text).to.equal(shrunk.status === 200 ? 5 : CALLERS)
    expect(await count(writers, 'tickets WHERE event_id = ?', [Number(eventId)])).to.be.at.most(Number(capacity))
  })
})
