import {
  createTables,
  dateTime,
  defineEntity,
  everyone,
  int,
  long,
  type Migration,
  permission,
  readOnly,
  table,
  text
} from 'uniform-rest'

export const createVisits: Migration = {
  name: '101-visits',
  up: createTables(
    table('visits', {
      rowVersion: 'none',
      columns: { id: long(), place: text(100), seenAt: dateTime() },
      sorted: ['place']
    }),
    table('visit_notes', { columns: { id: int(), visitId: long(), text: text(100) }, partOf: { visitId: 'visits' } })
  )
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
