import { column, decimal, defineEntity, onCreate, optional, permission, text } from 'uniform-rest'

export const salesByFilmCategories = defineEntity({
  name: 'sales-by-film-category',
  table: 'sales_by_film_category',
  description: 'Rows of the view sales_by_film_category.',
  rowVersion: 'none',
  fields: {
    id: column('category', onCreate(text(25, 0))),
    totalSales: optional(decimal(27, 2))
  },
  label: 'id',
  filterable: ['id', 'totalSales'],
  sortable: ['id'],
  access: { read: permission('sales-by-film-categories:read') }
})
