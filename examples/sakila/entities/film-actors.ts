import { defineEntity, everyone, generated, onCreate, permission, smallInt, timestamp, unsigned } from 'uniform-rest'

export const filmActors = defineEntity({
  name: 'film-actors',
  table: 'film_actor',
  description: 'Rows of the table film_actor.',
  key: ['actorId', 'filmId'],
  fields: {
    actorId: onCreate(unsigned(smallInt())),
    filmId: onCreate(unsigned(smallInt())),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'actorId',
  filterable: ['actorId', 'filmId', 'lastUpdate'],
  sortable: ['actorId', 'filmId'],
  references: {
    actor: { to: 'actors', via: 'actorId' },
    film: { to: 'films', via: 'filmId' }
  },
  access: { read: everyone, write: permission('film-actors:write') },
  writes: ['create', 'update', 'delete']
})
