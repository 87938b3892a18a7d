import { expect } from 'chai'
import { sampleStore } from '../../../examples/store/sample/sample-store.js'
import type { SampleAggregate, SampleRow } from '../../../examples/store/sample/values.js'

const store = sampleStore()
const aggregates = (resource: string): readonly SampleAggregate[] => store.get(resource) ?? []
const roots = (resource: string): SampleRow[] => aggregates(resource).map(({ root }) => root)
const texts = (resource: string, name: string): string[] => roots(resource).map((root) => String(root[name]))
const values = (resource: string, name: string): Set<unknown> => new Set(roots(resource).map((root) => root[name]))
const byId = (resource: string): Map<unknown, SampleRow> => new Map(roots(resource).map((root) => [root['id'], root]))

const OWNERS = {
  tickets: 'customerId',
  bookmarks: 'userId',
  subscriptions: 'customerId',
  'shopping-carts': 'customerId'
}

describe('sample rows of the front office', () => {
  it('are a few dozen of everything', () => {
    for (const resource of ['venues', 'events', 'speakers', ...Object.keys(OWNERS)]) {
      expect(aggregates(resource).length, resource).to.be.within(24, 100)
    }
  })

  it('belong to both sample accounts, and to others', () => {
    for (const [resource, owner] of Object.entries(OWNERS)) {
      for (const account of [1, 2]) {
        expect(roots(resource).filter((root) => root[owner] === account).length, resource).to.be.above(3)
      }
      expect(values(resource, owner), resource).to.have.property('size').above(5)
    }
  })

  it('are in every state', () => {
    expect(values('events', 'status')).to.have.all.keys(['draft', 'scheduled', 'cancelled'])
    expect(values('tickets', 'status')).to.have.all.keys(['valid', 'checked-in'])
    expect(values('subscriptions', 'status')).to.have.all.keys(['active', 'paused'])
    for (const flag of [true, false]) {
      expect(values('venues', 'isOpen'), String(flag)).to.include(flag)
      expect(values('speakers', 'isConfirmed'), String(flag)).to.include(flag)
    }
  })

  it('have texts that careless code trips over', () => {
    const hard = { letters: /[\u0370-\u9fff]/, quotes: /["']/, formulas: /^[=-]/, wildcards: /[%_]/ }
    const found = {
      venues: texts('venues', 'name'),
      events: texts('events', 'title'),
      speakers: [...texts('speakers', 'name'), ...texts('speakers', 'bio')],
      tickets: texts('tickets', 'seat'),
      bookmarks: texts('bookmarks', 'note'),
      subscriptions: texts('subscriptions', 'plan')
    }
    for (const [resource, all] of Object.entries(found)) {
      for (const [kind, pattern] of Object.entries(hard)) {
        expect(
          all.some((text) => pattern.test(text)),
          `${kind} in ${resource}`
        ).to.equal(true)
      }
    }
  })

  it('end after they start, and have no tickets while they are drafts', () => {
    const events = byId('events')
    for (const [id, { startsAt, endsAt }] of events)
      expect(String(startsAt) < String(endsAt), `event ${String(id)}`).to.equal(true)
    for (const [at, { eventId }] of roots('tickets').entries())
      expect(events.get(eventId)?.['status'], `case ${at}`).not.to.equal('draft')
  })

  it('bookmark no session twice', () => {
    const pairs = roots('bookmarks').map(({ userId, sessionId }) => `${String(userId)} ${String(sessionId)}`)
    expect(new Set(pairs).size).to.equal(pairs.length)
  })

  it('have carts of products and variants that belong together, each once in a cart', () => {
    const products = new Map(aggregates('products').map((product) => [product.root['id'], product]))
    const sizes = new Set<number>()
    for (const [at, { children }] of aggregates('shopping-carts').entries()) {
      const items = children['items'] ?? []
      sizes.add(items.length)
      expect(
        new Set(items.map(({ productId, variantId }) => `${String(productId)} ${String(variantId)}`)).size,
        `case ${at}`
      ).to.equal(items.length)
      for (const [at, { productId, variantId }] of items.entries()) {
        const variants = products.get(productId ?? null)?.children['variants'] ?? []
        if (variantId !== null)
          expect(
            variants.map(({ id }) => id),
            `case ${at}`
          ).to.include(variantId)
      }
    }
    expect(sizes).to.have.all.keys([0, 1, 2, 3, 4, 5])
  })

  it("have carts that became orders of the carts' customers, and coupons that there are", () => {
    const orders = new Map(roots('orders').map((order) => [order['number'], order]))
    const codes = values('coupons', 'code')
    const carts = aggregates('shopping-carts')
    expect(carts.filter(({ root }) => root['orderNumber'] !== null).length).to.be.above(5)
    for (const [at, { root, children }] of carts.entries()) {
      const { orderNumber, customerId, couponCode } = root
      if (couponCode !== null) expect(codes, `case ${at}`).to.include(couponCode)
      if (orderNumber === null) continue
      expect(orders.get(orderNumber ?? null)?.['customerId'], `case ${at}`).to.equal(customerId)
      expect(children['items'], `case ${at}`).not.to.be.empty
    }
  })
})
