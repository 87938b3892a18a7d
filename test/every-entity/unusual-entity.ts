import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { follow, type Step } from './follow-page.js'

/**
 * What gift-cards of the page are not: guids, longs, an owner filter, a read with a condition, a new permission, a
 * column by permission, rows without a version.
 */
const STEPS: readonly Step[] = [
  {
    kind: 'create',
    path: 'examples/store/schema/998-loyalty-cards.ts',
    content: `
import { bool, dateTime, guid, int, long, optional, text, unique } from '../../../data-service/public/entity.js'
import { createTables, type Migration, table } from '../../../data-service/public/schema.js'

export const createLoyaltyCards: Migration = {
  name: '998-loyalty-cards',
  up: createTables(
    table('loyalty_cards', {
      columns: {
        id: guid(), number: unique(text(32)), customerId: int(), points: long(), isBlocked: bool(), issuedAt: dateTime(),
        remark: optional(text(200))
      },
      sorted: ['number', 'points'],
      references: { customerId: 'customers' }
    }),
    table('loyalty_visits', {
      rowVersion: 'none',
      columns: { id: int(), place: text(60), customerId: int(), seenAt: dateTime() },
      sorted: ['place']
    })
  )
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
    content: `
import { bool, dateTime, defineEntity, guid, int, long, onCreate, optional, ownRows, readableBy, readOnly, sumOf, text, unique } from '../../../data-service/public/entity.js'

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
    content: `
import { dateTime, defineEntity, int, onCreate, ownRows, readOnly, text } from '../../../data-service/public/entity.js'

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
  }
]

/** Adds `loyalty-cards` and `loyalty-visits` to a copy of the project, with a permission that the clerk and the bypass role have. */
export async function addUnusualEntity(root: string): Promise<void> {
  for (const step of STEPS) await follow(step, root)
  const roles = join(root, 'examples/store/roles.ts')
  const text = await readFile(roles, 'utf8')
  await writeFile(roles, text.replace(/(?<=PERMISSIONS = \[|clerk: \[)/g, "'loyalty:manage', "))
}
