import {
  column,
  dateTime,
  decimal,
  defineEntity,
  generated,
  int,
  optional,
  ownRows,
  readOnly,
  smallInt,
  timestamp,
  tinyInt,
  unsigned
} from 'uniform-rest'

export const payments = defineEntity({
  name: 'payments',
  table: 'payment',
  description: 'Rows of the table payment.',
  rowVersion: 'none',
  fields: {
    id: column('payment_id', readOnly(unsigned(smallInt()))),
    customerId: unsigned(smallInt()),
    staffId: unsigned(tinyInt()),
    rentalId: optional(int()),
    amount: decimal(5, 2),
    paymentDate: generated(dateTime({ precision: 0 })),
    lastUpdate: generated(optional(timestamp({ precision: 0 })))
  },
  label: 'id',
  filterable: ['id', 'customerId', 'staffId', 'rentalId', 'amount', 'paymentDate', 'lastUpdate'],
  sortable: ['id', 'customerId', 'staffId', 'rentalId'],
  references: {
    customer: { to: 'customers', via: 'customerId' },
    rental: { to: 'rentals', via: 'rentalId' },
    staff: { to: 'staff', via: 'staffId' }
  },
  access: { read: ownRows('customerId') }
})
