import {
  column,
  decimal,
  defaultTo,
  defineEntity,
  everyone,
  filledByDatabase,
  generated,
  longText,
  oneOf,
  optional,
  permission,
  readOnly,
  setOf,
  smallInt,
  text,
  timestamp,
  tinyInt,
  unsigned,
  year
} from 'uniform-rest'

export const films = defineEntity({
  name: 'films',
  table: 'film',
  description: 'Rows of the table film.',
  fields: {
    id: column('film_id', readOnly(unsigned(smallInt()))),
    title: text(128, 0),
    description: optional(longText(65535)),
    releaseYear: optional(year()),
    languageId: unsigned(tinyInt()),
    originalLanguageId: optional(unsigned(tinyInt())),
    rentalDuration: defaultTo(unsigned(tinyInt()), 3),
    rentalRate: defaultTo(decimal(4, 2), '4.99'),
    length: optional(unsigned(smallInt())),
    replacementCost: defaultTo(decimal(5, 2), '19.99'),
    rating: filledByDatabase(optional(oneOf(['G', 'PG', 'PG-13', 'R', 'NC-17']))),
    specialFeatures: optional(setOf(['Trailers', 'Commentaries', 'Deleted Scenes', 'Behind the Scenes'])),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'title',
  filterable: [
    'id',
    'title',
    'description',
    'releaseYear',
    'languageId',
    'originalLanguageId',
    'rentalDuration',
    'rentalRate',
    'length',
    'replacementCost',
    'rating',
    'specialFeatures',
    'lastUpdate'
  ],
  sortable: ['id', 'title', 'languageId', 'originalLanguageId'],
  references: {
    language: { to: 'languages', via: 'languageId' },
    originalLanguage: { to: 'languages', via: 'originalLanguageId' }
  },
  manyToMany: {
    actors: { through: 'film-actors', from: 'film', to: 'actor', sort: ['lastName', 'firstName'] },
    categories: { through: 'film-categories', from: 'film', to: 'category' }
  },
  access: { read: everyone, write: permission('films:write') },
  writes: ['create', 'update', 'delete']
})
