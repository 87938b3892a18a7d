import { expect } from 'chai'
import type { SortKey } from '../../../data-service/plan/model/plans.js'
import { StatementLog, statements } from '../../api/statement-log.js'
import { eachDatabase } from '../../harness/database.js'
import { insertRows, TABLES } from '../../harness/insert-rows.js'
import { entity, freshReadStore, type FreshReadStore, never } from './fresh-read-store.js'
import { condition, pagePlan, path, sortedBy } from './plan-by-hand.js'

const products = entity('products')
const COUNT = 260

interface Row {
  readonly id: number
  readonly name: string
  readonly categoryId: number
  readonly price: number
  readonly weightGrams: number | null
}

/** With ties and without values, in no order of anything but the id. */
const ROWS: readonly Row[] = Array.from({ length: COUNT }, (_, index) => ({
  id: index + 1,
  name: `n${(index * 7) % 10}`,
  categoryId: 1 + (index % 2),
  price: (index * 13) % 40,
  weightGrams: index % 3 === 0 ? null : (index * 11) % 30
}))

type Name = keyof Row
type Order = readonly (readonly [name: Name, descending?: 'desc'])[]

const ORDERS: readonly Order[] = [
  [['id']],
  [['id', 'desc']],
  [['name']],
  [['name', 'desc']],
  [['price', 'desc']],
  [['weightGrams']],
  [['weightGrams', 'desc']],
  [['price']],
  [['categoryId'], ['price', 'desc']],
  // No index has this order.
  [['price'], ['weightGrams', 'desc']]
]

interface Filter {
  readonly of: (row: Row) => boolean
  readonly conditions: readonly ReturnType<typeof condition>[]
}

const FILTERS: Readonly<Record<string, Filter>> = {
  all: { of: () => true, conditions: [] },
  'a price': { of: ({ price }) => price > 9, conditions: [condition(path(products, 'price'), 'greaterThan', '9.00')] },
  'a category and a price': {
    of: ({ categoryId, price }) => categoryId === 2 && price > 9,
    conditions: [
      condition(path(products, 'categoryId'), 'equals', 2),
      condition(path(products, 'price'), 'greaterThan', '9.00')
    ]
  },
  'no weight': {
    of: ({ weightGrams }) => weightGrams === null,
    conditions: [condition(path(products, 'weightGrams'), 'isEmpty')]
  },
  'a category': {
    of: ({ categoryId }) => categoryId === 2,
    conditions: [condition(path(products, 'categoryId'), 'equals', 2)]
  },
  'a name of one digit': {
    of: ({ name }) => name.includes('7'),
    conditions: [condition(path(products, 'name'), 'contains', '7')]
  }
}

function compareValues(one: string | number | null, other: string | number | null): number {
  if (one === other) return 0
  if (one === null || other === null) return one === null ? -1 : 1
  return one < other ? -1 : 1
}

/** NULL first in ascending and last in descending order, and the id at the end in the direction before it. */
function sorted(rows: readonly Row[], order: Order): Row[] {
  return rows.toSorted((one, other) => {
    for (const [name, descending] of [...order, ['id', order.at(-1)?.[1]] as const]) {
      const compared = compareValues(one[name], other[name])
      if (compared !== 0) return descending === 'desc' ? -compared : compared
    }
    return 0
  })
}

function sortKeys(order: Order): SortKey[] {
  const keys = order.map(([name, descending]) => ({ path: path(products, name), descending: descending === 'desc' }))
  return order.some(([name]) => name === 'id')
    ? keys
    : [...keys, ...sortedBy(products, path(products, 'id'), keys.at(-1)?.descending ?? false)]
}

async function insertAll({ primary }: FreshReadStore): Promise<void> {
  const categories = [1, 2].map((id) => ({ id, name: `c${id}`, parentId: null, slug: `c${id}` }))
  await insertRows(primary, TABLES.categories, categories)
  const made = ROWS.map((row) => ({ ...row, sku: `s${row.id}`, price: `${row.price}.00`, isActive: true }))
  await insertRows(primary, TABLES.products, made)
}

eachDatabase((kind) => {
  describe(`pages of any depth on ${kind}`, () => {
    let fresh: FreshReadStore

    before(async () => {
      fresh = await freshReadStore(kind)
      await insertAll(fresh)
    })
    after(() => fresh.dispose())

    for (const order of ORDERS) {
      for (const [name, { of, conditions }] of Object.entries(FILTERS)) {
        it(`have the rows, the order and the total of ${name} by ${order.map((one) => one.join(' ')).join()}`, async () => {
          const [first, ...others] = conditions
          const all = sorted(ROWS.filter(of), order).map(({ id }) => id)
          for (const offset of [0, 7, 90, all.length - 3, all.length, all.length + 1000]) {
            for (const scoped of [false, true]) {
              const { rows, total } = await fresh.store.page(
                pagePlan(products, {
                  sort: sortKeys(order),
                  start: { kind: 'offset', offset },
                  limit: 5,
                  ...(scoped && first !== undefined
                    ? { scope: { kind: 'rows-where', conditions: [first, ...others] } }
                    : { conditions })
                }),
                never
              )
              expect(
                rows.map(({ values }) => values[0]),
                `${offset} ${scoped}`
              ).to.deep.equal(all.slice(offset, offset + 5))
              expect(total, `${offset} ${scoped}`).to.equal(all.length)
            }
          }
        })
      }
    }
  })
})

