import {
  bool,
  column,
  date,
  decimal,
  defaultTo,
  defineEntity,
  generated,
  onCreate,
  optional,
  permission,
  smallInt,
  text,
  timestamp,
  unsigned
} from 'uniform-rest'

export const vouchers = defineEntity({
  name: 'vouchers',
  table: 'voucher',
  description: 'Rows of the table voucher.',
  fields: {
    id: column('code', onCreate(text(12, 0))),
    customerId: optional(unsigned(smallInt())),
    amount: decimal(5, 2),
    validFrom: date(),
    validUntil: optional(date()),
    isRedeemed: defaultTo(bool(), false),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'id',
  filterable: ['id', 'customerId', 'amount', 'validFrom', 'validUntil', 'isRedeemed', 'lastUpdate'],
  sortable: ['id', 'customerId'],
  references: {
    customer: { to: 'customers', via: 'customerId' }
  },
  access: { read: permission('vouchers:read'), write: permission('vouchers:write') },
  writes: ['create', 'update', 'delete']
})
