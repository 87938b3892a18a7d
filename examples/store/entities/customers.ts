import {
  bool,
  dateTime,
  defineEntity,
  freeText,
  hidden,
  int,
  money,
  optional,
  ownRows,
  permission,
  readableBy,
  readOnly,
  reject,
  text,
  unique
} from 'uniform-rest'

const address = { line1: text(200), city: text(200), postalCode: text(40), country: text(64) }

export const customers = defineEntity({
  name: 'customers',
  description: 'People who buy, with their addresses.',

  fields: {
    id: readOnly(int()),
    name: text(200),
    email: unique(text(254, 3)),
    phone: optional(text(40)),
    isSuspended: readOnly(bool()),
    createdAt: readOnly(dateTime()),
    /** For those who write invoices: neither the customer nor a clerk knows of it, and a clerk's PUT keeps it. */
    creditLimit: readableBy('invoices:manage', optional(money(12, 2))),
    riskNote: hidden(optional(freeText()))
  },

  label: 'name',
  filterable: ['id', 'name', 'email', 'phone', 'isSuspended', 'createdAt', 'creditLimit'],
  sortable: ['id', 'name', 'email', 'phone', 'isSuspended', 'createdAt'],
  searchable: ['name', 'email', 'phone'],

  children: {
    addresses: { table: 'customer_addresses', foreignKey: 'customerId', fields: { id: readOnly(int()), ...address } }
  },

  access: {
    read: permission('customers:manage'),
    // A customer reads the one row that is theirs, and the id of the route is the owner: another's is 403.
    reads: { get: ownRows('id') },
    ownerFilter: { property: 'id', on: ['get'] },
    write: permission('customers:manage')
  },
  writes: ['create', 'update', 'delete'],
  creates: {
    children: { addresses: { min: 0 } },
    prepare: ({ now }) => ({ values: { isSuspended: false, createdAt: now } })
  },

  actions: (action) => ({
    'change-address': action({
      description: 'Replaces the address named by addressId, or adds one where none is named.',
      input: { addressId: optional(int()), ...address },
      loads: ['addresses'],
      change({ children, input: { addressId, ...set } }) {
        if (addressId === null) return { children: { addresses: { insert: [set] } } }
        if (!children.addresses.some(({ id }) => id === addressId)) {
          return reject.input('/addressId', 'The customer has no such address.')
        }
        return { children: { addresses: { update: [{ id: addressId, set }] } } }
      }
    }),
    suspend: action({
      description: 'Bars the customer from buying. Returns stay possible.',
      when: { isSuspended: [false] },
      becomes: { isSuspended: true }
    }),
    reinstate: action({
      description: 'Lifts a suspension.',
      when: { isSuspended: [true] },
      becomes: { isSuspended: false }
    })
  })
})
