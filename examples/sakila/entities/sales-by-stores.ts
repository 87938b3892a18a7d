import { column, decimal, defineEntity, onCreate, optional, permission, text } from 'uniform-rest'

export const salesByStores = defineEntity({
  name: 'sales-by-store',
  table: 'sales_by_store',
  description: 'Rows of the view sales_by_store.',
  rowVersion: 'none',
  fields: {
    id: column('store', onCreate(text(101, 0))),
    manager: optional(text(91, 0)),
    totalSales: optional(decimal(27, 2))
  },
  label: 'id',
  filterable: ['id', 'manager', 'totalSales'],
  sortable: ['id'],
  access: { read: permission('sales-by-stores:read') }
})
