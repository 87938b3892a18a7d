import { createTable, defineApplication, defineEntity, int, permission, readOnly, text } from 'uniform-rest'

const notes = defineEntity({
  name: 'notes',
  description: 'What roles give access to.',
  fields: { id: readOnly(int()), title: text(60) },
  label: 'title',
  filterable: ['id'],
  sortable: ['id'],
  access: { read: permission('notes:read'), write: permission('notes:read') },
  writes: ['create']
})

const createNotes = createTable('notes', (t) => ({
  columns: [t.int('id').autoIncrement(), t.varchar('title', 60), t.rowVersion()]
}))

/** An application whose accounts are managed over HTTP. A Keeper manages accounts and is no administrator. */
export default defineApplication({
  entities: [notes],
  roles: { Admin: ['accounts:manage', 'notes:read'], Keeper: ['accounts:manage'], Clerk: ['notes:read'], Guest: [] },
  migrations: [{ name: '001-notes', steps: [createNotes] }],
  settings: { OWNER_BYPASS_ROLE: 'Admin' }
})
