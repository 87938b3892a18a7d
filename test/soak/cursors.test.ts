import { expect } from 'chai'
import { eachDatabase } from '../harness/database.js'
import { ApiStore } from '../api/api-store.js'
import { ids } from '../api/http-call.js'
import { insertRows, TABLES, type NewRow } from '../harness/insert-rows.js'
import { openTestDatabase } from '../oracle/test-database.js'
import { ROWS } from './lengths.js'

// test/api/cursors.test.ts walks a few rows; only these million rows show what a deep page costs.

const BATCH = 50_000
const PAGE_SIZE = 20
/** Page 10,000 of a million rows. */
const DEEP = Math.ceil(ROWS / 100)
const ASKED = 200
/** How much longer the median of a deep page by its cursor may take than that of the first page. */
const MAX_RATIO = 1.2

const SORTS = [
  ['the id', ''],
  ['a column that is never null', 'sortColumn=price'],
  ['a nullable column', 'sortColumn=weightGrams'],
  ['a nullable column, descending', 'sortColumn=weightGrams&sortDirection=desc'],
  ['mixed directions', 'sortColumn=categoryId,price&sortDirection=asc,desc']
] as const

eachDatabase((kind) => {
  describe(`cursors over ${ROWS} rows on ${kind}`, function () {
    this.timeout(60_000 + ROWS)
    const store = new ApiStore(kind)

    before(async () => {
      await store.start({ processes: true, rows: 'none' })
      const database = await openTestDatabase(store.databaseUrl)
      try {
        const categories = Array.from({ length: 10 }, (_, n) => ({
          id: n + 1,
          name: `C${n}`,
          parentId: null,
          slug: `c${n}`
        }))
        await insertRows(database, TABLES.categories, categories)
        for (let start = 0; start < ROWS; start += BATCH) {
          const count = Math.min(BATCH, ROWS - start)
          const rows = Array.from({ length: count }, (_, n) => product(start + n + 1))
          await insertRows(database, TABLES.products, rows)
        }
        await database.run(kind === 'sqlite' ? 'ANALYZE' : 'ANALYZE TABLE products')
      } finally {
        await database.close()
      }
    })
    after(() => store.stop())

    for (const [what, sort] of SORTS) {
      it(`cost no more on page ${DEEP} than on page 1, by ${what}`, async () => {
        const query = `/products/paged?includeTotal=false&pageSize=${PAGE_SIZE}&${sort}`
        const before = await store.call(`${query}&pageNumber=${DEEP - 1}`)
        const cursor = before.headers['x-next-cursor']
        expect(cursor).to.be.a('string')
        const targets = { first: query, deep: `${query}&after=${String(cursor)}` }
        const numbered = await store.call(`${query}&pageNumber=${DEEP}`)
        expect(ids(await store.call(targets.deep))).to.deep.equal(ids(numbered))
        const times = { first: Array<number>(), deep: Array<number>() }
        for (let round = 0; round < ASKED; round++) {
          for (const which of ['first', 'deep'] as const) {
            const start = performance.now()
            const answer = await store.call(targets[which])
            times[which].push(performance.now() - start)
            expect(answer.status).to.equal(200)
          }
        }
        const [first, deep] = [median(times.first), median(times.deep)]
        process.stdout.write(
          `      ${kind}, ${what}: page 1 ${first.toFixed(2)} ms, page ${DEEP} ${deep.toFixed(2)} ms, ratio ${(deep / first).toFixed(2)}\n`
        )
        if (kind !== 'sqlite') expect(deep / first).to.be.below(MAX_RATIO)
      })
    }
  })
})

function product(id: number): NewRow {
  return {
    id,
    name: `Product ${id % 1000}`,
    sku: `SKU-${id}`,
    categoryId: (id % 10) + 1,
    price: `${(id * 7919) % 1500}.90`,
    weightGrams: id % 7 === 0 ? null : (id * 31) % 400,
    isActive: true
  }
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}
