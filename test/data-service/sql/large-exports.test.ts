import { expect } from 'chai'
import { insertRows, TABLES } from '../../harness/insert-rows.js'
import { keepRows } from './drain.js'
import { eachWay } from './each-way.js'
import { entity, type FreshReadStore, freshReadStore, never } from './fresh-read-store.js'
import { exportPlan, path, sortedBy } from './plan-by-hand.js'

const products = entity('products')
const LARGE = 'x'.repeat(2000)
const SMALL_ROWS = 600
const ROWS = SMALL_ROWS + 1600

/** Contract.md section 4: the memory of an export is flat, also where small rows stand before large ones. */
eachWay(({ kind, name, open }) => {
  describe(`Exports of large rows on ${name}`, () => {
    let fresh: FreshReadStore
    before(async () => {
      fresh = await freshReadStore(kind, open)
      await insertRows(fresh.primary, TABLES.categories, [{ id: 1, name: 'b', slug: '1', parentId: null }])
      const rows = Array.from({ length: ROWS }, (_, index) => ({
        id: index + 1,
        name: 'Tea',
        sku: `S-${index}`,
        categoryId: 1,
        price: '5.00',
        isActive: true,
        description: index < SMALL_ROWS ? 'small' : LARGE
      }))
      while (rows.length > 0) await insertRows(fresh.primary, TABLES.products, rows.splice(0, 200))
    })
    after(() => fresh?.dispose())

    it('A batch has 1 MiB at most, and each row comes once.', async () => {
      const seen: unknown[] = []
      const plan = exportPlan(products, { sort: sortedBy(products, path(products, 'id'), false) })
      for await (const { parts } of fresh.store.export(plan, keepRows, never)) {
        const large = parts.filter((values) => values.includes(LARGE))
        expect(large.length * LARGE.length).to.be.at.most(1024 * 1024)
        seen.push(...parts.map(([id]) => id))
      }
      expect(seen).to.deep.equal(Array.from({ length: ROWS }, (_, index) => index + 1))
    })
  })
})
