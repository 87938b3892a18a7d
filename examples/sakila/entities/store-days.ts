import {
  date,
  decimal,
  defaultTo,
  defineEntity,
  onCreate,
  optional,
  permission,
  text,
  time,
  tinyInt,
  unsigned
} from 'uniform-rest'

export const storeDays = defineEntity({
  name: 'store-days',
  table: 'store_day',
  description: 'Rows of the table store_day.',
  key: ['storeId', 'businessDate'],
  fields: {
    storeId: onCreate(unsigned(tinyInt())),
    businessDate: onCreate(date()),
    openedAt: time({ precision: 0 }),
    closedAt: optional(time({ precision: 0 })),
    cash: defaultTo(decimal(8, 2), '0.00'),
    remarks: optional(text(200, 0))
  },
  label: 'storeId',
  filterable: ['storeId', 'businessDate', 'openedAt', 'closedAt', 'cash', 'remarks'],
  sortable: ['storeId'],
  references: {
    store: { to: 'stores', via: 'storeId' }
  },
  access: { read: permission('store-days:read'), write: permission('store-days:write') },
  writes: ['create', 'update', 'delete']
})
