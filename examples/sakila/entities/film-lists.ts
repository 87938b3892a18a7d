import {
  column,
  decimal,
  defineEntity,
  everyone,
  longText,
  onCreate,
  oneOf,
  optional,
  smallInt,
  text,
  unsigned
} from 'uniform-rest'

export const filmLists = defineEntity({
  name: 'film-list',
  table: 'film_list',
  description: 'Rows of the view film_list.',
  rowVersion: 'none',
  fields: {
    id: column('FID', onCreate(unsigned(smallInt()))),
    title: text(128, 0),
    description: optional(longText(65535)),
    category: optional(text(25, 0)),
    price: decimal(4, 2),
    length: optional(unsigned(smallInt())),
    rating: optional(oneOf(['G', 'PG', 'PG-13', 'R', 'NC-17'])),
    actors: optional(longText(16777215))
  },
  label: 'title',
  filterable: ['id', 'title', 'description', 'category', 'price', 'length', 'rating', 'actors'],
  sortable: ['id'],
  access: { read: everyone }
})
