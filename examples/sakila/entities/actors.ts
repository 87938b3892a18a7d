import { column, defineEntity, everyone, generated, readOnly, smallInt, text, timestamp, unsigned } from 'uniform-rest'

export const actors = defineEntity({
  name: 'actors',
  table: 'actor',
  description: 'Rows of the table actor.',
  rowVersion: 'none',
  fields: {
    id: column('actor_id', readOnly(unsigned(smallInt()))),
    firstName: text(45, 0),
    lastName: text(45, 0),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'lastName',
  filterable: ['id', 'firstName', 'lastName', 'lastUpdate'],
  sortable: ['id', 'lastName'],
  manyToMany: { films: { through: 'film-actors', from: 'actor', to: 'film', sort: ['title'] } },
  access: { read: everyone }
})
