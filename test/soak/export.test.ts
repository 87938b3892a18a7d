import { once } from 'node:events'
import { expect } from 'chai'
import { eachDatabase } from '../harness/database.js'
import { open } from '../harness/http.js'
import { ApiStore } from '../api/api-store.js'
import { insertRows, TABLES, type NewRow } from '../harness/insert-rows.js'
import { openTestDatabase } from '../oracle/test-database.js'
import { ROWS } from './lengths.js'
import { measuredExport } from './measured-export.js'
import { peakMemory } from './memory-of.js'

// In each run of the tests: test/api/export.test.ts and test/api/export-streaming.test.ts export fewer rows.

const TENTH = Math.floor(ROWS / 10)
const BATCH = 50_000
/**
 * Bytes a second of a steady reader, and what it reads: more than lies in the buffers of two systems, so that for minutes
 * at a time nothing leaves the gateway.
 */
const STEADY_PACE = 10_000
const STEADY_ROWS = Math.min(ROWS, 60_000)
/** MiB of both processes: the rows of the full size are more than a hundred, kept anywhere several times that. */
const MAX_GROWTH = 100

eachDatabase((kind) => {
  describe(`an export of ${ROWS} rows on ${kind}`, function () {
    this.timeout(30_000 + ROWS)
    const store = new ApiStore(kind)

    before(async () => {
      await store.start({ processes: true, rows: 'none', env: () => ({ MAX_EXPORT_ROWS: String(ROWS) }) })
      const database = await openTestDatabase(store.databaseUrl)
      try {
        await insertRows(database, TABLES.categories, [{ id: 1, name: 'All', parentId: null, slug: 'all' }])
        for (let start = 0; start < ROWS; start += BATCH) {
          const count = Math.min(BATCH, ROWS - start)
          await insertRows(
            database,
            TABLES.products,
            Array.from({ length: count }, (_, n) => product(start + n + 1))
          )
        }
      } finally {
        await database.close()
      }
    })
    after(() => store.stop())

    it('is whole, in order and without a marker', async () => {
      const { gateway, dataService } = store.processes
      const peaks = (): string =>
        `gateway ${peakMemory(gateway.pid) ?? '?'} MiB, data service ${peakMemory(dataService.pid) ?? '?'} MiB`
      const total = (): number => (peakMemory(gateway.pid) ?? 0) + (peakMemory(dataService.pid) ?? 0)
      const target = `${store.url}/products/export?bom=false`
      const few = await measuredExport(`${target}&filters[id].operator=lte&filters[id].value=${TENTH}`)
      const atFew = peaks()
      const before = total()
      const all = await measuredExport(target)
      process.stdout.write(
        `      ${TENTH} rows in ${few.seconds.toFixed(2)} s (peak ${atFew}), ` +
          `${ROWS} rows in ${all.seconds.toFixed(2)} s (peak ${peaks()}), ratio ${(all.seconds / few.seconds).toFixed(1)}\n`
      )
      const growth = total() - before
      expect(growth, 'MiB more for ten times the rows').to.be.below(MAX_GROWTH)
      expect(few).to.include({ rows: TENTH, consecutive: true })
      expect(all).to.include({ rows: ROWS, consecutive: true })
      expect(all.last).to.match(new RegExp(`^${ROWS},`))
    })

    it('is whole when sorted by another column', async () => {
      const answer = await measuredExport(`${store.url}/products/export?bom=false&fields=id&sortColumn=price`)
      expect(answer.rows).to.equal(ROWS)
    })

    it('is whole for a reader that is slow and steady', async function () {
      this.timeout(60_000 + (STEADY_ROWS * 200_000) / STEADY_PACE)
      const target = `${store.url}/products/export?bom=false&filters[id].operator=lte&filters[id].value=${STEADY_ROWS}`
      const response = await open(target)
      response.pause()
      const ended = once(response, 'end')
      let rows = -1
      const tick = setInterval(() => {
        const piece: unknown = response.read(Math.min(STEADY_PACE / 10, response.readableLength))
        if (Buffer.isBuffer(piece)) rows += piece.toString('latin1').split('\n').length - 1
      }, 100)
      try {
        await ended
      } finally {
        clearInterval(tick)
      }
      expect(rows).to.equal(STEADY_ROWS)
      expect(response.complete).to.equal(true)
    })
  })
})

function product(id: number): NewRow {
  return {
    id,
    name: `Product ${id}`,
    sku: `P-${id}`,
    categoryId: 1,
    price: `${id % 1000}.${String(id % 100).padStart(2, '0')}`,
    weightGrams: id % 7 === 0 ? null : id % 5000,
    barcode: String(4_000_000_000_000 + id),
    isActive: id % 3 !== 0,
    releasedAt: '2026-01-31T08:00:00.000Z',
    description: `Made to last, number ${id} of many.`
  }
}