describe('pages of any depth in the log of MariaDB', () => {
  let fresh: FreshReadStore
  before(async () => {
    fresh = await freshReadStore('mysql')
    await insertAll(fresh)
  })
  after(() => fresh.dispose())

  const read = (offset: number, name = 'price', withTotal = true): Promise<unknown> =>
    fresh.store.page(
      pagePlan(products, {
        sort: sortedBy(products, path(products, name), false),
        start: { kind: 'offset', offset },
        limit: 5,
        withTotal
      }),
      never
    )

  it('are one text for all page numbers, which reads rows of the table only for the page', async () => {
    const log = await StatementLog.open(fresh.url)
    try {
      const lines = await log.during(async () => {
        for (const offset of [0, 5, 100, 10_000, 1_000_000_000]) await read(offset, 'price', false)
      })
      const texts = [
        ...new Set(
          statements(lines)
            .filter(({ command }) => command === 'Prepare')
            .map(({ text }) => text)
        )
      ]
      expect(texts).to.have.length(1)
      expect(texts[0]).to.match(/FORCE INDEX \(`products_price`\) ORDER BY .* STRAIGHT_JOIN/)
    } finally {
      await log.close()
    }
  })

  it('are read by the index that holds the values of a filter before the order', async () => {
    const log = await StatementLog.open(fresh.url)
    try {
      const lines = await log.during(async () => {
        for (const descending of [false, true]) {
          await fresh.store.page(
            pagePlan(products, {
              conditions: [condition(path(products, 'categoryId'), 'equals', 2)],
              sort: sortedBy(products, path(products, 'price'), descending),
              start: { kind: 'offset', offset: 0 },
              limit: 5,
              withTotal: true
            }),
            never
          )
        }
      })
      const texts = statements(lines).filter(({ command }) => command === 'Prepare')
      const names = texts.map(({ text }) => /FORCE INDEX \(`(\w+)`\)/.exec(text)?.[1])
      expect(names).to.deep.equal(['products_category_id_price_order', 'products_category_id_price_order'])
    } finally {
      await log.close()
    }
  })

  for (const descending of [false, true]) {
    for (const name of ['name', 'price', 'weightGrams'] as const) {
      it(`read by ${name} ${descending ? 'desc ' : ''}from a cursor no more rows than the page has`, async () => {
        const all = sorted(ROWS, [descending ? [name, 'desc'] : [name]])
        // With a value, and of weights also without one.
        for (const row of [all[10], all[130], all[245]]) {
          if (row === undefined) throw new Error('there are 260 rows')
          const key = name === 'price' ? `${row.price}.00` : row[name]
          for (const kind of ['after', 'before'] as const) {
            const log = await StatementLog.open(fresh.url)
            try {
              const lines = await log.during(async () => {
                const { rows } = await fresh.store.page(
                  pagePlan(products, {
                    sort: sortedBy(products, path(products, name), descending),
                    start: { kind, position: { keys: [key, row.id], includesRow: false } },
                    limit: 5,
                    withTotal: false
                  }),
                  never
                )
                const at = all.indexOf(row)
                const page = kind === 'after' ? all.slice(at + 1, at + 6) : all.slice(Math.max(at - 5, 0), at)
                expect(rows.map(({ values }) => values[0])).to.deep.equal(page.map(({ id }) => id))
              })
              const [executed, ...others] = statements(lines).filter(({ command }) => command === 'Execute')
              expect(others).to.deep.equal([])
              // The row of the cursor, five of the page, one behind it, and the end of the first range.
              expect(await rowsRead(fresh, executed?.text ?? '')).to.be.at.most(9)
            } finally {
              await log.close()
            }
          }
        }
      })
    }
  }

  it('are counted by reading no more rows than the limit says, and one', async () => {
    const log = await StatementLog.open(fresh.url)
    try {
      const lines = await log.during(async () => {
        const start = { kind: 'offset', offset: 0 } as const
        await fresh.store.page(pagePlan(products, { start, limit: 5, totalLimit: 20 }), never)
      })
      const [executed, ...others] = statements(lines).filter(({ command }) => command === 'Execute')
      expect(others).to.deep.equal([])
      // Twenty-one of 260, and these once more from the list that they were put into, besides what the page takes.
      expect(await rowsRead(fresh, executed?.text ?? '')).to.be.within(27, 100)
    } finally {
      await log.close()
    }
  })

  it('are answered without the index after it was dropped', async () => {
    await read(5, 'reorderLevel')
    await fresh.primary.run('ALTER TABLE products DROP INDEX products_reorder_level')
    await read(5, 'reorderLevel')
    await read(5, 'price')
  })
})

/** How often the server reads a row, of an index or a table, for a statement. */
async function rowsRead({ primary }: FreshReadStore, text: string): Promise<number> {
  const soFar = async (): Promise<number> => {
    const counters = await primary.run("SHOW SESSION STATUS LIKE 'Handler_read_%'")
    return counters.reduce((sum, { Value: value }) => sum + Number(value), 0)
  }
  const [begin, between] = [await soFar(), await soFar()]
  await primary.run(text)
  // Showing the counters reads rows as well.
  return (await soFar()) - between - (between - begin)
}
