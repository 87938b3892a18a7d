import { expect } from 'chai'
import { entities } from '../../../examples/store/entities/index.js'
import { caller, violationsIn, owner, rejectionOf, WriteHarness } from './write-harness.js'

const clerk = caller({ permissions: ['products:manage', 'customers:manage'] })
const admin = caller({ roles: ['Admin'], permissions: ['orders:manage'] })

describe('writes of the store', () => {
  let service: WriteHarness
  beforeEach(() => {
    service = new WriteHarness(entities)
  })

  describe('orders', () => {
    beforeEach(() => {
      service.store.add('products', { id: 1, price: '19.90' }, { variants: [{ id: 5, productId: 1, price: '0.10' }] })
      service.store.add('products', { id: 2, price: '99999999.99' })
    })
    const order = (lines: unknown, more: object = {}) =>
      service.create({ resource: 'orders', body: { lines, ...more } }, owner(7n))

    it('take prices and totals from the products', async () => {
      const { record, ignored } = await order(
        [
          { productId: 1, quantity: 3, unitPrice: '0.01' },
          { productId: 1, variantId: 5, quantity: 3 }
        ],
        { total: '0.01', status: 'paid' }
      )
      expect(record).to.include({
        customerId: 7,
        status: 'placed',
        total: '60.00',
        paidAt: null,
        number: 'O-111111111111'
      })
      expect(ignored).to.have.members(['total', 'status', 'lines/0/unitPrice'])
      const lines = service.store.children('orders', Number(record['id']), 'lines')
      expect(lines.map(({ unitPrice }) => unitPrice)).to.deep.equal(['19.90', '0.10'])
    })

    for (const [what, lines, place] of [
      ['an unknown product', [{ productId: 9, quantity: 1 }], '/lines/0/productId'],
      ['an unknown variant', [{ productId: 1, variantId: 9, quantity: 1 }], '/lines/0/variantId'],
      ["another product's variant", [{ productId: 2, variantId: 5, quantity: 1 }], '/lines/0/variantId'],
      ['no line', [], '/lines'],
      ['a quantity of none', [{ productId: 1, quantity: 0 }], '/lines/0/quantity'],
      ['too great a total', Array.from({ length: 2 }, () => ({ productId: 2, quantity: 100 })), '/lines']
    ] as const) {
      it(`refuse ${what}`, async () => {
        expect(await violationsIn(order(lines))).to.deep.equal([`body.invalid ${place}`])
      })
    }

    it('go from placed to delivered, and are cancelled before they are shipped', async () => {
      let { version, id } = await order([{ productId: 1, quantity: 1 }])
      const act = async (action: string, body: object = {}) => {
        const answer = await service.act(action, { resource: 'orders', id, tags: [version], body }, admin)
        version = answer.version
        return answer.record
      }
      const steps: readonly (readonly [string, object, object])[] = [
        ['pay', {}, { status: 'paid', paidAt: '2026-01-31T08:00:00.000Z' }],
        ['ship', { trackingCode: 'T1' }, { status: 'shipped', trackingCode: 'T1' }],
        ['update-shipment', { trackingCode: 'T2' }, { status: 'shipped', trackingCode: 'T2' }],
        ['deliver', {}, { status: 'delivered', deliveredAt: '2026-01-31T08:00:00.000Z' }]
      ]
      expect((await rejectionOf(act('deliver'))).message).to.equal(
        'The order is placed; deliver needs it to be shipped.'
      )
      for (const [action, body, expected] of steps) expect(await act(action, body), action).to.include(expected)
      expect((await rejectionOf(act('cancel'))).message).to.equal(
        'The order is delivered; cancel needs it to be placed or paid.'
      )
      ;({ version, id } = await order([{ productId: 1, quantity: 1 }]))
      expect(await act('cancel', { reason: 'changed my mind' })).to.include({ status: 'cancelled' })
      expect((await rejectionOf(act('pay'))).code).to.equal('state.invalid')
    })

    it('are shipped by permission, whoever they belong to', async () => {
      const { version, id } = await order([{ productId: 1, quantity: 1 }])
      for (const action of ['ship', 'update-shipment', 'deliver']) {
        const acted = service.act(action, { resource: 'orders', id, tags: [version], body: {} }, owner(7n))
        expect((await rejectionOf(acted)).code, action).to.equal('capability.denied')
      }
    })
  })

  describe('categories', () => {
    let version: Buffer
    beforeEach(() => {
      version = service.store.add('categories', { id: 1, name: 'a', slug: 'a', parentId: null })
      service.store.add('categories', { id: 2, name: 'b', slug: 'b', parentId: 1 })
      service.store.add('categories', { id: 3, name: 'c', slug: 'c', parentId: 2 })
    })
    const request = (id: string, body: object) => ({ resource: 'categories', id, tags: [version], body })
    const move = (id: string, parentId: unknown) => service.act('move', request(id, { parentId }), clerk)
    const put = (id: string, parentId: unknown) =>
      service.update(request(id, { name: 'x', slug: 'x', parentId }), clerk)

    it('move under another, and to the top', async () => {
      expect((await move('3', 1)).record).to.include({ parentId: 1 })
      expect((await put('2', null)).record).to.include({ parentId: null })
      expect(await violationsIn(move('3', undefined))).to.deep.equal(['body.invalid /parentId'])
    })

    it('never go in a circle', async () => {
      for (const parentId of [1, 2, 3]) {
        expect((await rejectionOf(move('1', parentId))).code, `parentId ${parentId}`).to.equal('state.invalid')
        expect((await rejectionOf(put('1', parentId))).code, `parentId ${parentId}`).to.equal('state.invalid')
      }
    })
  })

  describe('products', () => {
    let version: Buffer
    beforeEach(() => {
      const variants = [{ id: 5, name: 'v', sku: 'v', price: '1.00', stock: 3 }]
      version = service.store.add('products', { id: 1, name: 'p', sku: 'p', isActive: false }, { variants })
    })
    const act = (action: string, body: object = {}) =>
      service.act(action, { resource: 'products', tags: [version], body }, clerk)
    const variantRowVersion = () => service.store.childVersion('products', 1, 'variants')?.toString('base64')
    const variants = () => service.store.children('products', 1, 'variants')

    it('are published and taken back', async () => {
      expect((await rejectionOf(act('unpublish'))).message).to.equal(
        'The product is not active; unpublish needs it to be active.'
      )
      const published = await act('publish')
      expect(published.record).to.include({ isActive: true })
      version = published.version
      expect((await act('unpublish')).record).to.include({ isActive: false })
    })

    it('gain, change and lose variants', async () => {
      version = (await act('add-variant', { name: 'w', sku: 'w', price: 2, stock: 0 })).version
      expect(variants()[1]).to.include({ name: 'w', price: '2.00', stock: 0 })
      const price = { variantId: 5, price: '3', variantRowVersion: variantRowVersion() }
      version = (await act('change-variant-price', price)).version
      expect(variants()[0]).to.include({ price: '3.00', stock: 3 })
      version = (await act('remove-variant', { variantId: 5 })).version
      expect(variants().map(({ name }) => name)).to.deep.equal(['w'])
      expect(await violationsIn(act('remove-variant', { variantId: 5 }))).to.deep.equal(['body.invalid /variantId'])
    })

    it('keep a stock that is neither negative nor beyond an int', async () => {
      const adjust = (delta: number) =>
        act('adjust-variant-stock', { variantId: 5, delta, variantRowVersion: variantRowVersion() })
      expect((await rejectionOf(adjust(-4))).message).to.equal('The variant has 3 in stock; it cannot lose 4.')
      expect(await violationsIn(adjust(2_147_483_645))).to.deep.equal(['body.invalid /delta'])
      await adjust(-3)
      expect(variants()[0]).to.include({ stock: 0 })
    })
  })

  describe('customers', () => {
    const address = { line1: 'l', city: 'c', postalCode: 'p', country: 'd' }

    it('come with addresses, unsuspended, and change them', async () => {
      const body = { name: 'n', email: 'n@example.com', isSuspended: true, riskNote: 'x', addresses: [address] }
      const { id, ignored, ...created } = await service.create({ resource: 'customers', body }, clerk)
      let { record, version } = created
      expect(record).to.include({ isSuspended: false, createdAt: '2026-01-31T08:00:00.000Z', phone: null })
      expect(ignored).to.have.members(['isSuspended', 'riskNote'])
      const act = async (action: string, input: object = {}) => {
        ;({ record, version } = await service.act(
          action,
          { resource: 'customers', id, tags: [version], body: input },
          clerk
        ))
      }
      const addresses = () => service.store.children('customers', Number(id), 'addresses')
      await act('change-address', { ...address, city: 'e' })
      expect(addresses().map(({ city }) => city)).to.deep.equal(['c', 'e'])
      await act('change-address', { ...address, city: 'f', addressId: addresses()[0]?.['id'] })
      expect(addresses().map(({ city }) => city)).to.deep.equal(['f', 'e'])
      expect(await violationsIn(act('change-address', { ...address, addressId: 999 }))).to.deep.equal([
        'body.invalid /addressId'
      ])
      await act('suspend')
      expect(record).to.include({ isSuspended: true })
      expect((await rejectionOf(act('suspend'))).code).to.equal('state.invalid')
      await act('reinstate')
      expect(record).to.include({ isSuspended: false })
    })

    it('are taken without addresses too', async () => {
      const body = { name: 'n', email: 'n@example.com' }
      const { id, record, ignored } = await service.create({ resource: 'customers', body }, clerk)
      expect(record).to.include({ ...body, phone: null })
      expect(ignored).to.deep.equal([])
      expect(service.store.children('customers', Number(id), 'addresses')).to.deep.equal([])
    })
  })
})
