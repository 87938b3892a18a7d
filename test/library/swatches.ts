import {
  bool,
  dateTime,
  decimal,
  defaultTo,
  defineEntity,
  defineFieldType,
  described,
  guid,
  hidden,
  int,
  long,
  optional,
  permission,
  readableBy,
  readOnly,
  text,
  createTable,
  type Migration
} from 'uniform-rest'

// Field types of the application's own, and custom reads with parameters.

export const colour = defineFieldType({
  name: 'colour',
  base: text(7, 7),
  parse: (value) => (/^#[0-9a-f]{6}$/i.test(value) ? value.toLowerCase() : undefined),
  expected: 'a colour such as #ff8800',
  schema: { format: 'colour', pattern: '^#[0-9a-fA-F]{6}$', description: 'Red, green and blue.' },
  operators: ['equals', 'not equals', 'in', 'starts with'],
  examples: ['#ff8800', '#000000', '#a1b2c3']
})

const CURRENCIES = ['EUR', 'CHF', 'NOK']

export const currencyCode = defineFieldType({
  name: 'currencyCode',
  base: text(3),
  parse: (value) => (CURRENCIES.includes(value) ? value : undefined),
  expected: `one of ${CURRENCIES.join(', ')}`,
  schema: { enum: CURRENCIES },
  examples: ['EUR', 'CHF']
})

const evenNumber = defineFieldType({
  name: 'evenNumber',
  base: int({ min: 0, max: 100 }),
  parse: (value) => (value % 2 === 0 ? value : undefined),
  expected: 'an even number',
  examples: [2, 4]
})

export const createSwatches: Migration = {
  name: '106-swatches',
  steps: [
    createTable('swatches', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('name', 60),
        t.varchar('colour', 7),
        t.varchar('currency', 3).nullable(),
        t.int('layers'),
        t.decimal('price', 8, 2),
        t.datetime('mixed_at'),
        t.int('branch_id'),
        t.int('cost').nullable(),
        t.varchar('recipe', 40).nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('name'), t.sorted('mixed_at')]
    }))
  ]
}

export const swatches = defineEntity({
  name: 'swatches',
  description: 'Mixed paints. A caller sees those of its branches.',
  fields: {
    id: readOnly(int()),
    name: described('What it is called on the tin.', text(60)),
    colour: colour(),
    currency: optional(currencyCode()),
    layers: defaultTo(evenNumber(), 2),
    price: decimal(8, 2),
    mixedAt: dateTime(),
    branchId: int(),
    cost: readableBy('library:manage', optional(int())),
    recipe: hidden(optional(text(40)))
  },
  label: 'colour',
  filterable: ['id', 'name', 'colour', 'currency', 'layers', 'price', 'mixedAt', 'branchId'],
  sortable: ['id', 'name', 'mixedAt'],
  searchable: ['name', 'colour'],
  access: ({ rows }) => ({
    read: rows(({ caller, where }) => {
      const { branches } = caller.claims
      if (caller.hasBypassRole) return 'all'
      return where('branchId', 'in', Array.isArray(branches) ? branches.filter((one) => typeof one === 'number') : [])
    }),
    write: permission('library:manage'),
    writesUnseen: true
  }),
  writes: ['create', 'update', 'delete'],
  creates: { prepare: () => ({ values: { recipe: 'stir' } }) },
  customReads: (read) => ({
    colours: { description: 'Every colour.', item: 'colour', sort: ['name'] },
    mixed: read({
      description: 'What was mixed in a period.',
      params: {
        since: described('The begin of the period.', dateTime()),
        until: optional(dateTime()),
        colours: optional(colour()),
        maxPrice: optional(decimal(8, 2)),
        branch: optional(int({ min: 1, max: 9 })),
        word: optional(text(20)),
        dear: optional(bool()),
        batch: optional(long()),
        tag: optional(guid()),
        most: defaultTo(int({ min: 1, max: 3 }), 2)
      },
      where: ({ params: { since, until, colours, maxPrice, branch, word, dear }, where, anyOf, allOf }) =>
        allOf(
          where('mixedAt', 'is on or after', since),
          until === null ? 'all' : where('mixedAt', 'is before', until),
          colours === null ? 'all' : where('colour', 'equals', colours),
          maxPrice === null ? 'all' : where('price', 'less than or equal', maxPrice),
          branch === null ? 'all' : where('branchId', 'equals', branch),
          word === null ? 'all' : anyOf(where('name', 'contains', word), where('colour', 'starts with', word)),
          dear === null
            ? 'all'
            : dear
              ? where('price', 'greater than', '100')
              : where('price', 'less than or equal', '100')
        ),
      items: ['id', 'name', 'colour', 'price', 'mixedAt'],
      sort: ['mixedAt'],
      limit: 'most'
    })
  })
})
