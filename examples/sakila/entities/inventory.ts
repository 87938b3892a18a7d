import {
  column,
  defineEntity,
  generated,
  mediumInt,
  permission,
  readOnly,
  smallInt,
  timestamp,
  tinyInt,
  unsigned
} from 'uniform-rest'

export const inventory = defineEntity({
  name: 'inventory',
  description: 'Rows of the table inventory.',
  rowVersion: 'none',
  fields: {
    id: column('inventory_id', readOnly(unsigned(mediumInt()))),
    filmId: unsigned(smallInt()),
    storeId: unsigned(tinyInt()),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'id',
  filterable: ['id', 'filmId', 'storeId', 'lastUpdate'],
  sortable: ['id', 'filmId', 'storeId'],
  references: {
    film: { to: 'films', via: 'filmId' },
    store: { to: 'stores', via: 'storeId' }
  },
  access: { read: permission('inventory:read') }
})
