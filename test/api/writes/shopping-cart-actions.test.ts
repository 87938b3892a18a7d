import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { Cart, coupon } from './carts.js'
import { rowIn, send } from './send.js'
import { changesNothing } from './stored.js'

describeApi(
  'shopping carts',
  (store) => {
    const rejected = async (work: () => Promise<Answer>, pointer: string): Promise<void> => {
      const violations = [{ code: 'body.invalid', pointer }]
      store.problem(await changesNothing(store, work), { status: 400, code: 'body.invalid', violations })
    }
    const wrongState = async (work: () => Promise<Answer>, says: string): Promise<void> => {
      store.problem(await changesNothing(store, work), { status: 422, code: 'state.invalid', says })
    }
    const post = (body: object): Promise<Answer> => send(store, 'ada POST /shopping-carts', { body })

    before(async () => {
      await coupon(store, { code: 'Été-10' })
      await coupon(store, { code: 'OFF', isActive: false })
      await coupon(store, { code: 'NOT-YET', startsAt: '2999-01-01T00:00:00Z' })
      await coupon(store, { code: 'OVER', endsAt: '2024-01-02T00:00:00Z' })
    })

    it('are created with items, each product and variant once', async () => {
      const earliest = Date.now()
      const answer = await post({
        currency: 'EUR',
        couponCode: 'été-10',
        items: [
          { productId: 1, variantId: 1, quantity: 2 },
          { productId: 1, quantity: 1 },
          { productId: 1, variantId: 1, quantity: 9_998 }
        ]
      })
      const { id, updatedAt, rowVersion: _version, ...rest } = rowIn(answer)
      expect(rest).to.deep.equal({ customerId: 1, currency: 'EUR', couponCode: 'été-10' })
      expect(Date.parse(String(updatedAt))).to.be.within(earliest, Date.now())
      const whole = rowIn(await store.as('ada', `/shopping-carts/${String(id)}?includeChildren=true&includeFKs=true`))
      expect(whole).to.have.property('items').with.length(2)
      expect(whole).to.have.nested.property('items[0].quantity', 10_000)
      expect(whole).to.have.nested.property('items[1].variantId', null)
      expect(whole).to.have.nested.property('customer.id', 1)
    })

    it('hold what there is, within bounds, from the start', async () => {
      const items = (...all: object[]): object => ({ currency: 'EUR', items: all })
      const one = { productId: 1, quantity: 1 }
      await rejected(() => post({ currency: 'EURO' }), '/currency')
      await rejected(() => post({ currency: 'EUR', couponCode: 'no such' }), '/couponCode')
      await rejected(() => post(items(one, { productId: 999, quantity: 1 })), '/items/1/productId')
      await rejected(() => post(items({ ...one, variantId: 3 })), '/items/0/variantId')
      await rejected(() => post(items({ ...one, quantity: 0 })), '/items/0/quantity')
      await rejected(() => post(items({ ...one, quantity: 10_001 })), '/items/0/quantity')
      await rejected(() => post(items(one, { ...one, quantity: 10_000 })), '/items/1/quantity')
      await wrongState(() => post({ currency: 'EUR', couponCode: 'OVER' }), 'no longer valid')
    })

    it('add-item adds to the quantity of the same product and variant, up to 10,000', async () => {
      const cart = await Cart.of(store)
      const { updatedAt } = await cart.done('add-item', { productId: 1, quantity: 1 })
      expect(updatedAt).to.be.a('string')
      await cart.done('add-item', { productId: 1, variantId: 2, quantity: 2 })
      await cart.done('add-item', { productId: 1, variantId: null, quantity: 9_999 })
      await cart.done('add-item', { productId: 2, quantity: 10_000 })
      const items = await cart.items()
      expect(items.map(({ id: _id, ...item }) => item)).to.deep.equal([
        { productId: 1, variantId: null, quantity: 10_000 },
        { productId: 1, variantId: 2, quantity: 2 },
        { productId: 2, variantId: null, quantity: 10_000 }
      ])
      await wrongState(() => cart.act('add-item', { productId: 1, quantity: 1 }), '10000')
      await rejected(() => cart.act('add-item', { productId: 999, quantity: 1 }), '/productId')
      await rejected(() => cart.act('add-item', { productId: 2, variantId: 1, quantity: 1 }), '/variantId')
      await rejected(() => cart.act('add-item', { productId: 2, quantity: 10_001 }), '/quantity')
    })

    it('change-item-quantity, remove-item and clear reach the own items alone', async () => {
      const other = await Cart.of(store, { items: [{ productId: 1, quantity: 5 }] })
      const [foreign] = await other.items()
      const cart = await Cart.of(store, { items: [1, 2, 3].map((productId) => ({ productId, quantity: productId })) })
      const [first, second] = await cart.items()
      await cart.done('change-item-quantity', { itemId: first?.id, quantity: 10_000 })
      await cart.done('remove-item', { itemId: second?.id })
      expect((await cart.items()).map(({ quantity }) => quantity)).to.deep.equal([10_000, 3])
      for (const itemId of [foreign?.id, second?.id, 999_999]) {
        await rejected(() => cart.act('change-item-quantity', { itemId, quantity: 1 }), '/itemId')
        await rejected(() => cart.act('remove-item', { itemId }), '/itemId')
      }
      await rejected(() => cart.act('change-item-quantity', { itemId: first?.id, quantity: 0 }), '/quantity')
      await cart.done('apply-coupon', { code: 'Été-10' })
      expect(await cart.done('clear')).to.include({ couponCode: null })
      expect(await cart.items()).to.deep.equal([])
      await cart.done('clear')
      expect(await other.items()).to.deep.equal([foreign])
    })

    it('apply-coupon finds a code in any letter case and no other code, and takes valid coupons only', async () => {
      const cart = await Cart.of(store)
      expect(await cart.done('apply-coupon', { code: 'Été-10' })).to.include({ couponCode: 'Été-10' })
      expect(await cart.done('apply-coupon', { code: 'ÉtÉ-10' })).to.include({ couponCode: 'Été-10' })
      for (const code of ['Ete-10', 'Été-10 ', 'Été-1', '%']) {
        await rejected(() => cart.act('apply-coupon', { code }), '/code')
      }
      await rejected(() => cart.act('apply-coupon', { code: '' }), '/code')
      await wrongState(() => cart.act('apply-coupon', { code: 'OFF' }), 'not active')
      await wrongState(() => cart.act('apply-coupon', { code: 'NOT-YET' }), 'not valid yet')
      await wrongState(() => cart.act('apply-coupon', { code: 'OVER' }), 'no longer valid')
    })

    it('nothing about one that is checked out changes any more', async () => {
      const cart = await Cart.of(store, { items: [{ productId: 1, quantity: 1 }] })
      const [item] = await cart.items()
      await cart.done('checkout')
      const attempts: [string, object?][] = [
        ['add-item', { productId: 2, quantity: 1 }],
        ['change-item-quantity', { itemId: item?.id, quantity: 2 }],
        ['remove-item', { itemId: item?.id }],
        ['clear'],
        ['apply-coupon', { code: 'Été-10' }]
      ]
      for (const [name, body] of attempts) await wrongState(() => cart.act(name, body), 'checked out')
      expect(await cart.items()).to.deep.equal([item])
    })

    it('say nowhere which order they became', async () => {
      const cart = await Cart.of(store, { items: [{ productId: 1, quantity: 1 }] })
      const keys = ['id', 'customerId', 'currency', 'couponCode', 'updatedAt', 'rowVersion']
      expect(await cart.done('checkout')).to.have.all.keys(keys)
      const filter = 'filters[orderNumber].operator=is%20empty&filters[orderNumber].value=1'
      store.problem(await store.as('ada', `/shopping-carts/paged?${filter}`), {
        status: 400,
        code: 'filter.property.unknown'
      })
    })

    it('go with their items, and keep what is in them from being deleted', async () => {
      const product = rowIn(
        await send(store, 'clerk POST /products', { body: { name: 'n', sku: 'CART-1', categoryId: 1, price: '1' } })
      )
      const cart = await Cart.of(store, { items: [{ productId: product['id'], quantity: 1 }] })
      const drop = (): Promise<Answer> => send(store, `clerk DELETE /products/${String(product['id'])}`)
      store.problem(await drop(), { status: 409, code: 'conflict' })
      expect((await send(store, `ada DELETE ${cart.path}`)).status).to.equal(204)
      expect((await drop()).status).to.equal(204)
    })
  },
  { on: 'mysql' }
)
