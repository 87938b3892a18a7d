import {
  dateTime,
  defineEntity,
  example,
  freeText,
  hidden,
  type InputRejection,
  int,
  intOf,
  type NamedValues,
  onCreate,
  oneOf,
  optional,
  ownRows,
  readOnly,
  reject
} from 'uniform-rest'
import { customerOrder, putBack } from './order-parts.js'

/** What goes back: a product as it was ordered, or one of its variants. */
interface ReturnLine {
  readonly productId: number
  readonly variantId: number | null
  readonly quantity: number
}

/** Rejects lines that are not in the order, or that are more together than is left of it besides what came back. */
function notInOrder(
  lines: readonly ReturnLine[],
  { ordered, returned }: { readonly ordered: readonly NamedValues[]; readonly returned: readonly NamedValues[] }
): InputRejection | undefined {
  const left = new Map<string, number>()
  const add = (line: NamedValues, sign: 1 | -1): void => {
    const key = keyOf(intOf(line, 'productId'), intOf(line, 'variantId'))
    left.set(key, (left.get(key) ?? 0) + sign * (intOf(line, 'quantity') ?? 0))
  }
  for (const line of ordered) add(line, 1)
  for (const line of returned) add(line, -1)
  for (const [index, { productId, variantId, quantity }] of lines.entries()) {
    const key = keyOf(productId, variantId)
    const held = left.get(key)
    if (held === undefined) {
      const at = `lines/${index}/productId`
      return reject.input(`/${at}`, `${at} must be in a line of the order, with the same variantId.`)
    }
    if (quantity > held) {
      const at = `lines/${index}/quantity`
      const why = 'the order holds no more besides the lines above and its other returns.'
      return reject.input(`/${at}`, `${at} must be at most ${Math.max(held, 0)}: ${why}`)
    }
    left.set(key, held - quantity)
  }
  return undefined
}

function keyOf(productId: number | null, variantId: number | null): string {
  return `${String(productId)} ${String(variantId)}`
}

export const returns = defineEntity({
  name: 'returns',
  description: 'What a customer sends back of an order, with its lines.',
  group: 'Sales',

  fields: {
    id: readOnly(int()),
    orderId: example(onCreate(int()), 4),
    customerId: example(onCreate(int()), 59),
    reason: example(freeText(), 'It is larger than it looked.'),
    status: readOnly(oneOf(['requested', 'approved', 'received', 'refunded', 'rejected'])),
    requestedAt: readOnly(dateTime()),
    rejectReason: hidden(optional(freeText()))
  },

  label: 'status',
  filterable: ['id', 'orderId', 'customerId', 'reason', 'status', 'requestedAt'],
  sortable: ['id', 'orderId', 'customerId', 'status', 'requestedAt'],
  searchable: ['reason'],

  references: {
    order: { to: 'orders', via: 'orderId' },
    customer: { to: 'customers', via: 'customerId' }
  },
  children: {
    lines: {
      table: 'return_lines',
      foreignKey: 'returnId',
      fields: {
        id: readOnly(int()),
        productId: example(int(), 38),
        variantId: example(optional(int()), 114),
        quantity: int({ min: 1, max: 10_000 })
      },
      references: { product: { to: 'products', via: 'productId' } }
    }
  },

  access: { read: ownRows('customerId'), write: ownRows('customerId') },
  writes: ['create', 'delete'],
  creates: {
    children: { lines: { min: 1 } },
    // Of an order of the customer's own that was delivered, and with its other returns no more than it holds.
    async prepare({ input, children, getAggregate, findReferencing, now }) {
      const found = await customerOrder(input, getAggregate)
      if ('rejection' in found) return found
      const status = String(found.order['status'])
      if (status !== 'delivered') return reject.state(`The order is ${status}; a return needs it to be delivered.`)
      const others = await findReferencing('returns', 'orderId', input.orderId)
      const returned = others
        .filter(({ root }) => root['status'] !== 'rejected')
        .flatMap(({ children: { lines = [] } }) => lines)
      return (
        notInOrder(children.lines, { ordered: found.lines, returned }) ?? {
          values: { status: 'requested', requestedAt: now }
        }
      )
    }
  },

  // Once the store has agreed to take goods back, the return says where they are.
  deletes: { when: { status: ['requested', 'rejected'] } },

  // requested → approved → received → refunded; rejected from requested.
  actions: (action) => ({
    approve: action({
      description: 'Lets the customer send it back.',
      permission: 'returns:manage',
      when: { status: ['requested'] },
      becomes: { status: 'approved' }
    }),
    reject: action({
      description: 'Turns the return down.',
      permission: 'returns:manage',
      when: { status: ['requested'] },
      becomes: { status: 'rejected' },
      input: { reason: example(freeText(), 'The return came after 30 days.') },
      effect: ({ input: { reason } }) => ({ set: { rejectReason: reason } })
    }),
    receive: action({
      description: 'Marks what was sent back as arrived, and puts it back into stock.',
      permission: 'returns:manage',
      when: { status: ['approved'] },
      becomes: { status: 'received' },
      loads: ['lines'],
      change: ({ children: { lines }, ...tools }) => putBack(lines, tools)
    }),
    refund: action({
      description: 'Marks the customer as paid back.',
      permission: 'returns:manage',
      when: { status: ['received'] },
      becomes: { status: 'refunded' }
    })
  })
})
