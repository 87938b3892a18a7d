import { column, defineEntity, everyone, generated, readOnly, text, timestamp, tinyInt, unsigned } from 'uniform-rest'

export const languages = defineEntity({
  name: 'languages',
  table: 'language',
  description: 'Rows of the table language.',
  rowVersion: 'none',
  fields: {
    id: column('language_id', readOnly(unsigned(tinyInt()))),
    name: text(20, 0),
    lastUpdate: generated(timestamp({ precision: 0 }))
  },
  label: 'name',
  filterable: ['id', 'name', 'lastUpdate'],
  sortable: ['id'],
  access: { read: everyone }
})
