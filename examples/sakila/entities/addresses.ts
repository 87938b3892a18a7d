import {
  column,
  defineEntity,
  generated,
  optional,
  permission,
  readOnly,
  smallInt,
  text,
  timestamp,
  unsigned
} from 'uniform-rest'

// The column `location` (geometry) is left out: a place or shape has no JSON form here; make a view that shows it as
// text or numbers, by ST_AsText(…), ST_X(…) and ST_Y(…).
export const addresses = defineEntity({
  name: 'addresses',
  table: 'address',
  description: 'Rows of the table address.',
  rowVersion: 'none',
  fields: {
    id: column('address_id', readOnly(unsigned(smallInt()))),
    address: text(50, 0),
    address2: optional(text(50, 0)),
    district: text(20, 0),
    cityId: unsigned(smallInt()),
    postalCode: optional(text(10, 0)),
    phone: text(20, 0),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'address',
  filterable: ['id', 'address', 'address2', 'district', 'cityId', 'postalCode', 'phone', 'lastUpdate'],
  sortable: ['id', 'cityId'],
  references: {
    city: { to: 'cities', via: 'cityId' }
  },
  access: { read: permission('addresses:read') }
})
