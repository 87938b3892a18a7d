import {
  dateTime,
  defineEntity,
  example,
  fitsDigits,
  freeText,
  int,
  money,
  onCreate,
  oneOf,
  optional,
  ownRows,
  readableBy,
  readOnly,
  reject,
  text,
  textOf,
  unique
} from 'uniform-rest'
import { orderPlaced, placedOrder, putBack, sale, tooManyVariants } from './order-parts.js'
import { suspendedCustomer } from './shop-rules.js'

export const orders = defineEntity({
  name: 'orders',
  description: 'What a customer bought, with its lines.',
  group: 'Sales',

  fields: {
    id: readOnly(int()),
    number: example(readOnly(unique(text(64))), 'O-0000001'),
    customerId: onCreate(int()),
    status: readOnly(oneOf(['placed', 'paid', 'shipped', 'delivered', 'cancelled'])),
    total: example(readOnly(money(12, 2)), '43.80'),
    placedAt: readOnly(dateTime()),
    paidAt: readOnly(optional(dateTime())),
    deliveredAt: readOnly(optional(dateTime())),
    trackingCode: example(optional(text(64)), 'TRK12735853')
  },

  history: true,
  label: 'number',
  filterable: ['id', 'number', 'customerId', 'status', 'total', 'placedAt', 'paidAt', 'deliveredAt', 'trackingCode'],
  sortable: ['id', 'number', 'customerId', 'status', 'total', 'placedAt', 'paidAt', 'deliveredAt', 'trackingCode'],
  searchable: ['number', 'trackingCode'],
  totals: {
    dimensions: ['status', 'customerId', 'placedAt.year', 'placedAt.month', 'placedAt.day'],
    measures: { count: true, sum: ['total'], average: ['total'], min: ['total'], max: ['total'] }
  },

  references: {
    customer: { to: 'customers', via: 'customerId' }
  },
  children: {
    lines: {
      table: 'order_lines',
      foreignKey: 'orderId',
      fields: {
        id: readOnly(int()),
        productId: int(),
        variantId: optional(int()),
        quantity: int({ min: 1, max: 10_000 }),
        unitPrice: readOnly(money(10, 2)),
        /** The cost of the product when it was ordered: for the staff alone. */
        unitCost: readableBy('orders:manage', readOnly(optional(money(10, 2))))
      },
      references: { product: { to: 'products', via: 'productId' } }
    }
  },

  access: { read: ownRows('customerId'), write: ownRows('customerId') },
  writes: ['create', 'delete'],
  creates: {
    children: { lines: { min: 1 } },
    async prepare({ input: { customerId }, children, now, newCode, ...tools }) {
      const suspended = await suspendedCustomer(customerId, tools.findByIds, 'an order')
      if (suspended !== undefined) return suspended
      const tooMany = tooManyVariants(children.lines)
      if (tooMany !== undefined) return reject.input('/lines', tooMany)
      const sold = await sale(children.lines, tools)
      if ('rejection' in sold) return sold
      const order = placedOrder(sold.lines, { percentOff: 0, now, newCode })
      if (fitsDigits(order.values.total, 12)) return { ...order, update: sold.update }
      return reject.input('/lines', `The lines add up to ${order.values.total}, more than an order holds.`)
    }
  },

  // What a customer has paid for stays on record. A cancelled order has put its stock back before.
  deletes: {
    when: { status: ['placed', 'cancelled'] },
    rule: ({ root: { status }, children: { lines }, ...tools }) => (status === 'placed' ? putBack(lines, tools) : {})
  },

  // placed → paid → shipped → delivered; cancelled from placed or paid, without an invoice that is issued. An order takes
  // the stock of its variants when it is placed, and puts it back when it is cancelled.
  actions: (action) => ({
    pay: action({
      description: 'Marks the order as paid.',
      when: { status: ['placed'] },
      becomes: { status: 'paid' },
      effect: ({ now }) => ({ set: { paidAt: now } })
    }),
    ship: action({
      description: 'Hands the order to a carrier.',
      permission: 'orders:manage',
      when: { status: ['paid'] },
      becomes: { status: 'shipped' },
      input: { trackingCode: text(64) },
      effect: ({ input }) => ({ set: { trackingCode: input.trackingCode } })
    }),
    'update-shipment': action({
      description: 'Corrects the tracking code of an order on its way.',
      permission: 'orders:manage',
      when: { status: ['shipped'] },
      input: { trackingCode: text(64) },
      effect: ({ input }) => ({ set: { trackingCode: input.trackingCode } })
    }),
    deliver: action({
      description: 'Marks the order as delivered.',
      permission: 'orders:manage',
      when: { status: ['shipped'] },
      becomes: { status: 'delivered' },
      effect: ({ now }) => ({ set: { deliveredAt: now } })
    }),
    cancel: action({
      description: 'Calls the order off; it has not been shipped yet.',
      when: { status: ['placed', 'paid'] },
      becomes: { status: 'cancelled' },
      input: { reason: example(optional(freeText()), 'Ordered twice.') },
      loads: ['lines'],
      async change({ root: { id }, children: { lines }, findByUnique, ...tools }) {
        const invoice = await findByUnique('invoices', 'orderId', id)
        if (invoice?.['status'] === 'issued') {
          const number = textOf(invoice, 'number')
          return reject.state(`The invoice ${number} of the order is issued; cancel needs it to be void.`)
        }
        return putBack(lines, tools)
      }
    })
  }),

  // An order of a cart that was checked out is created by a rule of the cart, and emits the same.
  hooks: ({ emit }) => [
    emit(orderPlaced, {
      on: ['create'],
      payload: ({ after: { number, customerId, total } }) => ({ number, customerId, total })
    })
  ]
})
