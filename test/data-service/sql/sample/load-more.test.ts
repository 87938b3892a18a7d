import { expect } from 'chai'
import { QueryTypes } from 'sequelize'
import { bulkMakers } from '../../../../data-service/sql/sample/bulk-makers.js'
import { loadMore } from '../../../../data-service/sql/sample/load-more.js'
import { eachDatabase } from '../../../harness/database.js'
import { freshStores, type FreshStores } from '../migrations/fresh-stores.js'

const quiet = (): void => undefined

eachDatabase((kind) => {
  describe(`more sample rows on ${kind}`, () => {
    let stores: FreshStores
    const numbers = async (sql: string): Promise<number[]> => {
      const rows = await stores.primary.query<{ n: unknown }>(sql, { type: QueryTypes.SELECT })
      return rows.map(({ n }) => Number(n))
    }
    const count = async (table: string): Promise<number> =>
      (await numbers(`SELECT COUNT(*) AS n FROM ${table}`))[0] ?? 0

    before(async () => {
      stores = await freshStores(kind)
      await stores.migrate()
    })
    after(() => stores.dispose())

    it('say what they lack', async () => {
      let message = ''
      try {
        await loadMore(stores.primary, { resource: 'products', count: 1 }, quiet)
      } catch (error) {
        message = String(error)
      }
      expect(message).to.match(/refer to categories, and there are none/)
    })

    it('are made of every resource, as many as asked', async () => {
      for (const resource of bulkMakers.keys()) await loadMore(stores.primary, { resource, count: 30 }, quiet)
      for (const resource of bulkMakers.keys()) expect(await count(resource), resource).to.equal(30)
      for (const table of ['product_variants', 'customer_addresses', 'order_lines']) {
        expect(await count(table), table).to.be.above(0)
      }
    })

    it('come behind those that are there, and never take the number of one that was deleted', async () => {
      await stores.primary.query(
        "INSERT INTO categories (name, slug, row_version) VALUES ('x', 'x', X'0102030405060708')"
      )
      await stores.primary.query("DELETE FROM categories WHERE slug = 'x'")
      await loadMore(stores.primary, { resource: 'categories', count: 2 }, quiet)
      expect(await numbers('SELECT id AS n FROM categories WHERE id > 30 ORDER BY id')).to.deep.equal([32, 33])
    })

    it('leave room to rows that are added meanwhile', async () => {
      const added: Promise<unknown>[] = []
      const insert =
        "INSERT INTO customers (name, email, is_suspended, created_at, row_version) VALUES ('m', $email, 0, $at, $version)"
      await loadMore(stores.primary, { resource: 'customers', count: 12_000 }, (loaded) => {
        const bind = { email: `m${loaded}@example.com`, at: '2026-01-01 00:00:00.000', version: Buffer.alloc(8) }
        added.push(stores.primary.query(insert, { bind, type: QueryTypes.INSERT }))
      })
      await Promise.all(added)
      expect(await count('customers')).to.equal(30 + 12_000 + added.length)
    })

    it('tell how far they are', async () => {
      const told: number[] = []
      await loadMore(stores.primary, { resource: 'categories', count: 10_001 }, (loaded) => told.push(loaded))
      expect(told).to.deep.equal([10_000, 10_001])
    })
  })
})
