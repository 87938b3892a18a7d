import {
  dateTime,
  defineEntity,
  everyone,
  int,
  long,
  permission,
  readOnly,
  text
} from '../../data-service/public/entity.js'
import { createTables, type Migration, table } from '../../data-service/public/schema.js'
import type { Application } from '../../data-service/public/service.js'
import { createDocuments, documents, loans, notices } from './documents.js'
import { addColour, branches, cities, createRooms, regions, rooms } from './rooms.js'

// A small application for the words of entity files that the reference store has no use for.

const createVisits: Migration = {
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

/** The second database holds nothing that is served. */
const createNothing: Migration = {
  name: '102-nothing',
  up: createTables(table('nothing', { columns: { id: int() } }))
}

const visits = defineEntity({
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

export const library: Application = {
  entities: [visits, documents, loans, notices, regions, cities, branches, rooms],
  roles: { Admin: ['library:manage', 'loans:read'], Librarian: ['library:manage'] },
  databases: {
    primary: { file: 'library.sqlite', migrations: [createVisits, createDocuments, createRooms, addColour] },
    second: { setting: 'REVIEWS_DATABASE_URL', file: 'second.sqlite', migrations: [createNothing] }
  },
  ownerClaimType: 'member_id'
}
