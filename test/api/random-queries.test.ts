import { expect } from 'chai'
import fc from 'fast-check'
import { DATABASE_KINDS } from '../stack/databases.js'
import { insertRows, TABLES, type NewRow } from '../harness/insert-rows.js'
import { loadRows, type OracleRow } from '../oracle/load-rows.js'
import { orders, products, productsOfClerk } from '../harness/store-resources.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { agree, agreeWithCursors, own, spelled } from './agree-with-oracle.js'
import { ApiStore } from './api-store.js'
import { CATEGORIES, CUSTOMERS } from './fixture.js'
import { anyQuery, hostileQuery, randomOrders, randomProducts } from './random-query.js'

const seed = Number(process.env['TEST_SEED'] ?? Date.now()) % 2 ** 31
/** Query strings, each asked of both databases. `npm run soak` tries a thousand. */
const RUNS =
  process.env['TEST_VARIANTS'] === 'all'
    ? { products: 300, permissions: 200, orders: 300, hostile: 200 }
    : { products: 20, permissions: 14, orders: 20, hostile: 12 }

describe(`random queries, seed ${seed}`, () => {
  const stores = DATABASE_KINDS.map((kind) => new ApiStore(kind))
  const sample = (of: fc.Arbitrary<NewRow[]>): readonly NewRow[] => fc.sample(of, { seed, numRuns: 1 })[0] ?? []
  const [everyProduct, everyOrder] = [sample(randomProducts), sample(randomOrders)]
  const loaded = new Map<ApiStore, { products: readonly OracleRow[]; orders: readonly OracleRow[] }>()

  before(async () => {
    for (const store of stores) {
      await store.start({ rows: 'none' })
      await withTestDatabase(store.databaseUrl, async (database) => {
        await insertRows(database, TABLES.categories, CATEGORIES)
        await insertRows(database, TABLES.products, everyProduct)
        await insertRows(database, TABLES.customers, CUSTOMERS)
        await insertRows(database, TABLES.orders, everyOrder)
      })
      loaded.set(store, {
        products: await loadRows(store.databaseUrl, productsOfClerk),
        orders: await loadRows(store.databaseUrl, orders)
      })
    }
  })
  after(async () => {
    for (const store of stores) await store.stop()
  })

  it('agree with the oracle on every database, and the databases with each other', async () => {
    await fc.assert(
      fc.asyncProperty(anyQuery(products, everyProduct), async (query) => {
        const target = `/products/paged?${spelled(query)}`
        const texts: string[] = []
        for (const store of stores) {
          const answer = await store.call(target)
          agree(answer, { resource: products, rows: visible(loaded.get(store)?.products ?? []), query })
          if (answer.status === 200) await agreeWithCursors((other) => store.call(`/products/paged?${other}`), query)
          texts.push(answer.status === 200 ? answer.text : '')
        }
        expect(new Set(texts).size, target).to.equal(1)
      }),
      { seed, numRuns: RUNS.products }
    )
  })

  // The same queries of two callers: a name that one of them may not see is an unknown one for that caller.
  it('over columns by permission agree with the oracle of what each caller may see', async () => {
    await fc.assert(
      fc.asyncProperty(anyQuery(productsOfClerk, everyProduct), async (query) => {
        const target = `/products/paged?${spelled(query)}`
        for (const store of stores) {
          const rows = loaded.get(store)?.products ?? []
          agree(await store.as('clerk', target), { resource: productsOfClerk, rows, query })
          const answer = await store.as('ada', target)
          expect(answer.text).not.to.match(/"(costPrice|reorderLevel|margin)":/)
          agree(answer, { resource: products, rows: visible(rows), query })
        }
      }),
      { seed, numRuns: RUNS.permissions }
    )
  })

  it('of a scoped caller agree with the oracle over the own rows alone', async () => {
    await fc.assert(
      fc.asyncProperty(anyQuery(orders, everyOrder), async (query) => {
        for (const store of stores) {
          const own = loaded.get(store)?.orders.filter((row) => row['customerId'] === 1) ?? []
          const answer = await store.as('ada', `/orders/paged?${spelled(query)}`)
          agree(answer, { resource: orders, rows: own, query })
          if (answer.status === 200) await agreeWithCursors((other) => store.as('ada', `/orders/paged?${other}`), query)
        }
      }),
      { seed, numRuns: RUNS.orders }
    )
  })

  it('name includes, and get what reads by id show of each', async () => {
    const names = fc.shuffledSubarray(['category', 'Category.Parent', 'variants', 'reviews'], { minLength: 1 })
    const page = fc.record({ pageNumber: fc.integer({ min: 1, max: 30 }), pageSize: fc.integer({ min: 1, max: 10 }) })
    const read = async (store: ApiStore, target: string): Promise<Readonly<Record<string, unknown>>> => {
      const answer = await store.call(target)
      expect(answer.status, answer.text).to.equal(200)
      return JSON.parse(answer.text) as Readonly<Record<string, unknown>>
    }
    await fc.assert(
      fc.asyncProperty(names, page, async (named, { pageNumber, pageSize }) => {
        const isNamed = (name: string): boolean => named.includes(name)
        for (const store of stores) {
          const query = `pageNumber=${pageNumber}&pageSize=${pageSize}`
          const rows = await read(store, `/products/paged?${query}&include=${named.join()}`)
          const plain = await read(store, `/products/paged?${query}`)
          const expected = []
          for (const row of Object.values(plain) as readonly Readonly<Record<string, unknown>>[]) {
            const category = await read(store, `/categories/${String(row['categoryId'])}`)
            const parentId = category['parentId'] as number | null
            const parent = parentId === null ? null : await read(store, `/categories/${parentId}`)
            const nested = isNamed('Category.Parent')
            expected.push({
              ...row,
              ...(nested || isNamed('category') ? { category: { ...category, ...(nested ? { parent } : {}) } } : {}),
              // The rows of this test have none of either.
              ...(isNamed('variants') ? { variants: [] } : {}),
              ...(isNamed('reviews') ? { reviews: [] } : {})
            })
          }
          expect(rows, query).to.deep.equal(expected)
        }
      }),
      { seed, numRuns: RUNS.permissions }
    )
  })

  it('of any shape are no server error and widen nothing', async () => {
    await fc.assert(
      fc.asyncProperty(hostileQuery, async (query) => {
        for (const store of stores) {
          for (const route of [
            '/orders/paged',
            '/products/paged',
            '/products',
            '/products/totals',
            '/products/export',
            '/products/1'
          ]) {
            const answer = await store.call(`${route}?${query}`)
            expect(answer.status, `${route}?${query} ${answer.text.slice(0, 300)}`).to.be.below(500)
            if (route === '/orders/paged' && answer.status !== 401)
              expect(answer.text, route).to.include('request.malformed')
          }
        }
      }),
      { seed, numRuns: RUNS.hostile }
    )
  })
})

/** Products without the columns that take a permission. */
function visible(rows: readonly OracleRow[]): readonly OracleRow[] {
  return rows.map((row) => own(row, products.properties))
}
