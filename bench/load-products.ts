import { pino } from 'pino'
import type { Sequelize } from 'sequelize'
import { connect } from '../data-service/sql/connect.js'
import { migrate } from '../data-service/sql/schema/migrate.js'
import { categories } from '../examples/store/entities/categories.js'
import { products } from '../examples/store/entities/products.js'
import { type Batch, insertRows, rootTarget } from '../examples/store/sample/insert-rows.js'
import { productMaker, sampleCategories } from '../examples/store/sample/shop.js'
import { SampleRandom } from '../examples/store/sample/values.js'
import { primaryMigrations } from '../examples/store/schema/migrations.js'

const ROWS_AT_ONCE = 5000

// The page that is measured filters by one column and sorts by another, which no index of the schema covers; with a
// filesort of thousands of rows a request, only the database would be measured.
const PAGE_INDEX = 'CREATE INDEX `bench_category_price` ON `products` (`category_id`, `price`)'

/** Makes the schema in an empty database and fills it with sample products, ids from 1, without variants or reviews. */
export async function loadProducts(url: string, count: number): Promise<void> {
  const database = connect(url)
  const { sequelize } = database
  try {
    await migrate(database, primaryMigrations, pino({ enabled: false }))
    const tree = sampleCategories().map(({ root }) => root)
    await insert(sequelize, { target: rootTarget(categories), rows: tree, firstNumber: 1 })
    const make = productMaker(tree.map((_, index) => index + 1))
    for (let first = 1; first <= count; first += ROWS_AT_ONCE) {
      const ids = Array.from({ length: Math.min(ROWS_AT_ONCE, count - first + 1) }, (_, index) => first + index)
      const rows = ids.map((id) => make(id, new SampleRandom('bench.products', id)).root)
      await insert(sequelize, { target: rootTarget(products), rows, firstNumber: first })
    }
    await sequelize.query(PAGE_INDEX)
  } finally {
    await sequelize.close()
  }
}

async function insert(sequelize: Sequelize, batch: Batch): Promise<void> {
  await sequelize.transaction((transaction) => insertRows(sequelize, batch, transaction))
}
