import { column, defineEntity, onCreate, optional, permission, text, tinyInt, unsigned } from 'uniform-rest'

export const staffLists = defineEntity({
  name: 'staff-list',
  table: 'staff_list',
  description: 'Rows of the view staff_list.',
  rowVersion: 'none',
  fields: {
    id: column('ID', onCreate(unsigned(tinyInt()))),
    name: optional(text(91, 0)),
    address: text(50, 0),
    zipCode: column('zip code', optional(text(10, 0))),
    phone: text(20, 0),
    city: text(50, 0),
    country: text(50, 0),
    storeId: column('SID', unsigned(tinyInt()))
  },
  label: 'address',
  filterable: ['id', 'name', 'address', 'zipCode', 'phone', 'city', 'country', 'storeId'],
  sortable: ['id'],
  access: { read: permission('staff-lists:read') }
})
