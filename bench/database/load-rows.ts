import { QueryTypes, type Sequelize } from 'sequelize'
import { pino } from 'pino'
import { connect } from '../../data-service/sql/connect.js'
import { DEFAULT_PREFIX, ownTables } from '../../data-service/sql/engines/own-tables.js'
import { sampleDatabase } from '../../schema/sample-rows.js'
import { migrateDatabase } from '../../schema/migrations/migrate.js'
import { entities } from '../../examples/store/entities/index.js'
import { orderMaker, someSellables } from '../../examples/store/sample/orders.js'
import { customerMaker, productMaker, sampleCategories } from '../../examples/store/sample/shop.js'
import { SampleRandom, type SampleMaker } from '../../examples/store/sample/values.js'
import { primaryMigrations } from '../../examples/store/schema/migrations.js'

const ROWS_AT_ONCE = 5000

/** Customers who read their own orders, and of whom each connection is one. */
export const CUSTOMERS = 50

/** Of all customers together, whatever the number of products. */
const ORDERS = 20_000

/**
 * Makes the schema of the reference store in an empty database and fills it with rows of its sample: all categories,
 * `products` products (ids from 1) without variants and reviews, CUSTOMERS customers, and orders of one to five lines. It
 * adds no index: the queries that are measured run on the indexes of the migrations, for every target.
 */
export async function loadRows(url: string, products: number): Promise<void> {
  const orders = Math.min(ORDERS, Math.max(products, 10 * CUSTOMERS))
  await withDatabase(url, async (database) => {
    const own = ownTables({ schema: undefined, prefix: DEFAULT_PREFIX })
    await migrateDatabase(database, primaryMigrations, { own, log: pino({ enabled: false }) })
    const rows = sampleDatabase(database, entities)
    const insert = async (resource: string, count: number, make: SampleMaker): Promise<void> => {
      for (let first = 1; first <= count; first += ROWS_AT_ONCE) {
        const ids = Array.from({ length: Math.min(ROWS_AT_ONCE, count - first + 1) }, (_, index) => first + index)
        const made = ids.map((id) => make(id, new SampleRandom(`bench.${resource}`, id)))
        await rows.insert(
          resource,
          made.map(({ root, children }) => ({ root, children: { lines: children['lines'] ?? [] } }))
        )
      }
    }
    const tree = sampleCategories()
    await rows.insert('categories', tree)
    await insert('products', products, productMaker(tree.map((_, index) => index + 1)))
    await insert('customers', CUSTOMERS, customerMaker)
    const customers = Array.from({ length: CUSTOMERS }, (_, index) => index + 1)
    await insert('orders', orders, orderMaker(customers, await someSellables(rows)))
  })
}

/**
 * Copies the products until there are `products` of them, ids from 1 without a gap. A copy has the SKU of its original with
 * a number behind it, and shares all else with it but the id.
 */
export async function growProducts(url: string, products: number): Promise<void> {
  await withDatabase(url, async ({ sequelize }) => {
    const columns = await sequelize.query<{ name: string }>(
      "SELECT column_name AS name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'products' " +
        "AND extra NOT LIKE '%GENERATED%' AND column_name NOT IN ('id', 'sku')",
      { type: QueryTypes.SELECT }
    )
    const names = columns.map(({ name }) => `\`${name}\``).join(', ')
    // The driver gives counts as texts.
    const [counted] = await sequelize.query<{ count: string }>('SELECT COUNT(*) AS count FROM products', {
      type: QueryTypes.SELECT
    })
    const originals = Number(counted?.count)
    if (!(originals > 0)) throw new Error('There are no products to copy.')
    // One by one each index would be searched for the place of each row; made anew from all rows they are sorted once.
    const indexes = await secondaryIndexes(sequelize)
    if (indexes.length > 0) {
      await sequelize.query(`ALTER TABLE products ${indexes.map(({ name }) => `DROP INDEX ${name}`).join(', ')}`)
    }
    for (let first = originals; first < products; first += originals) {
      const copied = Math.min(originals, products - first)
      for (let from = 0; from < copied; from += 10 * ROWS_AT_ONCE) {
        const to = Math.min(from + 10 * ROWS_AT_ONCE, copied)
        await sequelize.query(
          `INSERT INTO products (id, sku, ${names}) SELECT id + ${first}, CONCAT(sku, '-', ${first}), ${names} ` +
            `FROM products WHERE id > ${from} AND id <= ${to}`
        )
      }
    }
    if (indexes.length > 0) {
      await sequelize.query(`ALTER TABLE products ${indexes.map(({ definition }) => `ADD ${definition}`).join(', ')}`)
    }
    await sequelize.query('ANALYZE TABLE products')
  })
}

/** The indexes of products but for those that keep rows unique, and the one that a foreign key needs. */
async function secondaryIndexes(sequelize: Sequelize): Promise<{ name: string; definition: string }[]> {
  const [table] = await sequelize.query<{ 'Create Table': string }>('SHOW CREATE TABLE products', {
    type: QueryTypes.SELECT
  })
  return [...(table?.['Create Table'] ?? '').matchAll(/^ {2}(KEY (`[^`]+`) .*?),?$/gm)]
    .map(([, definition = '', name = '']) => ({ name, definition }))
    .filter(({ name }) => name !== '`products_category_id`')
}

async function withDatabase(url: string, work: (database: ReturnType<typeof connect>) => Promise<void>): Promise<void> {
  const database = connect(url)
  try {
    await work(database)
  } finally {
    await database.sequelize.close()
  }
}
