import { setImmediate, setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import type { Value } from '../../../data-service/entity/fields/field.js'
import type { ExportPlan } from '../../../data-service/plan/model/plans.js'
import { insertRows, TABLES } from '../../harness/insert-rows.js'
import { drain, keepRows } from './drain.js'
import { eachWay } from './each-way.js'
import { entity, type FreshReadStore, freshReadStore, never } from './fresh-read-store.js'
import { condition, exportPlan, pagePlan, path, projection, sortedBy, throughPath } from './plan-by-hand.js'

const products = entity('products')
const categories = entity('categories')
const ROWS = 2345

eachWay(({ kind, name, open }) => {
  describe(`exports on ${name}`, () => {
    let fresh: FreshReadStore

    before(async () => {
      fresh = await freshReadStore(kind, open)
      await insertRows(fresh.primary, TABLES.categories, [
        { id: 1, name: 'b', slug: '1', parentId: null },
        { id: 2, name: 'a', slug: '2', parentId: 1 },
        { id: 3, name: 'c', slug: '3', parentId: 1 }
      ])
      await insertRows(
        fresh.primary,
        TABLES.products,
        Array.from({ length: ROWS }, (_, index) => ({
          id: index + 1,
          name: ['Tea', 'tea', 'TEA ', 'é', '', '-', '100%'][index % 7] ?? '',
          sku: `S-${(index * 31) % ROWS}`,
          categoryId: 1,
          price: index < 1500 ? '5.00' : ((index % 400) - 200).toFixed(2),
          weightGrams: index % 3 === 0 ? null : index % 5,
          barcode: index < 1200 ? null : String(9007199254740993n + BigInt(index % 4)),
          isActive: true,
          releasedAt: index % 2 === 0 ? null : `2026-01-01T00:00:00.${String(index % 10).padStart(3, '0')}Z`,
          externalId: index % 2 === 0 ? null : `0f8fad5b-d9cb-469f-a165-${String(index % 50).padStart(12, '0')}`
        }))
      )
    })

    after(() => fresh.dispose())

    async function exported(plan: ExportPlan): Promise<{ rows: (readonly Value[])[]; truncated: boolean | undefined }> {
      const rows: (readonly Value[])[] = []
      let truncated: boolean | undefined
      for await (const batch of fresh.store.export(plan, keepRows, never)) {
        expect(truncated, 'a batch after the last').to.equal(undefined)
        expect(batch.count, 'rows of a batch').to.be.at.most(1000)
        expect(batch.parts).to.have.length(batch.count)
        rows.push(...batch.parts.map((values) => values.slice(0, plan.projection.selected.length)))
        truncated = batch.end?.truncated
      }
      return { rows, truncated }
    }

    for (const name of products.sortable) {
      for (const descending of [false, true]) {
        it(`gives every row once in the order of a page, by ${name} ${descending ? 'descending' : 'ascending'}`, async () => {
          const sort = sortedBy(products, path(products, name), descending)
          const { rows, truncated } = await exported(exportPlan(products, { sort }))
          const page = await fresh.store.page(pagePlan(products, { sort, limit: 5000, withTotal: false }), never)
          expect(rows.map(([id]) => id)).to.deep.equal(page.rows.map(({ values }) => values[0]))
          expect(rows).to.have.length(ROWS)
          expect(truncated).to.equal(false)
        })
      }
    }

    it('gives the rows of filter and scope, in the columns asked for', async () => {
      const plan = exportPlan(products, {
        projection: projection(products, ['price', 'id']),
        conditions: [condition(path(products, 'weightGrams'), 'equals', 4)],
        scope: { kind: 'rows-where', conditions: [condition(path(products, 'id'), 'lessThan', 16)] },
        sort: sortedBy(products, path(products, 'sku'), true)
      })
      expect((await exported(plan)).rows).to.deep.equal([
        ['5.00', 15],
        ['5.00', 5]
      ])
    })

    it('goes by a column of a referenced row', async () => {
      const parentName = throughPath(categories, 'parent', categories, 'name')
      const order = async (descending: boolean): Promise<unknown[]> =>
        (await exported(exportPlan(categories, { sort: sortedBy(categories, parentName, descending) }))).rows.flat()
      expect(await order(false)).to.deep.equal([1, 2, 3])
      expect(await order(true)).to.deep.equal([3, 2, 1])
    })

    it('stops at the limit, and tells rows left out from none', async () => {
      for (const limit of [1, 999, 1000, 1001, 2000, ROWS - 1]) {
        const { rows, truncated } = await exported(exportPlan(products, { limit }))
        expect([rows.length, truncated], `rows at the limit ${limit}`).to.deep.equal([limit, true])
      }
      expect((await exported(exportPlan(products, { limit: ROWS }))).truncated).to.equal(false)
    })

    it('sees one state of the database, whatever is written meanwhile', async () => {
      const seen: Value[] = []
      for await (const { parts: rows } of fresh.store.export(exportPlan(products), keepRows, never)) {
        if (seen.length === 0) {
          await fresh.primary.run('DELETE FROM products WHERE id = 2000')
          await fresh.primary.run('UPDATE products SET id = 99999 WHERE id = 2001')
        }
        seen.push(...rows.map(([id = null]) => id))
      }
      expect(seen).to.deep.equal(Array.from({ length: ROWS }, (_, index) => index + 1))
      const after = await exported(exportPlan(products))
      expect(after.rows).to.have.length(ROWS - 1)
    })

    it('gives the values that a page gives, also of moments with more digits than the entity file says', async () => {
      if (kind === 'mysql') {
        await fresh.primary.run('ALTER TABLE products MODIFY released_at DATETIME(6) NULL')
        await fresh.primary.run("UPDATE products SET released_at = '2026-01-02 03:04:05.000120' WHERE id = 4")
        await fresh.primary.run("UPDATE products SET released_at = '2026-01-02 03:04:05' WHERE id = 8")
        await fresh.primary.run('UPDATE products SET barcode = 9223372036854775807 WHERE id = 5')
        await fresh.primary.run('UPDATE products SET barcode = -9007199254740992 WHERE id = 6')
      }
      const names = ['id', 'name', 'price', 'weightGrams', 'barcode', 'isActive', 'releasedAt', 'externalId']
      const shape = { projection: projection(products, names) }
      const { rows } = await exported(exportPlan(products, shape))
      const page = await fresh.store.page(pagePlan(products, { ...shape, limit: 5000, withTotal: false }), never)
      expect(rows.length).to.be.above(2000)
      expect(rows[3]?.[6]).to.equal(kind === 'mysql' ? '2026-01-02T03:04:05.000120Z' : '2026-01-01T00:00:00.003Z')
      expect(rows).to.deep.equal(page.rows.map(({ values }) => values))
    })

    it('reads one batch ahead of its consumer, and no further', async () => {
      let begun = 0
      const writer: typeof keepRows = () => {
        begun += 1
        return keepRows()
      }
      const taken: number[] = []
      for await (const _batch of fresh.store.export(exportPlan(products), writer, never)) {
        await delay(100)
        taken.push(begun)
      }
      expect(taken.length, 'batches').to.be.above(2)
      expect(taken).to.deep.equal(taken.map((_, index) => Math.min(index + 2, taken.length)))
    })

    it('reads fewer rows at a time the larger they become', async () => {
      const writer = (): ReturnType<typeof keepRows> => {
        const batch = keepRows()
        let bytes = 0
        return {
          add: (values) => {
            bytes += 100_000
            batch.add(values)
          },
          get bytes() {
            return bytes
          },
          finish: batch.finish
        }
      }
      const counts: number[] = []
      for await (const { count, end } of fresh.store.export(exportPlan(products), writer, never)) {
        if (end === undefined) counts.push(count)
      }
      expect(counts[0]).to.equal(200)
      expect(new Set(counts.slice(1))).to.deep.equal(new Set([5]))
    })

    it('lets go of its snapshot when its writer throws, and throws the same', async () => {
      const broken = new Error('no such value')
      const writer = (): ReturnType<typeof keepRows> => ({
        ...keepRows(),
        add: ({ values: [id] }) => {
          if (id === 300) throw broken
        }
      })
      let counted = 0
      const reading = drain(fresh.store.export(exportPlan(products), writer, never), ({ count }) => (counted += count))
      expect(await reading.catch((error: unknown) => error)).to.equal(broken)
      expect(counted).to.equal(200)
      expect(await openSnapshots(1)).to.equal(0)
    })

    it('lets go of its snapshot when the loop is left', async () => {
      for (let round = 0; round < 3; round++) {
        for await (const { parts: rows } of fresh.store.export(exportPlan(products), keepRows, never)) {
          expect(rows, `rows of the first batch in round ${round}`).to.have.length.within(1, 1000)
          await fresh.primary.run('UPDATE products SET sku = sku WHERE id = 1')
          expect(await openSnapshots(0), `open snapshots within the loop in round ${round}`).to.equal(1)
          break
        }
        expect(await openSnapshots(1), `open snapshots after the loop in round ${round}`).to.equal(0)
      }
    })

    it('lets go of its snapshot when the loop throws and when its signal is aborted', async () => {
      const broken = new Error('broken off')
      const leave = async (signal: AbortSignal, step: () => void): Promise<unknown> => {
        try {
          await drain(fresh.store.export(exportPlan(products), keepRows, signal), step)
          return undefined
        } catch (error) {
          return error
        }
      }
      const aborting = new AbortController()
      const thrown = await leave(never, () => {
        throw broken
      })
      expect(thrown, 'what the loop threw').to.equal(broken)
      expect(await openSnapshots(1), 'open snapshots after the loop threw').to.equal(0)
      expect(await leave(aborting.signal, () => aborting.abort(broken)), 'the reason of the signal').to.equal(broken)
      expect(await openSnapshots(1), 'open snapshots after the signal').to.equal(0)
    })

    /**
     * Snapshots that are open. On SQLite one or none: a checkpoint of what was written after a snapshot began finds it
     * busy. On MySQL they are transactions; the server may need a moment to end one: it is asked again while it
     * answers `before`.
     */
    async function openSnapshots(before: number): Promise<number> {
      const ask = async (): Promise<number> => {
        if (kind === 'sqlite') {
          await fresh.primary.run('UPDATE products SET sku = sku WHERE id = 1')
          await fresh.primary.run('PRAGMA busy_timeout = 0')
          const [row] = await fresh.primary.run('PRAGMA wal_checkpoint(TRUNCATE)')
          return Number(row?.['busy'])
        }
        const [row] = await fresh.primary.run(
          'SELECT COUNT(*) AS n FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE p.db = DATABASE()'
        )
        return Number(row?.['n'])
      }
      const end = performance.now() + 5000
      let found = await ask()
      while (found === before && performance.now() < end) {
        // InnoDB answers from a cache that it renews only where the last look is more than 100 ms ago.
        await delay(150)
        found = await ask()
      }
      return found
    }

    if (kind === 'sqlite') {
      it('lets other requests in after each batch, however many exports run', async () => {
        let batches = 0
        let running = 16
        const exports = Array.from({ length: running }, async () => {
          await drain(fresh.store.export(exportPlan(products), keepRows, never), () => batches++)
          running--
        })
        let most = 0
        while (running > 0) {
          const before = batches
          await setImmediate()
          most = Math.max(most, batches - before)
        }
        await Promise.all(exports)
        expect(batches).to.be.at.least(16 * 9)
        expect(most, 'batches in one turn of the event loop').to.be.at.most(2)
      })
    }

    it('rejects with the reason of its signal', async () => {
      const aborting = new AbortController()
      const gone = new Error('gone')
      const reading = drain(fresh.store.export(exportPlan(products), keepRows, aborting.signal), () =>
        aborting.abort(gone)
      )
      expect(await reading.catch((error: unknown) => error)).to.equal(gone)
    })
  })
})
