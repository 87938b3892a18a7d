import { expect } from 'chai'
import fc from 'fast-check'
import { DATABASE_KINDS } from '../harness/database.js'
import { insertRows, TABLES, type NewRow } from '../oracle/insert-rows.js'
import { loadRows, type OracleRow } from '../oracle/load-rows.js'
import { answer as oracle, type OracleQuery } from '../oracle/read-oracle.js'
import { orders, products, productsOfClerk, type OracleProperty, type OracleResource } from '../oracle/resource.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { ApiStore } from './api-store.js'
import { CATEGORIES, CUSTOMERS } from './fixture.js'
import { filter, json, type Answer } from './http-call.js'
import { anyQuery, hostileQuery, randomOrders, randomProducts } from './random-query.js'

const seed = Number(process.env['TEST_SEED'] ?? Date.now()) % 2 ** 31
/** A thousand query strings in all, each asked of both databases. */
const RUNS = { products: 300, permissions: 200, orders: 300, hostile: 200 }

describe(`random queries, seed ${seed}`, function () {
  this.timeout(180_000)
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

  it('of any shape are no server error and widen nothing', async () => {
    await fc.assert(
      fc.asyncProperty(hostileQuery, async (query) => {
        for (const store of stores) {
          for (const route of ['/orders/paged', '/products/paged', '/products', '/products/export', '/products/1']) {
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

/** Holds an answer against the oracle's: rejected for one of its reasons, or the same rows with the same total. */
function agree(
  answer: Answer,
  asked: { readonly resource: OracleResource; readonly rows: readonly OracleRow[]; readonly query: OracleQuery }
): void {
  const { resource, rows, query } = asked
  const expected = oracle(resource, rows, query)
  if (expected.rejected !== null) {
    expect(answer.status, answer.text).to.equal(400)
    // Each member of a list may be a fault of its own, so the kinds are compared and not their number.
    const codes = [...answer.text.matchAll(/"code":"([^"]+)"/g)].map(([, code]) => code)
    expect([...new Set(codes)]).to.have.members([...new Set(expected.rejected)])
    return
  }
  expect(answer.status, answer.text).to.equal(200)
  expect(answer.headers['x-total-count']).to.equal(String(expected.total))
  const shown = json(answer)
  const items = Array.isArray(shown) ? shown.map((item: object) => own(item, resource.properties)) : shown
  if (orderedAlike(resource, query)) expect(items).to.deep.equal(expected.items)
  else {
    expect(items).to.have.length(expected.items.length)
    const kept = oracle(resource, rows, { filters: query.filters, pageSize: rows.length })
    if (kept.rejected === null) expect(kept.items).to.deep.include.members(Array.isArray(items) ? items : [])
  }
}

/** The neighbours of a page by its cursors are the rows around it in the order of all rows. */
async function agreeWithCursors(read: (query: string) => Promise<Answer>, query: OracleQuery): Promise<void> {
  const all = json(await read(spelled({ ...query, pageNumber: 1, pageSize: 500 })))
  if (!Array.isArray(all) || all.length === 0) return
  const size = Math.min(query.pageSize ?? 10, 7)
  const number = Math.min(query.pageNumber ?? 1, Math.ceil(all.length / size))
  const start = (number - 1) * size
  const page = await read(spelled({ ...query, pageSize: size, pageNumber: number }))
  const { pageNumber: _, ...unnumbered } = query
  const neighbours = [
    ['after', page.headers['x-next-cursor'], all.slice(start + size, start + 2 * size)],
    ['before', page.headers['x-previous-cursor'], all.slice(Math.max(0, start - size), start)]
  ] as const
  for (const [parameter, cursor, expected] of neighbours) {
    const where = `${spelled(query)} ${parameter}`
    expect(cursor !== undefined, where).to.equal(expected.length > 0)
    if (cursor === undefined) continue
    const answer = await read(`${spelled({ ...unnumbered, pageSize: size })}&${parameter}=${String(cursor)}`)
    expect(json(answer), where).to.deep.equal(expected)
  }
}

/** Texts with punctuation follow the collation, which the databases' agreement with each other checks. */
function orderedAlike(resource: OracleResource, query: OracleQuery): boolean {
  const names = (query.sortColumn ?? 'id').toLowerCase().split(',')
  return resource.properties.every(({ name, type }) => type !== 'string' || !names.includes(name.toLowerCase()))
}

function own<Item extends object>(item: Item, properties: readonly OracleProperty[]): Item {
  const names = new Set(properties.map(({ name }) => name))
  // The properties that are left keep their values.
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name))) as Item
}

/** Products without the columns that take a permission. */
function visible(rows: readonly OracleRow[]): readonly OracleRow[] {
  return rows.map((row) => own(row, products.properties))
}

function spelled(query: OracleQuery): string {
  const { filters, ...rest } = query
  return [
    ...filters.map(({ property, operator, value }) => filter(property, operator, value)),
    ...Object.entries(rest).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  ].join('&')
}
