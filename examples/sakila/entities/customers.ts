import {
  bool,
  column,
  dateTime,
  defaultTo,
  defineEntity,
  generated,
  optional,
  permission,
  readOnly,
  smallInt,
  text,
  timestamp,
  tinyInt,
  unsigned
} from 'uniform-rest'
import { rentals } from './rentals.js'

export const customers = defineEntity({
  name: 'customers',
  table: 'customer',
  description: 'Rows of the table customer.',
  fields: {
    id: column('customer_id', readOnly(unsigned(smallInt()))),
    storeId: unsigned(tinyInt()),
    firstName: text(45, 0),
    lastName: text(45, 0),
    email: optional(text(50, 0)),
    addressId: unsigned(smallInt()),
    active: defaultTo(bool(), true),
    createDate: generated(dateTime({ precision: 0 })),
    lastUpdate: generated(optional(timestamp({ precision: 0 })))
  },
  label: 'lastName',
  filterable: ['id', 'storeId', 'firstName', 'lastName', 'email', 'addressId', 'active', 'createDate', 'lastUpdate'],
  sortable: ['id', 'storeId', 'lastName', 'addressId'],
  references: {
    address: { to: 'addresses', via: 'addressId' },
    store: { to: 'stores', via: 'storeId' }
  },
  children: { rentals: { entity: rentals, foreignKey: 'customerId' } },
  access: { read: permission('customers:read'), write: permission('customers:write') },
  writes: ['create', 'update', 'delete']
})
