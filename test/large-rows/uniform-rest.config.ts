import {
  defineApplication,
  defineEntity,
  defineOperation,
  everyone,
  int,
  json,
  longText,
  readOnly,
  text
} from 'uniform-rest'

const access = { read: everyone } as const

/** Rows of which a few hundred are more than an answer holds. */
const letters = defineEntity({
  name: 'letters',
  description: 'Letters in folders.',
  fields: { id: readOnly(int()), folderId: int(), body: longText(16_777_215) },
  rowVersion: 'none',
  label: 'id',
  filterable: ['id', 'folderId'],
  sortable: ['id', 'folderId'],
  references: { folder: { to: 'folders', via: 'folderId' } },
  access
})

const folders = defineEntity({
  name: 'folders',
  description: 'Folders, with a cover and with notes.',
  fields: { id: readOnly(int()), name: text(20), cover: longText(16_777_215) },
  rowVersion: 'none',
  label: 'cover',
  filterable: ['id'],
  sortable: ['id'],
  children: {
    notes: {
      table: 'notes',
      foreignKey: 'folderId',
      rowVersion: 'none',
      fields: { id: readOnly(int()), note: longText() }
    }
  },
  access
})

/** JSON may be of any size. */
const papers = defineEntity({
  name: 'papers',
  description: 'Papers, whose pages are JSON.',
  fields: { id: readOnly(int()), pages: json() },
  rowVersion: 'none',
  label: 'id',
  filterable: ['id'],
  sortable: ['id'],
  access
})

/** What code reads is no answer. */
const counts = defineOperation({
  name: 'counts',
  route: 'GET /counts',
  description: 'Counts the letters, and those that it lists.',
  access: everyone,
  answer: { counted: int(), listed: int() },
  async handle({ unscopedRows }) {
    const listed = await unscopedRows(letters).list({ limit: 160 })
    return { counted: await unscopedRows(letters).count(), listed: listed.length }
  }
})

/** Only read: what bounds answers, and not what writes. */
export default defineApplication({
  entities: [letters, folders, papers],
  operations: [counts],
  roles: {},
  migrations: []
})
