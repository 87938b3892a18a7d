import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { follow, type Step } from './follow-page.js'

/**
 * What gift-cards of the page are not: guids, longs, an owner filter, a read with a condition, a new permission, a
 * column by permission, rows without a version, row scopes by a predicate, a name apart from its column, a property
 * through two references.
 */
const STEPS: readonly Step[] = [
  {
    kind: 'create',
    path: 'examples/store/schema/998-loyalty-cards.ts',
    content: `
import { createTable, type Migration } from 'uniform-rest'

export const createLoyaltyCards: Migration = {
  name: '998-loyalty-cards',
  steps: [
    createTable('loyalty_cards', (t) => ({
      columns: [
        t.guid('id').primaryKey(), t.varchar('number', 32), t.int('customer_id'), t.bigint('points'),
        t.boolean('is_blocked'), t.datetime('issued_at'), t.varchar('remark', 200).nullable(), t.rowVersion()
      ],
      indexes: [t.unique('number'), t.sorted('number'), t.index('customer_id'), t.sorted('points')],
      foreignKeys: [{ column: 'customer_id', references: 'customers.id', onDelete: 'restrict' }]
    })),
    createTable('loyalty_visits', (t) => ({
      columns: [t.int('id').autoIncrement(), t.varchar('place', 60), t.int('customer_id'), t.datetime('seen_at')],
      indexes: [t.sorted('place')]
    })),
    createTable('loyalty_talks', (t) => ({
      columns: [
        t.int('id').autoIncrement(), t.varchar('talk_name', 60), t.int('customer_id'), t.int('speaker_id'),
        t.boolean('is_open'), t.rowVersion()
      ],
      indexes: [t.sorted('talk_name'), t.index('customer_id'), t.sorted('speaker_id')],
      foreignKeys: [
        { column: 'customer_id', references: 'customers.id', onDelete: 'restrict' },
        { column: 'speaker_id', references: 'speakers.id', onDelete: 'restrict' }
      ]
    })),
    createTable('loyalty_notes', (t) => ({
      columns: [t.int('id').autoIncrement(), t.varchar('remark', 60), t.int('customer_id'), t.rowVersion()],
      indexes: [t.sorted('remark'), t.index('customer_id')],
      foreignKeys: [{ column: 'customer_id', references: 'customers.id', onDelete: 'restrict' }]
    }))
  ]
}
`
  },
  {
    kind: 'add',
    path: 'examples/store/schema/migrations.ts',
    importLine: "import { createLoyaltyCards } from './998-loyalty-cards.js'",
    item: '  createLoyaltyCards'
  },
  {
    kind: 'create',
    path: 'examples/store/entities/loyalty-cards.ts',
    content: `import { bool, dateTime, defineEntity, guid, int, long, onCreate, optional, ownRows, readableBy, readOnly, sumOf, text, unique } from 'uniform-rest'

export const loyaltyCards = defineEntity({
  name: 'loyalty-cards',
  description: 'What regular customers collect points on.',

  fields: {
    id: readOnly(guid()),
    number: unique(text(32)),
    customerId: onCreate(int()),
    points: readOnly(long()),
    isBlocked: readOnly(bool()),
    issuedAt: readOnly(dateTime()),
    remark: readableBy('loyalty:manage', optional(text(200)))
  },
  label: 'number',
  filterable: ['id', 'number', 'customerId', 'points', 'isBlocked', 'remark'],
  sortable: ['number', 'points'],
  references: { customer: { to: 'customers', via: 'customerId' } },

  access: {
    read: ownRows('customerId'),
    write: ownRows('customerId'),
    ownerFilter: {
      property: 'customerId',
      parameter: 'customerId',
      allowMissingOwner: { list: 'rowScope', paged: 'rowScope', update: 'rowScope' }
    }
  },
  writes: ['create', 'update', 'delete'],
  creates: {
    prepare: ({ now }) => ({ values: { points: '0', isBlocked: false, issuedAt: now } })
  },
  customReads: {
    numbers: { description: 'The cards in use.', item: 'number', sort: ['number'], where: { isBlocked: false } }
  },

  actions: (action) => ({
    'collect-points': action({
      description: 'Puts points on the card.',
      permission: 'loyalty:manage',
      when: { isBlocked: [false] },
      input: { points: int({ min: 1, max: 1000 }) },
      change: ({ root, input: { points } }) => ({ set: { points: sumOf([root.points, String(points)], 0) } })
    })
  })
})
`
  },
  {
    kind: 'add',
    path: 'examples/store/entities/index.ts',
    importLine: "import { loyaltyCards } from './loyalty-cards.js'",
    item: '  loyaltyCards'
  },
  {
    kind: 'create',
    path: 'examples/store/entities/loyalty-visits.ts',
    content: `import { dateTime, defineEntity, int, onCreate, ownRows, readOnly, text } from 'uniform-rest'

export const loyaltyVisits = defineEntity({
  name: 'loyalty-visits',
  description: 'When regular customers were where.',
  rowVersion: 'none',
  fields: { id: readOnly(int()), place: text(60), customerId: onCreate(int()), seenAt: readOnly(dateTime()) },
  label: 'place',
  filterable: ['id', 'place', 'customerId', 'seenAt'],
  sortable: ['place'],
  access: { read: ownRows('customerId'), write: ownRows('customerId') },
  writes: ['create', 'delete'],
  creates: { prepare: ({ now }) => ({ values: { seenAt: now } }) }
})
`
  },
  {
    kind: 'add',
    path: 'examples/store/entities/index.ts',
    importLine: "import { loyaltyVisits } from './loyalty-visits.js'",
    item: '  loyaltyVisits'
  },
  {
    kind: 'create',
    path: 'examples/store/entities/loyalty-talks.ts',
    content: `import { allOf as both, anyOf as either, bool, column, defineEntity, int, onCreate, ownRows, permission, readOnly, text } from 'uniform-rest'

export const loyaltyTalks = defineEntity({
  name: 'loyalty-talks',
  description: 'Talks for regular customers.',
  fields: {
    id: readOnly(int()),
    name: column('talk_name', text(60)),
    customerId: onCreate(int()),
    speakerId: int(),
    isOpen: readOnly(bool())
  },
  label: 'name',
  filterable: ['id', 'name', 'customerId', 'speakerId', 'isOpen', 'eventTitle'],
  sortable: ['name', 'speakerId', 'eventTitle'],
  searchable: ['name'],
  references: { customer: { to: 'customers', via: 'customerId' }, speaker: { to: 'speakers', via: 'speakerId' } },
  joined: { eventTitle: { through: ['speaker', 'event'], property: 'title', field: text(200) } },
  access: ({ rows }) => ({
    read: rows(({ caller, where, anyOf, allOf }) =>
      caller.permissions.has('loyalty:manage')
        ? 'all'
        : anyOf(
            where('customerId', 'equals', caller.owner ?? 0n),
            allOf(where('isOpen', 'is', true), where('customerId', 'in', [1, 3]))
          )
    ),
    write: ownRows('customerId')
  }),
  writes: ['create', 'update', 'delete'],
  creates: { prepare: () => ({ values: { isOpen: true } }) },
  actions: (action) => ({
    close: action({
      description: 'Closes the talk.',
      when: { isOpen: [true] },
      change: () => ({ set: { isOpen: false } })
    })
  })
})

export const loyaltyNotes = defineEntity({
  name: 'loyalty-notes',
  description: 'What was noted of regular customers.',
  fields: { id: readOnly(int()), remark: text(60), customerId: onCreate(int()) },
  label: 'remark',
  filterable: ['id', 'remark', 'customerId'],
  sortable: ['remark'],
  access: ({ rows }) => ({
    read: either(
      ownRows('customerId'),
      both(
        permission('loyalty:manage'),
        rows(({ caller, where }) => (caller.hasBypassRole ? 'all' : where('customerId', 'in', [2, 3])))
      )
    ),
    write: ownRows('customerId')
  }),
  writes: ['create', 'delete']
})
`
  },
  {
    kind: 'add',
    path: 'examples/store/entities/index.ts',
    importLine: "import { loyaltyNotes, loyaltyTalks } from './loyalty-talks.js'",
    item: '  loyaltyNotes,\n  loyaltyTalks'
  }
]

