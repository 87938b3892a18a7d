import {
  column,
  createTable,
  defineEntity,
  everyone,
  int,
  type Migration,
  money,
  optional,
  permission,
  readOnly,
  text,
  unique
} from 'uniform-rest'

// Tables as others name them: spaces, quotes, points, dollars, reserved words and upper case, in every place of a name.

export const createLedgers: Migration = {
  name: '111-ledgers',
  steps: [
    createTable('Cost Centres', (t) => ({
      columns: [t.int('Centre No').autoIncrement(), t.varchar('select', 40), t.rowVersion('Row.Version')],
      indexes: [t.unique('select'), t.sorted('select')]
    })),
    createTable('it\'s a "ledger"', (t) => ({
      columns: [
        t.int('Ledger.No').autoIncrement(),
        t.varchar('order', 30),
        t.varchar('owner\'s "name"', 60).nullable(),
        t.decimal('limit $', 10, 2),
        t.int('$centre').nullable(),
        t.rowVersion('VERSION')
      ],
      indexes: [
        t.unique('order'),
        t.sorted('order'),
        t.sorted('owner\'s "name"').named('ledger owner'),
        t.sorted('limit $'),
        t.index('$centre')
      ],
      foreignKeys: [
        { column: '$centre', references: 'Cost Centres.Centre No', onDelete: 'restrict', name: 'ledger centre' }
      ]
    })),
    createTable('group', (t) => ({
      columns: [
        t.int('key').autoIncrement(),
        t.int('ledger?'),
        t.varchar('$s0', 100),
        t.decimal('a\\b', 10, 2),
        t.rowVersion('row version')
      ],
      indexes: [t.index('ledger?')],
      foreignKeys: [
        {
          column: 'ledger?',
          references: { table: 'it\'s a "ledger"', column: 'Ledger.No' },
          onDelete: 'cascade',
          name: 'posted in'
        }
      ]
    }))
  ]
}

export const costCentres = defineEntity({
  name: 'cost-centres',
  table: 'Cost Centres',
  description: 'Who pays.',
  rowVersionColumn: 'Row.Version',
  fields: { id: readOnly(column('Centre No', int())), name: unique(column('select', text(40))) },
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['id', 'name'],
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update', 'delete']
})

export const ledgers = defineEntity({
  name: 'ledgers',
  table: 'it\'s a "ledger"',
  description: 'Books of accounts.',
  rowVersionColumn: 'VERSION',
  fields: {
    id: readOnly(column('Ledger.No', int())),
    number: unique(column('order', text(30))),
    owner: optional(column('owner\'s "name"', text(60))),
    credit: column('limit $', money(10, 2)),
    centreId: optional(column('$centre', int()))
  },
  label: 'number',
  filterable: ['id', 'number', 'owner', 'credit', 'centreId', 'centre'],
  sortable: ['id', 'number', 'owner', 'credit', 'centre'],
  searchable: ['number', 'owner'],
  references: { paidBy: { to: 'cost-centres', via: 'centreId' } },
  joined: { centre: { through: 'paidBy', property: 'name', field: optional(text(40)) } },
  children: {
    postings: {
      table: 'group',
      foreignKey: 'ledgerId',
      foreignKeyColumn: 'ledger?',
      rowVersionColumn: 'row version',
      fields: {
        id: readOnly(column('key', int())),
        text: column('$s0', text(100)),
        amount: column('a\\b', money(10, 2))
      }
    }
  },
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update', 'delete'],
  creates: { children: { postings: { min: 0 } } },
  actions: (action) => ({
    post: action({
      description: 'Books an amount, and corrects a posting.',
      input: { text: text(100), amount: money(10, 2), postingId: optional(int()) },
      loads: ['postings'],
      change: ({ input: { text: what, amount, postingId }, children: { postings } }) => ({
        children: {
          postings: postings.some(({ id }) => id === postingId)
            ? { update: [{ id: postingId ?? 0, set: { text: what, amount } }] }
            : { insert: [{ text: what, amount }] }
        }
      })
    }),
    clear: action({
      description: 'Removes all postings.',
      loads: ['postings'],
      change: ({ children: { postings } }) => ({ children: { postings: { remove: postings.map(({ id }) => id) } } })
    })
  })
})
