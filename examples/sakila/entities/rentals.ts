import {
  column,
  dateTime,
  defineEntity,
  generated,
  int,
  mediumInt,
  optional,
  ownRows,
  permission,
  readOnly,
  smallInt,
  timestamp,
  tinyInt,
  unsigned
} from 'uniform-rest'

// Rows of rental-events (rentalId) are deleted with the row that they refer to: they could be `children` of this entity
// in place of a resource of their own (docs/adding-an-entity.md).
export const rentals = defineEntity({
  name: 'rentals',
  table: 'rental',
  description: 'Rows of the table rental.',
  fields: {
    id: column('rental_id', readOnly(int())),
    rentalDate: generated(dateTime({ precision: 0 })),
    inventoryId: unsigned(mediumInt()),
    customerId: unsigned(smallInt()),
    returnDate: optional(dateTime({ precision: 0 })),
    staffId: unsigned(tinyInt()),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'id',
  filterable: ['id', 'rentalDate', 'inventoryId', 'customerId', 'returnDate', 'staffId', 'lastUpdate'],
  sortable: ['id', 'rentalDate', 'inventoryId', 'customerId', 'staffId'],
  references: {
    customer: { to: 'customers', via: 'customerId' },
    inventory: { to: 'inventory', via: 'inventoryId' },
    staff: { to: 'staff', via: 'staffId' }
  },
  access: { read: ownRows('customerId'), write: permission('rentals:write') },
  writes: ['create', 'update', 'delete']
})
