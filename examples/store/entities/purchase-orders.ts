import {
  dateTime,
  defineEntity,
  example,
  freeText,
  hidden,
  int,
  onCreate,
  oneOf,
  optional,
  permission,
  preset,
  readOnly,
  reject,
  text,
  textOf
} from 'uniform-rest'

export const purchaseOrders = defineEntity({
  name: 'purchase-orders',
  description: 'What the store orders of a supplier, with its lines.',
  group: 'Stock',

  fields: {
    id: readOnly(int()),
    supplierId: onCreate(int()),
    status: readOnly(oneOf(['draft', 'submitted', 'received', 'cancelled'])),
    expectedAt: optional(dateTime()),
    requestedBy: preset(example(text(255), 'clerk@example.com'), ({ caller }) => caller.subject),
    cancelReason: hidden(optional(freeText()))
  },

  label: 'status',
  filterable: ['id', 'supplierId', 'status', 'expectedAt', 'requestedBy'],
  sortable: ['id', 'supplierId', 'status', 'expectedAt', 'requestedBy'],

  references: {
    supplier: { to: 'suppliers', via: 'supplierId' }
  },
  children: {
    lines: {
      table: 'purchase_order_lines',
      foreignKey: 'purchaseOrderId',
      fields: {
        id: readOnly(int()),
        productId: int(),
        quantity: int({ min: 1, max: 10_000 }),
        receivedQuantity: readOnly(int())
      },
      references: { product: { to: 'products', via: 'productId' } }
    }
  },

  access: { read: permission('suppliers:manage'), write: permission('suppliers:manage') },
  writes: ['create', 'delete'],
  creates: {
    children: { lines: { min: 1 } },
    prepare: ({ children }) => ({
      values: { status: 'draft' },
      children: { lines: children.lines.map((line) => ({ ...line, receivedQuantity: 0 })) }
    })
  },

  // What a supplier was sent stays, unless it was called off.
  deletes: { when: { status: ['draft', 'cancelled'] } },

  // draft → submitted → received, which it is once every line is; cancelled from draft, and from submitted while
  // nothing has been received.
  actions: (action) => ({
    submit: action({
      description: 'Sends the order to the supplier.',
      when: { status: ['draft'] },
      becomes: { status: 'submitted' }
    }),
    'receive-line': action({
      description: 'Books what has arrived of a line; with the last of the last line the order is received.',
      when: { status: ['submitted'] },
      becomes: { status: ['submitted', 'received'] },
      input: { lineId: example(int(), 13), quantity: int({ min: 1, max: 10_000 }) },
      loads: ['lines'],
      change({ children, input: { lineId, quantity } }) {
        const line = children.lines.find(({ id }) => id === lineId)
        if (line === undefined) return reject.input('/lineId', 'lineId must be a line of the purchase order.')
        const open = line.quantity - line.receivedQuantity
        if (quantity > open) return reject.state(`The line waits for ${open}; ${quantity} is more than that.`)
        const others = children.lines.filter((one) => one !== line)
        const complete = quantity === open && others.every((one) => one.receivedQuantity === one.quantity)
        return {
          set: complete ? { status: 'received' } : {},
          children: { lines: { update: [{ id: lineId, set: { receivedQuantity: line.receivedQuantity + quantity } }] } }
        }
      }
    }),
    cancel: action({
      description: 'Calls the order off; nothing of it has arrived yet.',
      when: { status: ['draft', 'submitted'] },
      becomes: { status: 'cancelled' },
      input: { reason: example(optional(freeText()), 'The supplier has none left.') },
      loads: ['lines'],
      change: ({ children, input: { reason } }) =>
        children.lines.some(({ receivedQuantity }) => receivedQuantity > 0)
          ? reject.state('Some of the order has arrived; cancel needs it to be without receipts.')
          : { set: { cancelReason: reason } }
    })
  }),

  // Nothing is bought from a supplier with whom business has ended. `submit` is an effect and reads no row by itself.
  hooks: ({ beforeCommit }) => [
    beforeCommit({
      on: ['create', 'submit'],
      async run({ after: { supplierId }, findByIds }) {
        const supplier = (await findByIds('suppliers', [supplierId])).get(supplierId)
        if (supplier?.['isActive'] !== false) return undefined
        return reject.state(`${textOf(supplier, 'name')} is not active; a purchase order needs an active supplier.`)
      }
    })
  ]
})
