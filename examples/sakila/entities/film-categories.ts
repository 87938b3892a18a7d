import { defineEntity, everyone, generated, onCreate, smallInt, timestamp, tinyInt, unsigned } from 'uniform-rest'

export const filmCategories = defineEntity({
  name: 'film-categories',
  table: 'film_category',
  description: 'Rows of the table film_category.',
  rowVersion: 'none',
  key: ['filmId', 'categoryId'],
  fields: {
    filmId: onCreate(unsigned(smallInt())),
    categoryId: onCreate(unsigned(tinyInt())),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'filmId',
  filterable: ['filmId', 'categoryId', 'lastUpdate'],
  sortable: ['filmId', 'categoryId'],
  references: {
    category: { to: 'categories', via: 'categoryId' },
    film: { to: 'films', via: 'filmId' }
  },
  access: { read: everyone }
})
