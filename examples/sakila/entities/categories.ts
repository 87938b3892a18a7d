import { column, defineEntity, everyone, generated, readOnly, text, timestamp, tinyInt, unsigned } from 'uniform-rest'

export const categories = defineEntity({
  name: 'categories',
  table: 'category',
  description: 'Rows of the table category.',
  rowVersion: 'none',
  fields: {
    id: column('category_id', readOnly(unsigned(tinyInt()))),
    name: text(25, 0),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'name',
  filterable: ['id', 'name', 'lastUpdate'],
  sortable: ['id'],
  manyToMany: { films: { through: 'film-categories', from: 'category', to: 'film', sort: ['title'] } },
  access: { read: everyone }
})
