import {
  createTable,
  defineEntity,
  everyone,
  int,
  type Migration,
  optional,
  permission,
  readableBy,
  readOnly,
  text
} from 'uniform-rest'

// Children that are rows of a resource, whose foreign key takes a permission to read.

export const createContests: Migration = {
  name: '150-contests',
  steps: [
    createTable('contests', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('name', 60),
        t.varchar('constructor', 60).nullable(),
        t.int('to_string').nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('constructor'), t.sorted('to_string')]
    })),
    createTable('juries', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('contest_id'), t.varchar('name', 60), t.rowVersion()],
      indexes: [t.index('contest_id')],
      foreignKeys: [{ column: 'contest_id', references: 'contests.id', onDelete: 'restrict' }]
    })),
    createTable('verdicts', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('jury_id'), t.varchar('words', 60), t.rowVersion()],
      indexes: [t.index('jury_id')],
      foreignKeys: [{ column: 'jury_id', references: 'juries.id', onDelete: 'restrict' }]
    }))
  ]
}

const access = { read: everyone, write: permission('library:manage') } as const

export const verdicts = defineEntity({
  name: 'verdicts',
  description: 'Anybody reads what was said, and few which jury said it.',
  fields: { id: readOnly(int()), juryId: readableBy('loans:read', int()), words: text(60) },
  label: 'words',
  filterable: ['id', 'juryId', 'words'],
  sortable: ['id'],
  access: { read: everyone, write: permission('loans:read') },
  writes: ['create', 'update', 'delete']
})

export const juries = defineEntity({
  name: 'juries',
  description: 'Juries of contests.',
  fields: { id: readOnly(int()), contestId: int(), name: text(60) },
  label: 'name',
  filterable: ['id', 'contestId', 'name'],
  sortable: ['id'],
  children: { verdicts: { entity: verdicts, foreignKey: 'juryId' } },
  access,
  writes: ['create', 'update', 'delete'],
  creates: { children: { verdicts: { min: 0 } } }
})

export const contests = defineEntity({
  name: 'contests',
  description: 'Contests with several juries. Two of its properties are called as members of every object.',
  fields: { id: readOnly(int()), name: text(60), constructor: optional(text(60)), toString: optional(int()) },
  label: 'name',
  filterable: ['id', 'name', 'constructor', 'toString'],
  sortable: ['id', 'constructor', 'toString'],
  children: { juries: { entity: juries, foreignKey: 'contestId' } },
  access,
  writes: ['create', 'update', 'delete']
})
