import { expect } from 'chai'
import { StockAddsUp } from '../../../campaign/checkers/writes/stock.js'
import { entry, violationsOf, type Written } from './written-history.js'

describe('checker of stock', () => {
  const act = (call: string, body: object, more: Partial<Written> = {}): Written => ({
    workload: 'stock',
    call,
    body,
    status: 200,
    answer: {},
    ...more
  })
  const lines = [{ productId: 1, variantId: 3, quantity: 2 }]
  const story = [
    act('PUT /products/1/add-variant', { sku: 'stock-1', stock: 100, price: '5.25' }),
    act('PUT /products/1/adjust-variant-stock', { variantId: 3, delta: 7 }),
    act('POST /orders', { lines }, { status: 201, answer: { id: 4 } }),
    act('POST /shopping-carts', { items: lines }, { status: 201, answer: { id: 6 } }),
    act('PUT /shopping-carts/6/checkout', {})
  ]
  const order = { id: 4, status: 'placed', total: '10.50', invoiced: '10.50', quantity: 2, unit_price: '5.25' }
  const line = { parent: 4, product_id: 1, variant_id: 3, quantity: 2, unit_price: '5.25', taken: 4 }
  const cart = { id: 6, order_number: 'O-1', order_id: 5, wanted: 2, ordered: 2 }
  const item = { parent: 6, product_id: 1, variant_id: 3, quantity: 2 }
  const good = {
    ur_audit_entries: [
      entry('products/1', 'adjust-variant-stock', 'r-2'),
      entry('orders/4', 'create', 'r-3'),
      entry('shopping-carts/6', 'create', 'r-4'),
      entry('shopping-carts/6', 'checkout', 'r-5'),
      entry('orders/5', 'create', 'r-5')
    ],
    product_variants: [{ id: 3, sku: 'stock-1', stock: 103 }],
    order_lines: [line, { ...line, parent: 5, taken: 0 }],
    orders: [order, { ...order, id: 5 }],
    shopping_carts: [cart],
    shopping_cart_items: [item]
  }
  const andEntries = (...more: readonly ReturnType<typeof entry>[]) => ({
    ur_audit_entries: [...good.ur_audit_entries, ...more]
  })
  const pay = act('PUT /orders/4/pay', {})
  const cancel = act('PUT /orders/4/cancel', {})
  const paid = entry('orders/4', 'pay', 'r-6')
  const cancelled = entry('orders/4', 'cancel', 'r-6')
  /** The order in that state, and what is left of the stock where its lines are put back. */
  const inState = (status: string) => ({
    orders: [
      { ...order, status },
      { ...order, id: 5 }
    ],
    ...(status === 'cancelled'
      ? {
          product_variants: [{ id: 3, sku: 'stock-1', stock: 105 }],
          order_lines: [
            { ...line, taken: 2 },
            { ...line, parent: 5, taken: 0 }
          ]
        }
      : {})
  })

  it('accepts what adds up', async () => {
    expect(await violationsOf(new StockAddsUp(), story, good)).to.deep.equal([])
    // SQLite has an amount of 12.50 as 1250.
    const ofSqlite = {
      orders: [4, 5].map((id) => ({ ...order, id, total: 1050, invoiced: 1050, unit_price: 525 })),
      order_lines: good.order_lines.map((one) => ({ ...one, unit_price: 525 }))
    }
    expect(await violationsOf(new StockAddsUp(), story, { ...good, ...ofSqlite })).to.deep.equal([])
  })

  it('accepts states that somebody has asked for, told or not', async () => {
    const { status: _, answer: __, ...lost } = cancel
    const good2 = (...parts: readonly object[]) => Object.assign({}, good, ...parts) as typeof good
    for (const [history, rows] of [
      [[...story, pay], good2(andEntries(paid), inState('paid'))],
      [[...story, cancel], good2(andEntries(cancelled), inState('cancelled'))],
      [[...story, lost], good2(andEntries(cancelled), inState('cancelled'))],
      [[...story, lost], good],
      [[...story, cancel, pay], good2(andEntries(entry('orders/4', 'pay', 'r-7'), cancelled), inState('cancelled'))]
    ] as const) {
      expect(await violationsOf(new StockAddsUp(), history, rows)).to.deep.equal([])
    }
    const deleted = act('DELETE /orders/4', {}, { status: 204 })
    const rows = {
      ...andEntries(entry('orders/4', 'delete', 'r-6')),
      product_variants: [{ id: 3, sku: 'stock-1', stock: 105 }],
      orders: [{ ...order, id: 5 }],
      order_lines: [{ ...line, parent: 5, taken: 2 }]
    }
    expect(await violationsOf(new StockAddsUp(), [...story, deleted], good2(rows))).to.deep.equal([])
  })

  const refused = act('PUT /products/1/adjust-variant-stock', { variantId: 3, delta: 7 }, { status: 412 })
  const bad: readonly (readonly [string, readonly Written[], object, RegExp])[] = [
    ['stock that is lost', story, { product_variants: [{ id: 3, sku: 'stock-1', stock: 102 }] }, /should be 103/],
    [
      'an adjustment that did not happen',
      story,
      { ur_audit_entries: good.ur_audit_entries.slice(1) },
      /The adjustment r-2 was acknowledged and has 0/
    ],
    [
      'an adjustment that happened twice',
      story,
      andEntries(entry('products/1', 'adjust-variant-stock', 'r-2')),
      /has 2 audit/
    ],
    [
      'a rejected one that happened',
      [...story, refused],
      andEntries(entry('products/1', 'adjust-variant-stock', 'r-6')),
      /was rejected/
    ],
    ['an order without lines', story, { orders: [{ ...order, quantity: null, unit_price: null }] }, /has no lines/],
    [
      'a cart that is checked out under two keys',
      [...story, act('PUT /shopping-carts/6/checkout', {}, { headers: { 'idempotency-key': 'k-2' } })],
      {},
      /checked out by r-5, and again by r-6/
    ],
    [
      'a second checkout that nobody was told of',
      story,
      andEntries(entry('shopping-carts/6', 'checkout', 'r-9')),
      /2 audit entries of a checkout/
    ],
    ['an order of another sum', story, { orders: [{ ...order, total: '10.00' }] }, /its lines to 1050/],
    ['an invoice of another sum', story, { orders: [{ ...order, invoiced: '9.99' }] }, /invoice of order 4/],
    ['a cancel without an audit entry', [...story, cancel], {}, /r-6 was acknowledged for orders\/4 and has 0/],
    [
      'an order that is cancelled no more',
      [...story, cancel],
      andEntries(cancelled),
      /is placed and should be cancelled/
    ],
    ['a payment that is lost', [...story, pay], andEntries(paid), /is placed and should be paid/],
    ['a state that nobody asked for', story, inState('paid'), /is paid and should be placed/],
    [
      'a cancel of another order',
      [...story, act('PUT /orders/5/cancel', {})],
      andEntries(cancelled),
      /was not sent for it/
    ],
    [
      'a rejected payment that happened',
      [...story, { ...pay, status: 422 }],
      { ...andEntries(paid), ...inState('paid') },
      /r-6 was rejected/
    ],
    [
      'a payment that happened twice',
      [...story, pay],
      { ...andEntries(paid, paid), ...inState('paid') },
      /has 2 audit/
    ],
    [
      'a line of another quantity',
      story,
      { order_lines: [{ ...line, quantity: 3 }, ...good.order_lines.slice(1)] },
      /orders\/4 has the lines 1 3 3 525, and was sent 1 3 2 525/
    ],
    [
      'a line of another price',
      story,
      { order_lines: [{ ...line, unit_price: '5.00' }, ...good.order_lines.slice(1)] },
      /orders\/4 has the lines 1 3 2 500/
    ],
    ['a line that is lost', story, { order_lines: good.order_lines.slice(0, 1) }, /orders\/5 has the lines none, and/],
    ['an item that is lost', story, { shopping_cart_items: [] }, /shopping-carts\/6 has the lines/],
    [
      'a second order of one cart',
      story,
      andEntries(entry('orders/9', 'create', 'r-5')),
      /shopping-carts\/6 became orders\/5, and orders\/9 too/
    ],
    ['a variant that is lost', story, { product_variants: [] }, /variant stock-1 was acknowledged and does not exist/],
    [
      'a variant that nobody asked for',
      story,
      { product_variants: [...good.product_variants, { id: 9, sku: 'stock-9', stock: 1 }] },
      /stock-9 was not asked for/
    ],
    [
      'stock below nothing',
      [...story, { ...act('GET /products/1', {}), body: undefined, answer: { variants: [{ id: 3, stock: -1 }] } }],
      {},
      /shows -1 of a variant/
    ],
    [
      'a variant that is none',
      [...story, { ...act('GET /products/1', {}), body: undefined, answer: { variants: [null] } }],
      {},
      /shows null of a variant/
    ],
    [
      'a line that says nothing of its quantity',
      [
        ...story,
        {
          workload: 'stock',
          call: 'GET /orders/4',
          status: 200,
          answer: { total: '1.00', lines: [{ unitPrice: '5.25' }] }
        }
      ],
      {},
      /which has no quantity/
    ],
    ['a cart without its order', story, { shopping_carts: [{ ...cart, order_number: null }] }, /has no order/],
    ['a cart whose order is another', story, { shopping_carts: [{ ...cart, ordered: 1 }] }, /has 2 pieces/],
    [
      'two carts of one order',
      [...story, act('POST /shopping-carts', {}, { status: 201, answer: { id: 7 } })],
      { shopping_carts: [cart, { ...cart, id: 7 }] },
      /are one order/
    ],
    [
      'a wrong sum that is shown',
      [
        ...story,
        {
          workload: 'stock',
          call: 'GET /orders/4',
          status: 200,
          answer: { total: '1.00', lines: [{ quantity: 2, unitPrice: '5.25' }] }
        }
      ],
      {},
      /whose lines come to 1050/
    ]
  ]
  for (const [what, history, tables, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new StockAddsUp(), history, { ...good, ...tables })).join('\n')).to.match(expected)
    })
  }

  it('counts no refused adjustment as tried', async () => {
    const checker = new StockAddsUp()
    expect(await violationsOf(checker, [...story, refused, refused], good)).to.deep.equal([])
    const again = new StockAddsUp()
    expect(await violationsOf(again, story, good)).to.deep.equal([])
    const none = () => Promise.resolve([])
    expect((await checker.judge(none)).tried).to.equal((await again.judge(none)).tried)
  })
})
