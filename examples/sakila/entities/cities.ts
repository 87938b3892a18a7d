import {
  column,
  defineEntity,
  generated,
  permission,
  readOnly,
  smallInt,
  text,
  timestamp,
  unsigned
} from 'uniform-rest'

export const cities = defineEntity({
  name: 'cities',
  table: 'city',
  description: 'Rows of the table city.',
  rowVersion: 'none',
  fields: {
    id: column('city_id', readOnly(unsigned(smallInt()))),
    city: text(50, 0),
    countryId: unsigned(smallInt()),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'city',
  filterable: ['id', 'city', 'countryId', 'lastUpdate'],
  sortable: ['id', 'countryId'],
  references: {
    country: { to: 'countries', via: 'countryId' }
  },
  access: { read: permission('cities:read') }
})
