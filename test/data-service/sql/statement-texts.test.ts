import { expect } from 'chai'
import { type LoggedStatement, StatementLog, statements } from '../../api/statement-log.js'
import type { Condition } from '../../../data-service/plan/model/plans.js'
import { drain, keepRows } from './drain.js'
import { entity, freshReadStore, type FreshReadStore, never } from './fresh-read-store.js'
import {
  condition,
  everything,
  exportPlan,
  getPlan,
  listPlan,
  lookupPlan,
  pagePlan,
  path,
  projection,
  reference,
  sortedBy
} from './plan-by-hand.js'
import { insertRows, TABLES } from '../../harness/insert-rows.js'

const products = entity('products')
const categories = entity('categories')

describe('statements, as the server logs them', () => {
  let fresh: FreshReadStore
  let log: StatementLog

  before(async () => {
    fresh = await freshReadStore('mysql')
    await insertRows(fresh.primary, TABLES.categories, [{ id: 1, name: 'All', parentId: null, slug: 'all' }])
    await insertRows(
      fresh.primary,
      TABLES.products,
      Array.from({ length: 30 }, (_, index) => ({
        id: index + 1,
        name: `n${index}`,
        sku: `s${index}`,
        categoryId: 1,
        price: '1.00',
        isActive: true
      }))
    )
    log = await StatementLog.open(fresh.url)
  })

  after(async () => {
    await log.close()
    await fresh.dispose()
  })

  function texts(lines: readonly LoggedStatement[]): string[] {
    return [...new Set(lines.filter(({ command }) => command === 'Prepare').map(({ text }) => text))]
  }

  it('are one text for a thousand values and pages', async () => {
    const values = Array.from({ length: 1000 }, (_, index) => `value${index}`)
    const lines = await log.during(async () => {
      for (const [index, value] of values.entries()) {
        const conditions = [
          condition(path(products, 'name'), 'contains', value),
          condition(path(products, 'price'), 'greaterThan', `${index}.50`),
          condition(path(products, 'releasedAt'), 'notEquals', new Date(index).toISOString())
        ]
        await fresh.store.page(
          pagePlan(products, {
            conditions,
            start: { kind: 'offset', offset: index },
            limit: index + 1,
            withTotal: false
          }),
          never
        )
      }
    })
    expect(texts(lines)).to.have.length(1)
    expect(lines.filter(({ command, text }) => command === 'Query' && /value\d|LIMIT/i.test(text))).to.deep.equal([])
    expect(lines.filter(({ command }) => command === 'Execute')).to.have.length(1000)
  })

  it('are one text for the lengths of an `in` list up to each power of two', async () => {
    const lines = await log.during(async () => {
      for (let length = 1; length <= 33; length++) {
        const ids = Array.from({ length }, (_, index) => index + 1)
        const conditions = [condition(path(products, 'id'), 'in', ...ids)]
        const { rows } = await fresh.store.page(pagePlan(products, { conditions, withTotal: false }), never)
        expect(rows, `length ${length}`).to.have.length(Math.min(length, 30))
      }
    })
    // Of 1, 2, 4, 8, 16, 32 and 64.
    expect(texts(lines)).to.have.length(7)
  })

  it('stay prepared, but for the longest', async () => {
    const read = (length: number): Promise<unknown> => {
      const ids = Array.from({ length }, (_, index) => index + 1)
      return fresh.store.page(
        pagePlan(products, { conditions: [condition(path(products, 'id'), 'in', ...ids)] }),
        never
      )
    }
    const long = await log.during(async () => {
      await read(16_384)
      await read(16_384)
      // Nothing answers a close: the next statement of the connection comes after it.
      await read(1)
    })
    expect(long.filter(({ command, text }) => command === 'Prepare' && text.length > 4096)).to.have.length(2)
    expect(long.filter(({ command }) => command === 'Close stmt')).to.have.length(2)
    const short = await log.during(async () => {
      await read(1024)
      await read(1024)
    })
    expect(short.filter(({ command }) => command === 'Prepare')).to.have.length(1)
  })

  it('hold no star, name their columns, and prepare everything', async () => {
    const scope = { kind: 'rows-where', conditions: [condition(path(products, 'categoryId'), 'equals', 1)] } as const
    const lines = statements(
      await log.during(async () => {
        await fresh.store.list(listPlan(products, { projection: everything(products), scope }), never)
        await fresh.store.get(getPlan(products, 3, { scope }), never)
        await fresh.store.lookup(lookupPlan(products, { scope }), never)
        await fresh.store.page(pagePlan(products, { scope, start: { kind: 'offset', offset: 1 }, limit: 5 }), never)
      })
    )
    expect(lines.filter(({ command }) => command === 'Query')).to.deep.equal([])
    for (const { text } of lines) expect(text).to.not.match(/SELECT .*(?<!COUNT\()\*/)
    // The total comes with the page.
    expect(texts(lines)).to.have.length(4)
  })

  it('are as many for one parent as for thirty', async () => {
    const children = products.children.map((one) => ({ children: one, nested: [] }))
    const references = [
      {
        reference: reference(products, 'category'),
        target: categories,
        projection: projection(categories, ['id', 'name']),
        scope: { kind: 'all-rows' }
      } as const
    ]
    const count = async (limit: number, conditions: readonly Condition[] = []): Promise<number> =>
      statements(
        await log.during(() => fresh.store.page(pagePlan(products, { limit, children, references, conditions }), never))
      ).filter(({ command }) => command === 'Execute').length
    // The page with its total, its category, its variants.
    expect(await count(1)).to.equal(3)
    expect(await count(30)).to.equal(3)
    // No index serves a part of a text: the count is left out where the page shows the total.
    const containing = [condition(path(products, 'name'), 'contains', 'n')]
    expect(await count(1, containing)).to.equal(4)
    expect(await count(29, containing)).to.equal(4)
    expect(await count(30, containing)).to.equal(3)
  })

  it('of an export run in a transaction that only reads, each batch by key', async () => {
    const lines = statements(
      await log.during(async () => {
        const sort = sortedBy(products, path(products, 'price'), true)
        await drain(fresh.store.export(exportPlan(products, { sort }), keepRows, never))
      })
    )
    const queries = lines.filter(({ command }) => command === 'Query').map(({ text }) => text)
    expect(queries).to.deep.equal(['START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY'])
    for (const text of texts(lines)) expect(text).to.not.match(/OFFSET|LIMIT \?, \?| OR /)
  })
})
