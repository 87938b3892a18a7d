import { expect } from 'chai'
import { sampleStore } from '../../../examples/store/sample/sample-store.js'
import {
  numberedGuid,
  numberOfGuid,
  type SampleAggregate,
  type SampleRow
} from '../../../examples/store/sample/values.js'

const store = sampleStore()
const aggregates = (resource: string): readonly SampleAggregate[] => store.get(resource) ?? []
const roots = (resource: string): SampleRow[] => aggregates(resource).map(({ root }) => root)
const linesOf = ({ children }: SampleAggregate): readonly SampleRow[] => children['lines'] ?? []
const orders = new Map(aggregates('orders').map((order) => [order.root['id'], order]))
const values = (resource: string, name: string): Set<unknown> => new Set(roots(resource).map((root) => root[name]))

function orderOf({ orderId, customerId }: SampleRow): SampleAggregate {
  const order = orders.get(orderId ?? null)
  if (order === undefined) throw new Error(`there is no order ${String(orderId)}`)
  expect(order.root['customerId']).to.equal(customerId)
  return order
}

describe('sample rows of the back office', () => {
  it('are a few dozen of everything', () => {
    for (const resource of [
      'coupons',
      'suppliers',
      'warehouses',
      'stock-items',
      'purchase-orders',
      'returns',
      'invoices'
    ]) {
      expect(aggregates(resource).length, resource).to.be.within(24, 100)
    }
  })

  it('have names that careless code trips over', () => {
    for (const resource of ['suppliers', 'warehouses']) {
      const names = roots(resource).map(({ name }) => String(name))
      expect(
        names.some((name) => /[\u0370-\u9fff]/.test(name)),
        resource
      ).to.equal(true)
    }
    const suppliers = roots('suppliers').map(({ name }) => String(name))
    for (const hard of [/'/, /,/, /[\u3040-\u9fff]/, /[\u0400-\u04ff]/]) {
      expect(
        suppliers.some((name) => hard.test(name)),
        String(hard)
      ).to.equal(true)
    }
    const codes = roots('coupons').map(({ code }) => String(code))
    for (const hard of [/^=/, /^-/, /^@/, /%/, /_/, /"/, /,/, /'/]) {
      expect(
        codes.some((code) => hard.test(code)),
        String(hard)
      ).to.equal(true)
    }
    const reasons = roots('returns').map(({ reason }) => String(reason))
    expect(reasons.some((reason) => reason.includes('\n'))).to.equal(true)
    expect(reasons).to.include('')
  })

  it('are coupons that end after they start, some never, with those to try things with', () => {
    for (const [at, { startsAt, endsAt }] of roots('coupons').entries()) {
      if (endsAt !== null) expect(String(endsAt) > String(startsAt), `case ${at}`).to.equal(true)
    }
    expect([...values('coupons', 'percent')]).to.include.members([1, 100])
    const found = roots('coupons').slice(0, 3)
    expect(found.map(({ code, isActive }) => [code, isActive])).to.deep.equal([
      ['WELCOME10', true],
      ['EXPIRED20', true],
      ['SWITCHEDOFF', false]
    ])
  })

  it('are returns of what was delivered to the customer, and no more of it', () => {
    expect(values('returns', 'status')).to.have.all.keys('requested', 'approved', 'received', 'refunded', 'rejected')
    expect(values('returns', 'orderId').size).to.equal(aggregates('returns').length)
    for (const [at, one] of aggregates('returns').entries()) {
      const order = orderOf(one.root)
      expect(order.root['status'], `case ${at}`).to.equal('delivered')
      expect(String(one.root['requestedAt']) > String(order.root['deliveredAt']), `case ${at}`).to.equal(true)
      expect(linesOf(one), `case ${at}`).not.to.be.empty
      for (const { productId, variantId, quantity } of linesOf(one)) {
        const ordered = linesOf(order).some(
          (line) =>
            line['productId'] === productId &&
            line['variantId'] === variantId &&
            Number(line['quantity']) >= Number(quantity)
        )
        expect(ordered, `return ${String(one.root['id'])}`).to.equal(true)
      }
      expect(one.root['rejectReason'] !== null, `case ${at}`).to.equal(one.root['status'] === 'rejected')
    }
  })

  it('are invoices of orders, one each, with their number and total', () => {
    expect(values('invoices', 'status')).to.have.all.keys('draft', 'issued', 'void')
    expect(values('invoices', 'orderId').size).to.equal(aggregates('invoices').length)
    for (const [at, root] of roots('invoices').entries()) {
      const order = orderOf(root).root
      expect(root['total'], `root ${at}`).to.equal(order['total'])
      expect(String(root['number']).replace('I-', 'O-'), `root ${at}`).to.equal(order['number'])
      if (order['status'] === 'cancelled') expect(root['status'], `root ${at}`).to.equal('void')
      if (root['status'] !== 'void')
        expect(root['issuedAt'] !== null, `root ${at}`).to.equal(root['status'] === 'issued')
      if (root['issuedAt'] !== null)
        expect(String(root['issuedAt']) > String(order['placedAt']), `root ${at}`).to.equal(true)
    }
  })

  it('are some of each of the customers whom the sample accounts sign in as', () => {
    for (const resource of ['returns', 'invoices']) {
      for (const id of [1, 2]) {
        expect(roots(resource).filter(({ customerId }) => customerId === id).length, resource).to.be.within(4, 20)
      }
      expect(values(resource, 'customerId').size, resource).to.be.above(10)
    }
  })

  it('are purchase orders of which as much has arrived as their status says', () => {
    expect(values('purchase-orders', 'status')).to.have.all.keys('draft', 'submitted', 'received', 'cancelled')
    const partly = new Set<unknown>()
    for (const [index, one] of aggregates('purchase-orders').entries()) {
      const { status } = one.root
      const arrived = linesOf(one).reduce((sum, line) => sum + Number(line['receivedQuantity']), 0)
      const ordered = linesOf(one).reduce((sum, line) => sum + Number(line['quantity']), 0)
      expect(linesOf(one), `case ${index}`).not.to.be.empty
      for (const [index, line] of linesOf(one).entries())
        expect(line['receivedQuantity'], `line ${index}`).to.be.at.most(Number(line['quantity']))
      if (status === 'draft' || status === 'cancelled') expect(arrived, `case ${index}`).to.equal(0)
      else if (status === 'received') expect(arrived, `case ${index}`).to.equal(ordered)
      else expect(arrived, `case ${index}`).to.be.below(ordered)
      if (status === 'submitted') partly.add(arrived > 0)
    }
    expect([...partly]).to.have.members([true, false])
  })

  it('are stock of which no more is promised than there is', () => {
    for (const { id, onHand, reserved } of roots('stock-items')) {
      expect(Number(reserved), `stock item ${String(id)}`).to.be.within(0, Number(onHand))
    }
    expect([...values('stock-items', 'onHand')]).to.include.members([0, 2_147_483_647])
    const ids = new Set(roots('warehouses').map(({ id }) => id))
    expect([...values('stock-items', 'warehouseId')].every((id) => ids.has(String(id)))).to.equal(true)
  })

  it('have guids by number', () => {
    const ids = roots('warehouses').map(({ id }) => String(id))
    expect(ids.map(numberOfGuid)).to.deep.equal(ids.map((_, index) => index + 1))
    expect(ids.toSorted()).to.deep.equal(ids)
    expect(numberedGuid(2 ** 31 - 1)).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})
