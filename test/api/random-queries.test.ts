import { expect } from 'chai'
import fc from 'fast-check'
import { DATABASE_KINDS } from '../harness/database.js'
import { insertRows, TABLES, type NewRow } from '../oracle/insert-rows.js'
import { loadRows, type OracleRow } from '../oracle/load-rows.js'
import { answer as oracle, type OracleQuery } from '../oracle/read-oracle.js'
import { products, type OracleProperty, type OracleResource } from '../oracle/resource.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { ApiStore } from './api-store.js'
import { CATEGORIES } from './fixture.js'
import { filter, json, type Answer } from './http-call.js'
import { anyQuery, hostileQuery, randomProducts } from './random-query.js'

const seed = Number(process.env['TEST_SEED'] ?? Date.now()) % 2 ** 31
/** Each is asked of both databases: a thousand requests and more. */
const RUNS = 400

describe(`random queries, seed ${seed}`, function () {
  this.timeout(180_000)
  const stores = DATABASE_KINDS.map((kind) => new ApiStore(kind))
  const rows = new Map<ApiStore, readonly OracleRow[]>()
  const everything: readonly NewRow[] = fc.sample(randomProducts, { seed, numRuns: 1 })[0] ?? []

  before(async () => {
    for (const store of stores) {
      await store.start({ rows: 'none' })
      await withTestDatabase(store.databaseUrl, async (database) => {
        await insertRows(database, TABLES.categories, CATEGORIES)
        await insertRows(database, TABLES.products, everything)
      })
      rows.set(store, await loadRows(store.databaseUrl, products))
    }
  })
  after(async () => {
    for (const store of stores) await store.stop()
  })

  it('agree with the oracle on every database, and the databases with each other', async () => {
    await fc.assert(
      fc.asyncProperty(anyQuery(everything), async (query) => {
        const target = `/products/paged?${spelled(query)}`
        const texts: string[] = []
        for (const store of stores) {
          const answer = await store.call(target)
          agree(answer, products, rows.get(store) ?? [], query)
          texts.push(answer.status === 200 ? answer.text : '')
        }
        expect(new Set(texts).size, target).to.equal(1)
      }),
      { seed, numRuns: RUNS }
    )
  })

  it('of any shape are no server error and widen nothing', async () => {
    await fc.assert(
      fc.asyncProperty(hostileQuery, async (query) => {
        for (const store of stores) {
          for (const route of ['/orders/paged', '/products/paged', '/products', '/products/export', '/products/1']) {
            const answer = await store.call(`${route}?${query}`)
            expect(answer.status, `${route}?${query} ${answer.text.slice(0, 300)}`).to.be.below(500)
            if (route === '/orders/paged' && answer.status !== 401) expect(answer.text).to.include('request.malformed')
          }
        }
      }),
      { seed, numRuns: RUNS / 4 }
    )
  })
})

/** Holds an answer against the oracle's: refused for one of its reasons, or the same rows with the same total. */
function agree(answer: Answer, resource: OracleResource, rows: readonly OracleRow[], query: OracleQuery): void {
  const expected = oracle(resource, rows, query)
  if (expected.refused !== null) {
    expect(answer.status, answer.text).to.equal(400)
    // Each member of a list may be a fault of its own, so the kinds are compared and not their number.
    const codes = [...answer.text.matchAll(/"code":"([^"]+)"/g)].map(([, code]) => code)
    expect([...new Set(codes)]).to.have.members([...new Set(expected.refused)])
    return
  }
  expect(answer.status, answer.text).to.equal(200)
  expect(answer.headers['x-total-count']).to.equal(String(expected.total))
  const shown = json(answer)
  const items = Array.isArray(shown) ? shown.map((item: object) => own(item, resource.properties)) : shown
  if (orderedAlike(resource, query)) expect(items).to.deep.equal(expected.items)
  else expect(items).to.have.length(expected.items.length)
}

/** Texts with punctuation follow the collation, which the databases' agreement with each other checks. */
function orderedAlike(resource: OracleResource, query: OracleQuery): boolean {
  const sort = resource.properties.find(({ name }) => name.toLowerCase() === query.sortColumn?.toLowerCase())
  return sort?.type !== 'string'
}

function own(item: object, properties: readonly OracleProperty[]): object {
  const names = new Set(properties.map(({ name }) => name))
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name)))
}

function spelled(query: OracleQuery): string {
  const { filters, ...rest } = query
  return [
    ...filters.map(({ property, operator, value }) => filter(property, operator, value)),
    ...Object.entries(rest).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  ].join('&')
}
