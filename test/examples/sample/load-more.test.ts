import { expect } from 'chai'
import { QueryTypes } from 'sequelize'
import { bulkMakers, loadMore } from '../../../examples/store/sample/load-more.js'
import { sampleDatabase } from '../../../schema/sample-rows.js'
import { entities } from '../../harness/own-tables.js'
import { isSoak } from '../../harness/in-soak.js'
import { eachDatabase } from '../../harness/database.js'
import { type FreshStores, freshStores } from '../../schema/fresh-stores.js'

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
        await loadMore(sampleDatabase(stores.databases.primary, entities), { resource: 'products', count: 1 }, quiet)
      } catch (error) {
        message = String(error)
      }
      expect(message).to.match(/refer to categories, and there are none/)
    })

    it('are made of every resource, as many as asked', async () => {
      for (const resource of bulkMakers.keys())
        await loadMore(sampleDatabase(stores.databases.primary, entities), { resource, count: 30 }, quiet)
      for (const resource of bulkMakers.keys()) {
        expect(await count(resource.replaceAll('-', '_')), resource).to.equal(30)
      }
      for (const table of [
        'product_variants',
        'customer_addresses',
        'order_lines',
        'return_lines',
        'purchase_order_lines',
        'shopping_cart_items'
      ]) {
        expect(await count(table), table).to.be.above(0)
      }
    })

    it('come behind those that are there, and never take the number of one that was deleted', async () => {
      await stores.primary.query(
        "INSERT INTO categories (name, slug, row_version) VALUES ('x', 'x', X'0102030405060708')"
      )
      await stores.primary.query("DELETE FROM categories WHERE slug = 'x'")
      await loadMore(sampleDatabase(stores.databases.primary, entities), { resource: 'categories', count: 2 }, quiet)
      expect(await numbers('SELECT id AS n FROM categories WHERE id > 30 ORDER BY id')).to.deep.equal([32, 33])
    })

    it('with guids come behind those that are there, whatever guids the service made', async () => {
      const insert = "INSERT INTO warehouses (id, name, city, is_open, row_version) VALUES ($id, 'x', 'x', 1, $version)"
      for (const id of ['00000000-0000-4000-7fff-ffffffffffff', 'ffffffff-ffff-4fff-bfff-ffffffffffff']) {
        await stores.primary.query(insert, { bind: { id, version: Buffer.alloc(8) }, type: QueryTypes.INSERT })
      }
      await loadMore(sampleDatabase(stores.databases.primary, entities), { resource: 'warehouses', count: 2 }, quiet)
      const rows = await stores.primary.query<{ id: string }>(
        "SELECT id FROM warehouses WHERE id LIKE '00000000-0000-4000-8000-%' ORDER BY id DESC LIMIT 3",
        { type: QueryTypes.SELECT }
      )
      expect(rows.map(({ id }) => id.slice(-4))).to.deep.equal(['0020', '001f', '001e'])
    })

    it('with long ids come out of the numbering of their table', async () => {
      await loadMore(sampleDatabase(stores.databases.primary, entities), { resource: 'stock-items', count: 2 }, quiet)
      expect(await numbers('SELECT id AS n FROM stock_items WHERE id > 29 ORDER BY id')).to.deep.equal([30, 31, 32])
    })

    it('invoice no order twice, and say so when there are too few', async () => {
      let message = ''
      try {
        await loadMore(sampleDatabase(stores.databases.primary, entities), { resource: 'invoices', count: 1 }, quiet)
      } catch (error) {
        message = String(error)
      }
      expect(message).to.match(/An order has one invoice, and 0 have none/)
      await loadMore(sampleDatabase(stores.databases.primary, entities), { resource: 'orders', count: 3 }, quiet)
      await loadMore(sampleDatabase(stores.databases.primary, entities), { resource: 'invoices', count: 2 }, quiet)
      expect(await numbers('SELECT order_id AS n FROM invoices WHERE id > 30 ORDER BY id')).to.deep.equal([31, 32])
    })

    it('return nothing but what was delivered', async () => {
      const [wrong] = await numbers(
        `SELECT COUNT(*) AS n FROM returns r JOIN orders o ON o.id = r.order_id
        WHERE o.status <> 'delivered' OR o.customer_id <> r.customer_id OR r.requested_at <= o.delivered_at`
      )
      expect(wrong).to.equal(0)
      const [amounts] = await numbers(
        `SELECT COUNT(*) AS n FROM invoices i JOIN orders o ON o.id = i.order_id WHERE i.total = o.total AND
        i.customer_id = o.customer_id AND (i.issued_at IS NULL OR i.issued_at > o.placed_at)`
      )
      expect(amounts).to.equal(32)
    })

    // More rows than one statement takes: each of the two on one database, and on both in the soak.
    if (isSoak || kind === 'mysql')
      it('leave room to rows that are added meanwhile', async () => {
        const added: Promise<unknown>[] = []
        const insert =
          "INSERT INTO customers (name, email, is_suspended, created_at, row_version) VALUES ('m', $email, 0, $at, $version)"
        await loadMore(
          sampleDatabase(stores.databases.primary, entities),
          { resource: 'customers', count: 10_001 },
          (loaded) => {
            const bind = { email: `m${loaded}@example.com`, at: '2026-01-01 00:00:00.000', version: Buffer.alloc(8) }
            added.push(stores.primary.query(insert, { bind, type: QueryTypes.INSERT }))
          }
        )
        await Promise.all(added)
        expect(await count('customers')).to.equal(30 + 10_001 + added.length)
      })

    if (isSoak || kind === 'sqlite')
      it('tell how far they are', async () => {
        const told: number[] = []
        await loadMore(
          sampleDatabase(stores.databases.primary, entities),
          { resource: 'categories', count: 10_001 },
          (loaded) => told.push(loaded)
        )
        expect(told).to.deep.equal([10_000, 10_001])
      })
  })
})
