import {
  column,
  defineApplication,
  defineEntity,
  everyone,
  int,
  onCreate,
  optional,
  permission,
  readOnly,
  text,
  unique
} from 'uniform-rest'

const access = { read: everyone, write: permission('foreign:manage') } as const

/** A table whose owner gave it rules of the database: a CHECK, a trigger, and a foreign key to itself that says RESTRICT. */
const ruled = defineEntity({
  name: 'ruled',
  description: 'Rows with rules of the database.',
  fields: { id: readOnly(int()), amount: int(), label: text(20), parentId: optional(int()) },
  label: 'label',
  filterable: ['id', 'amount', 'label', 'parentId'],
  sortable: ['id'],
  references: { parent: { to: 'ruled', via: 'parentId' } },
  access,
  writes: ['create', 'update', 'delete'],
  actions: (action) => ({
    spend: action({ description: 'Spends all.', effect: { set: { amount: 0 } } })
  })
})

/** A table whose primary key is not what the resource is known by, with texts of other characters or another case. */
const codes = defineEntity({
  name: 'codes',
  description: 'Rows by a code that is unique and not the primary key.',
  fields: {
    id: column('code', onCreate(text(20))),
    name: text(40),
    alias: optional(unique(text(20)))
  },
  label: 'name',
  filterable: ['id', 'name', 'alias'],
  sortable: ['id', 'name'],
  searchable: ['name'],
  access,
  writes: ['create', 'update', 'delete'],
  actions: (action) => ({
    rename: action({
      description: 'Gives the row another name.',
      input: { name: text(40) },
      change: ({ root, input }) => ({ set: { name: `${root.id} ${input.name}`.slice(0, 40) } })
    })
  })
})

/** Tables that the tests make, as somebody else would. */
export default defineApplication({ entities: [ruled, codes], roles: { Keeper: ['foreign:manage'] }, migrations: [] })
