import {
  bool,
  createTable,
  defineEntity,
  everyone,
  hidden,
  int,
  type Migration,
  onCreate,
  optional,
  permission,
  readableBy,
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
    })),
    createTable('act', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('play_id'), t.varchar('title', 60), t.rowVersion()],
      indexes: [t.index('play_id')],
      foreignKeys: [{ column: 'play_id', references: 'play.id', onDelete: 'cascade' }]
    })),
    createTable('scene', (t) => ({
      columns: [
        t.int('act_id'),
        t.int('number'),
        t.varchar('place', 60),
        t.varchar('secret', 60),
        t.varchar('cost', 60),
        t.rowVersion()
      ],
      primaryKey: ['act_id', 'number'],
      foreignKeys: [{ column: 'act_id', references: 'act.id', onDelete: 'cascade' }]
    })),
    createTable('prop', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('act_id'), t.int('scene_number'), t.varchar('name', 60)],
      indexes: [t.index('act_id', 'scene_number')],
      foreignKeys: [
        { columns: ['act_id', 'scene_number'], references: ['scene.act_id', 'scene.number'], onDelete: 'cascade' }
      ]
    })),
    createTable('casting', (t) => ({
      columns: [t.int('play_id'), t.int('person_id'), t.varchar('part', 60), t.rowVersion()],
      primaryKey: ['play_id', 'person_id'],
      indexes: [t.index('person_id'), t.sorted('part')],
      foreignKeys: [
        { column: 'play_id', references: 'play.id', onDelete: 'restrict' },
        { column: 'person_id', references: 'person.id', onDelete: 'restrict' }
      ]
    })),
    createTable('mention', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('play_id'), t.int('person_id').nullable(), t.rowVersion()],
      indexes: [t.index('play_id'), t.index('person_id')],
      foreignKeys: [
        { column: 'play_id', references: 'play.id', onDelete: 'cascade' },
        { column: 'person_id', references: 'person.id', onDelete: 'cascade' }
      ]
    })),
    createTable('influence', (t) => ({
      columns: [t.int('earlier_id'), t.int('later_id'), t.rowVersion()],
      primaryKey: ['earlier_id', 'later_id'],
      indexes: [t.index('later_id')],
      foreignKeys: [
        { column: 'earlier_id', references: 'play.id', onDelete: 'cascade' },
        { column: 'later_id', references: 'play.id', onDelete: 'cascade' }
      ]
    })),
    createTable('rehearsal', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('play_id'), t.varchar('hall', 60), t.rowVersion()],
      indexes: [t.index('play_id'), t.sorted('hall')],
      foreignKeys: [{ column: 'play_id', references: 'play.id', onDelete: 'cascade' }]
    })),
    createTable('guest', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('rehearsal_id'), t.varchar('name', 60), t.rowVersion()],
      indexes: [t.index('rehearsal_id')],
      foreignKeys: [{ column: 'rehearsal_id', references: 'rehearsal.id', onDelete: 'cascade' }]
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
  manyToMany: { plays: { through: 'castings', from: 'person', to: 'play' } },
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

export const castings = defineEntity({
  name: 'castings',
  table: 'casting',
  description: 'Who plays which part: a resource, children of plays, and the link of both.',
  key: ['playId', 'personId'],
  fields: { playId: onCreate(int()), personId: onCreate(int()), part: text(60) },
  label: 'part',
  filterable: ['playId', 'personId', 'part'],
  sortable: ['playId', 'personId', 'part'],
  references: { play: { to: 'plays', via: 'playId' }, person: { to: 'persons', via: 'personId' } },
  access: { read: permission('loans:read'), write, writesUnseen: true },
  writes: ['create', 'update', 'delete']
})

export const mentions = defineEntity({
  name: 'mentions',
  table: 'mention',
  description: 'Who is spoken of, perhaps more than once in a play; the play of person 3 keeps that to itself.',
  fields: { id: readOnly(int()), playId: int(), personId: optional(int()) },
  label: 'id',
  filterable: ['id', 'playId', 'personId'],
  sortable: ['id'],
  references: { play: { to: 'plays', via: 'playId' }, person: { to: 'persons', via: 'personId' } },
  access: ({ publicRows }) => ({
    read: publicRows(({ caller, where }) =>
      caller.kind === 'authenticated' && caller.permissions.has('library:manage')
        ? 'all'
        : where('personId', 'not equals', 3)
    ),
    write
  }),
  writes: ['create', 'update', 'delete']
})

export const influences = defineEntity({
  name: 'influences',
  table: 'influence',
  description: 'Which play has left its mark on which.',
  key: ['earlierId', 'laterId'],
  fields: { earlierId: onCreate(int()), laterId: onCreate(int()) },
  label: 'earlierId',
  filterable: ['earlierId', 'laterId'],
  sortable: ['earlierId', 'laterId'],
  references: { earlier: { to: 'plays', via: 'earlierId' }, later: { to: 'plays', via: 'laterId' } },
  access: { read: everyone, write },
  writes: ['create', 'delete']
})

export const rehearsals = defineEntity({
  name: 'rehearsals',
  table: 'rehearsal',
  description: 'Rows that are read by themselves and written by their play.',
  fields: { id: readOnly(int()), playId: int(), hall: text(60) },
  label: 'hall',
  filterable: ['id', 'playId', 'hall'],
  sortable: ['id', 'hall'],
  references: { play: { to: 'plays', via: 'playId' } },
  children: {
    guests: { table: 'guest', foreignKey: 'rehearsalId', fields: { id: readOnly(int()), name: text(60) } }
  },
  access: { read: permission('library:manage') }
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
    personName: { through: 'person', property: 'name', field: text(60), showsUnseen: true },
    translatorName: { through: 'translator', property: 'name', field: optional(text(60)), showsUnseen: true }
  },
  manyToMany: {
    cast: { through: 'castings', from: 'play', to: 'person' },
    mentioned: { through: 'mentions', from: 'play', to: 'person', sort: ['name'] },
    influencedBy: { through: 'influences', from: 'later', to: 'earlier' },
    hasInfluenced: { through: 'influences', from: 'earlier', to: 'later', sort: ['title'] }
  },
  children: {
    acts: {
      table: 'act',
      foreignKey: 'playId',
      fields: { id: readOnly(int()), title: text(60) },
      children: {
        scenes: {
          table: 'scene',
          key: ['actId', 'number'],
          foreignKey: 'actId',
          fields: {
            actId: readOnly(int()),
            number: onCreate(int()),
            place: text(60),
            secret: hidden(text(60)),
            cost: readableBy('library:manage', text(60))
          },
          children: {
            props: {
              table: 'prop',
              foreignKey: ['actId', 'sceneNumber'],
              rowVersion: 'none',
              fields: { id: readOnly(int()), name: text(60) }
            }
          }
        }
      }
    },
    castings: { entity: castings, foreignKey: 'playId' },
    rehearsals: { entity: rehearsals, foreignKey: 'playId', writtenBy: 'root' }
  },
  access: { read: everyone, write },
  writes: ['create', 'update', 'delete'],
  creates: { children: { acts: { min: 0 }, castings: { min: 0 }, rehearsals: { min: 0 } } },
  actions: (action) => ({
    'move-rehearsals': action({
      description: 'Moves all rehearsals to one hall.',
      input: { hall: text(60) },
      loads: ['rehearsals'],
      change: ({ children: { rehearsals: all }, input: { hall } }) => ({
        children: { rehearsals: { update: all.map(({ id }) => ({ id, set: { hall } })) } }
      })
    })
  })
})
