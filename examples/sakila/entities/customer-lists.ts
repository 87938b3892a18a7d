import { column, defineEntity, onCreate, optional, permission, smallInt, text, tinyInt, unsigned } from 'uniform-rest'

export const customerLists = defineEntity({
  name: 'customer-list',
  table: 'customer_list',
  description: 'Rows of the view customer_list.',
  rowVersion: 'none',
  fields: {
    id: column('ID', onCreate(unsigned(smallInt()))),
    name: optional(text(91, 0)),
    address: text(50, 0),
    zipCode: column('zip code', optional(text(10, 0))),
    phone: text(20, 0),
    city: text(50, 0),
    country: text(50, 0),
    notes: text(6, 0),
    storeId: column('SID', unsigned(tinyInt()))
  },
  label: 'address',
  filterable: ['id', 'name', 'address', 'zipCode', 'phone', 'city', 'country', 'notes', 'storeId'],
  sortable: ['id'],
  access: { read: permission('customer-lists:read') }
})
