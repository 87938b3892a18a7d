import { defineApplication, defineEntity, everyone, int, longText, readOnly, text } from 'uniform-rest'

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
  fields: { id: readOnly(int()), name: text(20), cover: longText() },
  rowVersion: 'none',
  label: 'name',
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

/** Only read: what bounds answers, and not what writes. */
export default defineApplication({ entities: [letters, folders], roles: {}, migrations: [] })
