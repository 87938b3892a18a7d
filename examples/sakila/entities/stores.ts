import {
  column,
  defineEntity,
  generated,
  permission,
  readOnly,
  smallInt,
  timestamp,
  tinyInt,
  unique,
  unsigned
} from 'uniform-rest'

export const stores = defineEntity({
  name: 'stores',
  table: 'store',
  description: 'Rows of the table store.',
  rowVersion: 'none',
  fields: {
    id: column('store_id', readOnly(unsigned(tinyInt()))),
    managerStaffId: unique(unsigned(tinyInt())),
    addressId: unsigned(smallInt()),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'id',
  filterable: ['id', 'managerStaffId', 'addressId', 'lastUpdate'],
  sortable: ['id', 'managerStaffId', 'addressId'],
  references: {
    address: { to: 'addresses', via: 'addressId' },
    managerStaff: { to: 'staff', via: 'managerStaffId' }
  },
  access: { read: permission('stores:read') }
})