/** The line in rules.ts of `loyalty-talks`: its predicate by hand. `loyalty-notes` is judged by its own file. */
const RULE = `
  'loyalty-talks': rule('CRUD', 'id name customerId speakerId isOpen eventTitle', {
    searchable: ['name'],
    read: {
      rows: (row, { permissions, owner }) =>
        permissions.has('loyalty:manage') ||
        row['customerId'] === owner ||
        (row['isOpen'] === true && (row['customerId'] === 1 || row['customerId'] === 3))
    },
    write: own('customerId'),
    actions: actions('close')
  }),`

/**
 * Adds `loyalty-cards` and what comes with it to a copy of the project, with a permission that the clerk and the bypass
 * role have, and the rule of `loyalty-talks` to its every-entity tests.
 */
export async function addUnusualEntity(root: string): Promise<void> {
  for (const step of STEPS) await follow(step, root)
  const roles = join(root, 'examples/store/roles.ts')
  const text = await readFile(roles, 'utf8')
  await writeFile(roles, text.replace(/(?<=PERMISSIONS = \[|Clerk: \[)/g, "'loyalty:manage', "))
  const rules = join(root, 'test/examples/every-entity/rules.ts')
  const known = await readFile(rules, 'utf8')
  await writeFile(
    rules,
    known.replace(/(?<=RULES\b.* = \{)/, () => RULE)
  )
}
