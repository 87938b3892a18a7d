import {
  createTable,
  defaultTo,
  defineEntity,
  everyone,
  hidden,
  int,
  json,
  type Migration,
  onCreate,
  optional,
  permission,
  readOnly,
  text,
  writeOnly
} from 'uniform-rest'

// Doors with keypads: what requests set and no answer shows.

export const createDoors: Migration = {
  name: '140-doors',
  steps: [
    createTable('doors', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('name', 60),
        t.varchar('access_code', 60),
        t.varchar('seal', 60),
        t.varchar('hint', 60).nullable(),
        t.int('attempts').default(3),
        t.json('settings').nullable(),
        t.varchar('checksum', 60).nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('name')]
    })),
    createTable('door_keys', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('door_id'),
        t.varchar('holder', 60),
        t.varchar('chip', 60),
        t.rowVersion()
      ],
      indexes: [t.index('door_id')],
      foreignKeys: [{ column: 'door_id', references: 'doors.id', onDelete: 'cascade' }]
    }))
  ]
}

export const doors = defineEntity({
  name: 'doors',
  description: 'Doors with a keypad.',
  fields: {
    id: readOnly(int()),
    name: text(60),
    accessCode: writeOnly(text(60, 4)),
    seal: onCreate(writeOnly(text(60))),
    hint: writeOnly(optional(text(60))),
    attempts: writeOnly(defaultTo(int({ min: 1, max: 10 }), 3)),
    settings: writeOnly(optional(json())),
    checksum: hidden(optional(text(60)))
  },
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['id', 'name'],
  searchable: ['name'],
  children: {
    keys: {
      table: 'door_keys',
      foreignKey: 'doorId',
      fields: { id: readOnly(int()), holder: text(60), chip: writeOnly(text(60)) }
    }
  },
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update', 'delete'],
  creates: { children: { keys: { min: 0 } } }
})
