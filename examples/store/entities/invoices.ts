import {
  dateTime,
  defineEntity,
  example,
  int,
  money,
  onCreate,
  oneOf,
  optional,
  ownRows,
  permission,
  readOnly,
  reject,
  type StateRejection,
  text,
  textOf,
  unique
} from 'uniform-rest'
import { customerOrder } from './order-parts.js'

export const invoices = defineEntity({
  name: 'invoices',
  description: 'What a customer owes for an order, one invoice for each.',
  group: 'Sales',

  fields: {
    id: readOnly(int()),
    orderId: example(onCreate(unique(int())), 4),
    customerId: example(onCreate(int()), 59),
    number: example(readOnly(unique(text(64))), 'I-0000004'),
    total: example(readOnly(money(12, 2)), '940.44'),
    status: readOnly(oneOf(['draft', 'issued', 'void'])),
    issuedAt: readOnly(optional(dateTime()))
  },

  label: 'number',
  filterable: ['id', 'orderId', 'customerId', 'number', 'total', 'status', 'issuedAt'],
  sortable: ['id', 'orderId', 'customerId', 'number', 'total', 'status', 'issuedAt'],
  searchable: ['number'],
  totals: { dimensions: ['status'], measures: { count: true, sum: ['total'] } },

  references: {
    order: { to: 'orders', via: 'orderId' },
    customer: { to: 'customers', via: 'customerId' }
  },

  access: { read: ownRows('customerId'), write: permission('invoices:manage') },
  writes: ['create', 'delete'],
  creates: {
    // Number and total are the order's; a cancelled order is not invoiced.
    async prepare({ input, getAggregate }) {
      const found = await customerOrder(input, getAggregate)
      if ('rejection' in found) return found
      const { order } = found
      if (order['status'] === 'cancelled') return nothingToInvoice()
      // `O-0001` becomes `I-0001`, which is as unique and as long.
      return {
        values: { number: `I${textOf(order, 'number').slice(1)}`, total: textOf(order, 'total'), status: 'draft' }
      }
    }
  },

  // An invoice that was sent out is taken back by `void`, and stays in the books.
  deletes: { when: { status: ['draft'] } },

  // draft → issued → void; a draft may be voided as well. What is issued is of an order that stands.
  actions: (action) => ({
    issue: action({
      description: 'Sends the invoice out.',
      when: { status: ['draft'] },
      becomes: { status: 'issued' },
      async change({ root: { orderId }, findByIds, now }) {
        const order = (await findByIds('orders', [orderId])).get(orderId)
        if (order?.['status'] === 'cancelled') return nothingToInvoice()
        return { set: { issuedAt: now } }
      }
    }),
    void: action({
      description: 'Takes the invoice back for good.',
      when: { status: ['draft', 'issued'] },
      becomes: { status: 'void' }
    })
  })
})

function nothingToInvoice(): StateRejection {
  return reject.state('The order is cancelled; there is nothing to invoice.')
}
