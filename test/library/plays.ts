import {
  bool,
  createTable,
  defineEntity,
  everyone,
  int,
  type Migration,
  optional,
  permission,
  readOnly,
  text
} from 'uniform-rest'

// Navigations: references named like tables, of a row to its own table, and several to one table.

export const createPlays: Migration = {
  name: '130-plays',
  steps: [
    createTable('person', (t) => ({
      columns: [t.int('id').autoIncrement(), t.varchar('name', 60), t.boolean('is_public'), t.rowVersion()],
      indexes: [t.sorted('name')]
    })),
    createTable('play', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('title', 60),
        t.int('play_id').nullable(),
        t.int('person_id'),
        t.int('translator_id').nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('title'), t.index('play_id'), t.index('person_id'), t.index('translator_id')],
      foreignKeys: [
        { column: 'play_id', references: 'play.id', onDelete: 'restrict' },
        { column: 'person_id', references: 'person.id', onDelete: 'restrict' },
        { column: 'translator_id', references: 'person.id', onDelete: 'restrict' }
      ]
    }))
  ]
}

const write = permission('library:manage')

export const persons = defineEntity({
  name: 'persons',
  table: 'person',
  description: 'Who writes and plays.',
  fields: { id: readOnly(int()), name: text(60), isPublic: bool() },
  label: 'name',
  filterable: ['id', 'name', 'isPublic'],
  sortable: ['id', 'name'],
  access: ({ publicRows }) => ({
    read: publicRows(({ caller, where }) =>
      caller.kind === 'authenticated' && caller.permissions.has('library:manage')
        ? 'all'
        : where('isPublic', 'is', true)
    ),
    write
  }),
  writes: ['create', 'update', 'delete']
})

export const plays = defineEntity({
  name: 'plays',
  table: 'play',
  description: 'What is played, and what it continues.',
  fields: {
    id: readOnly(int()),
    title: text(60),
    playId: optional(int()),
    personId: int(),
    translatorId: optional(int())
  },
  label: 'title',
  filterable: ['id', 'title', 'playId', 'playTitle', 'firstTitle', 'personName', 'translatorName'],
  sortable: ['id', 'title', 'playTitle', 'firstTitle', 'personName', 'translatorName'],
  references: {
    play: { to: 'plays', via: 'playId' },
    person: { to: 'persons', via: 'personId' },
    translator: { to: 'persons', via: 'translatorId' }
  },
  joined: {
    playTitle: { through: 'play', property: 'title', field: optional(text(60)) },
    firstTitle: { through: ['play', 'play'], property: 'title', field: optional(text(60)) },
    personName: { through: 'person', property: 'name', field: text(60) },
    translatorName: { through: 'translator', property: 'name', field: optional(text(60)) }
  },
  access: { read: everyone, write },
  writes: ['create', 'update', 'delete']
})
