import {
  binary,
  bool,
  column,
  defaultTo,
  defineEntity,
  generated,
  hidden,
  optional,
  permission,
  readOnly,
  smallInt,
  text,
  timestamp,
  tinyInt,
  unsigned
} from 'uniform-rest'

// `password` is hidden, since its name says that it is a secret.
export const staff = defineEntity({
  name: 'staff',
  description: 'Rows of the table staff.',
  rowVersion: 'none',
  fields: {
    id: column('staff_id', readOnly(unsigned(tinyInt()))),
    firstName: text(45, 0),
    lastName: text(45, 0),
    addressId: unsigned(smallInt()),
    picture: optional(binary(65535)),
    email: optional(text(50, 0)),
    storeId: unsigned(tinyInt()),
    active: defaultTo(bool(), true),
    username: text(16, 0),
    password: hidden(optional(text(40, 0))),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'lastName',
  filterable: ['id', 'firstName', 'lastName', 'addressId', 'email', 'storeId', 'active', 'username', 'lastUpdate'],
  sortable: ['id', 'addressId', 'storeId'],
  references: {
    address: { to: 'addresses', via: 'addressId' },
    store: { to: 'stores', via: 'storeId' }
  },
  access: { read: permission('staff:read') }
})
