import {
  bool,
  dateTime,
  defineEntity,
  example,
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
  unique,
  writableBy
} from 'uniform-rest'

const address = {
  line1: example(text(200), '1 Harbour Street'),
  city: example(text(200), 'Arlington'),
  postalCode: example(text(40), '22201'),
  country: example(text(64), 'US')
}

export const customers = defineEntity({
  name: 'customers',
  description: 'People who buy, with their addresses.',
  group: 'Sales',

  fields: {
    id: readOnly(int()),
    name: example(text(200), 'Grace Hopper'),
    email: example(unique(text(254, 3)), 'grace@example.com'),
    phone: writableBy('customers:contact', example(optional(text(40)), '+1 202 555 0100')),
    isSuspended: example(readOnly(bool()), false),
    createdAt: readOnly(dateTime()),
    /** For those who write invoices: neither the customer nor a clerk knows of it, and a clerk's PUT keeps it. */
    creditLimit: readableBy('invoices:manage', example(optional(money(12, 2)), '500.00')),
    riskNote: hidden(optional(freeText()))
  },

  history: true,
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
    write: permission('customers:manage'),
    // Who manages customers sees all of them in lists, and by id none but their own.
    writesUnseen: true
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
