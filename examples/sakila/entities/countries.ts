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

export const countries = defineEntity({
  name: 'countries',
  table: 'country',
  description: 'Rows of the table country.',
  rowVersion: 'none',
  fields: {
    id: column('country_id', readOnly(unsigned(smallInt()))),
    country: text(50, 0),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'country',
  filterable: ['id', 'country', 'lastUpdate'],
  sortable: ['id'],
  access: { read: permission('countries:read') }
})
