import { column, decimal, defineEntity, onCreate, optional, permission, text } from 'uniform-rest'

// The column `total_sales` (decimal(27,2)) is left out: a decimal of an entity file has at most 18 digits.
export const salesByStores = defineEntity({
  name: 'sales-by-store',
  table: 'sales_by_store',
  description: 'Rows of the view sales_by_store.',
  rowVersion: 'none',
  fields: {
    id: column('store', onCreate(text(101, 0))),
    manager: optional(text(91, 0)),
    totalSales: optional(decimal(18, 2))
  },
  label: 'id',
  filterable: ['id', 'manager'],
  sortable: ['id'],
  access: { read: permission('sales-by-stores:read') }
})
