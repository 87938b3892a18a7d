import {
  column,
  dateTime,
  defineEntity,
  int,
  json,
  long,
  oneOf,
  optional,
  permission,
  readOnly,
  unsigned
} from 'uniform-rest'

export const rentalEvents = defineEntity({
  name: 'rental-events',
  table: 'rental_event',
  description: 'Rows of the table rental_event.',
  fields: {
    id: column('rental_event_id', readOnly(unsigned(long()))),
    rentalId: int(),
    kind: oneOf(['reserved', 'picked up', 'reminded', 'returned', 'damaged']),
    happenedAt: dateTime({ precision: 6 }),
    detail: optional(json())
  },
  label: 'id',
  filterable: ['id', 'rentalId', 'kind', 'happenedAt'],
  sortable: ['id', 'rentalId'],
  references: {
    rental: { to: 'rentals', via: 'rentalId' }
  },
  access: { read: permission('rental-events:read'), write: permission('rental-events:write') },
  writes: ['create', 'update', 'delete']
})
