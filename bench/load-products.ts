import { pino } from 'pino'
import { connect } from '../data-service/sql/connect.js'
import { DEFAULT_PREFIX, ownTables } from '../data-service/sql/engines/own-tables.js'
import { sampleDatabase } from '../data-service/sql/sample-rows.js'
import { migrate } from '../data-service/sql/schema/migrate.js'
import { entities } from '../examples/store/entities/index.js'
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
  const own = ownTables({ schema: undefined, prefix: DEFAULT_PREFIX })
  try {
    await migrate(database, primaryMigrations, { own, log: pino({ enabled: false }) })
    const rows = sampleDatabase(database, entities)
    const tree = sampleCategories()
    await rows.insert('categories', tree)
    const make = productMaker(tree.map((_, index) => index + 1))
    for (let first = 1; first <= count; first += ROWS_AT_ONCE) {
      const ids = Array.from({ length: Math.min(ROWS_AT_ONCE, count - first + 1) }, (_, index) => first + index)
      const made = ids.map((id) => make(id, new SampleRandom('bench.products', id)))
      await rows.insert(
        'products',
        made.map(({ root }) => ({ root }))
      )
    }
    await sequelize.query(PAGE_INDEX)
  } finally {
    await sequelize.close()
  }
}
