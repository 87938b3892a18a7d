import {
  createTable,
  dateTime,
  defineEntity,
  everyone,
  int,
  long,
  type Migration,
  permission,
  readOnly,
  text
} from 'uniform-rest'

export const createVisits: Migration = {
  name: '101-visits',
  steps: [
    createTable('visits', (t) => ({
      columns: [t.bigint('id').autoIncrement(), t.varchar('place', 100), t.datetime('seen_at')],
      indexes: [t.sorted('place')]
    })),
    createTable('visit_notes', (t) => ({
      columns: [t.int('id').autoIncrement(), t.bigint('visit_id'), t.varchar('text', 100), t.rowVersion()],
      indexes: [t.index('visit_id')],
      foreignKeys: [{ column: 'visit_id', references: 'visits.id', onDelete: 'cascade' }]
    }))
  ]
}

export const visits = defineEntity({
  name: 'visits',
  description: 'Who came in. Rows have no version.',
  rowVersion: 'none',
  fields: { id: readOnly(long()), place: text(100), seenAt: readOnly(dateTime()) },
  label: 'place',
  filterable: ['id', 'place', 'seenAt'],
  sortable: ['id', 'place'],
  children: {
    notes: { table: 'visit_notes', foreignKey: 'visitId', fields: { id: readOnly(int()), text: text(100) } }
  },
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'delete'],
  creates: {
    children: { notes: { min: 0 } },
    prepare: ({ now }) => ({ values: { seenAt: now } })
  }
})
