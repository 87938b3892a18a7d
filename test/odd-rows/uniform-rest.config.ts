import {
  column,
  date,
  defineApplication,
  defineEntity,
  everyone,
  guid,
  int,
  long,
  onCreate,
  oneOf,
  optional,
  permission,
  readOnly,
  setOf,
  text,
  unsigned,
  year
} from 'uniform-rest'

const access = { read: everyone, write: permission('odd:manage') } as const

/** A key of several parts, in which other programs stored what no request may write. */
const harvests = defineEntity({
  name: 'harvests',
  description: 'Harvests by field, grade and day.',
  fields: {
    field: onCreate(text(20, 0)),
    grade: onCreate(oneOf(['fine', 'fair,dry'])),
    day: onCreate(date()),
    weight: int()
  },
  key: ['field', 'grade', 'day'],
  label: 'field',
  filterable: ['field', 'weight'],
  sortable: ['field', 'weight'],
  access,
  writes: ['create', 'update', 'delete'],
  actions: (action) => ({
    empty: action({ description: 'Takes everything.', effect: { set: { weight: 0 } } })
  })
})

/** A key of one value, in a column of years that MySQL lets hold the year 0. */
const vintages = defineEntity({
  name: 'vintages',
  description: 'Vintages by year.',
  fields: { id: column('year', onCreate(year())), name: text(20) },
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['id'],
  access,
  writes: ['create', 'delete']
})

/** Rows that the database numbers, up to the last number of 64 bits. */
const receipts = defineEntity({
  name: 'receipts',
  description: 'Receipts with numbers of the database.',
  fields: {
    id: readOnly(unsigned(long())),
    note: optional(text(20, 0)),
    marks: optional(setOf(['paid', 'sent'])),
    mood: optional(oneOf(['calm?', 'very 😀'])),
    device: optional(guid())
  },
  label: 'id',
  filterable: ['id', 'note', 'mood'],
  sortable: ['id'],
  access,
  writes: ['create', 'update', 'delete']
})

/** Tables that the test makes, as somebody else would. */
export default defineApplication({
  entities: [harvests, vintages, receipts],
  roles: { Keeper: ['odd:manage'] },
  migrations: []
})
