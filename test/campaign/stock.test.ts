import { expect } from 'chai'
import { StockAddsUp } from '../../campaign/checkers/stock.js'
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
  const story = [
    act('PUT /products/1/add-variant', { sku: 'stock-1', stock: 100 }),
    act('PUT /products/1/adjust-variant-stock', { variantId: 3, delta: 7 }),
    act('POST /orders', {}, { status: 201, answer: { id: 4 } }),
    act('POST /shopping-carts', {}, { status: 201, answer: { id: 6 } }),
    act('PUT /shopping-carts/6/checkout', {})
  ]
  const line = { id: 4, status: 'placed', total: '10.50', invoiced: '10.50', quantity: 2, unit_price: '5.25' }
  const cart = { id: 6, order_number: 'O-1', order_id: 4, wanted: 2, ordered: 2 }
  const good = {
    ur_audit_entries: [entry('products/1', 'adjust-variant-stock', 'r-2')],
    product_variants: [{ id: 3, sku: 'stock-1', stock: 105 }],
    order_lines: [{ variant_id: 3, taken: 2 }],
    orders: [line],
    shopping_carts: [cart]
  }

  it('accepts what adds up', async () => {
    expect(await violationsOf(new StockAddsUp(), story, good)).to.deep.equal([])
  })

  const cancel = act('PUT /orders/4/cancel', {})
  const refused = act('PUT /products/1/adjust-variant-stock', { variantId: 3, delta: 7 }, { status: 412 })
  const bad: readonly (readonly [string, readonly Written[], object, RegExp])[] = [
    ['stock that is lost', story, { product_variants: [{ id: 3, sku: 'stock-1', stock: 104 }] }, /should be 105/],
    ['an adjustment that did not happen', story, { ur_audit_entries: [] }, /has 0 audit entries/],
    [
      'an adjustment that happened twice',
      story,
      { ur_audit_entries: [...good.ur_audit_entries, ...good.ur_audit_entries] },
      /has 2 audit/
    ],
    [
      'a rejected one that happened',
      [...story, refused],
      { ur_audit_entries: [...good.ur_audit_entries, entry('products/1', 'adjust-variant-stock', 'r-6')] },
      /was rejected/
    ],
    ['an order without lines', story, { orders: [{ ...line, quantity: null, unit_price: null }] }, /has no lines/],
    [
      'a cart that is checked out under two keys',
      [...story, act('PUT /shopping-carts/6/checkout', {}, { headers: { 'idempotency-key': 'k-2' } })],
      {},
      /checked out by r-5, and again by r-6/
    ],
    [
      'a second checkout that nobody was told of',
      story,
      {
        ur_audit_entries: [
          ...good.ur_audit_entries,
          entry('shopping-carts/6', 'checkout', 'r-5'),
          entry('shopping-carts/6', 'checkout', 'r-9')
        ]
      },
      /2 audit entries of a checkout/
    ],
    ['an order of another sum', story, { orders: [{ ...line, total: '10.00' }] }, /its lines to 1050/],
    ['an invoice of another sum', story, { orders: [{ ...line, invoiced: '9.99' }] }, /invoice of order 4/],
    ['an order that is cancelled no more', [...story, cancel], {}, /was cancelled and is placed/],
    ['a cancelled order that is gone', [...story, cancel], { orders: [] }, /is gone/],
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
})
