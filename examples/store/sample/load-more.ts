import type { Database } from 'uniform-rest'
import { entities } from '../entities/index.js'
import { backOfficeBulkMakers } from './back-office-bulk.js'
import { frontOfficeBulkMakers } from './front-office.js'
import { childTarget, insertRows, reserveIds, rootTarget } from './insert-rows.js'
import { atLeastOne, type BulkMaker, orderMaker, someIds, someSellables } from './orders.js'
import { categoryMaker, customerMaker, productMaker } from './shop.js'
import { SampleRandom } from './values.js'

/** The makers of rows by resource. */
export const bulkMakers: ReadonlyMap<string, BulkMaker> = new Map<string, BulkMaker>([
  ['categories', async (sequelize) => categoryMaker(await someIds(sequelize, 'categories'))],
  ['products', async (sequelize) => productMaker(await atLeastOne(someIds(sequelize, 'categories'), 'categories'))],
  ['customers', () => Promise.resolve(customerMaker)],
  [
    'orders',
    async (sequelize) =>
      orderMaker(
        await atLeastOne(someIds(sequelize, 'customers'), 'customers'),
        await atLeastOne(someSellables(sequelize), 'products')
      )
  ],
  ...backOfficeBulkMakers,
  ...frontOfficeBulkMakers
])

/** Roots of one transaction. */
const CHUNK = 10_000

/** 200 MB of page cache instead of SQLite's default of 2 MB, since index pages are written in random order. */
const SQLITE_CACHE = 'PRAGMA cache_size = -200000'

export interface LoadOrder {
  /** A resource of the registry. */
  readonly resource: string
  readonly count: number
}

/**
 * Adds `count` roots with their children of the primary store, so without reviews, to a migrated database, for
 * benchmarks. `progress` is called after each transaction with the number of roots so far. Throws an Error for a resource
 * without a maker, and if there are no rows that the new ones could refer to.
 */
export async function loadMore(
  database: Database,
  { resource, count }: LoadOrder,
  progress: (loaded: number) => void
): Promise<void> {
  const { sequelize } = database
  const entity = entities.find(({ name }) => name === resource)
  const makerOf = bulkMakers.get(resource)
  if (entity === undefined || makerOf === undefined) {
    throw new Error(`There are no sample rows of ${resource}; there are of ${[...bulkMakers.keys()].join(', ')}`)
  }
  const make = await makerOf(sequelize, count)
  const firstId = await reserveIds(database, entity, count)
  for (let done = 0; done < count; done += CHUNK) {
    const first = firstId + done
    const aggregates = Array.from({ length: Math.min(CHUNK, count - done) }, (_, index) =>
      make(first + index, new SampleRandom(resource, first + index))
    )
    await sequelize.transaction(async (transaction) => {
      if (sequelize.getDialect() === 'sqlite') await sequelize.query(SQLITE_CACHE, { transaction })
      const rows = aggregates.map(({ root }) => root)
      await insertRows(sequelize, { target: rootTarget(entity), rows, firstNumber: first }, transaction)
      for (const children of entity.children.filter(({ store }) => store === 'primary')) {
        const { table, columns } = childTarget(children)
        // The database numbers them.
        const target = { table, columns: columns.filter(({ name }) => name !== 'id') }
        const childRows = aggregates.flatMap(({ root, children: byName }) =>
          (byName[children.name] ?? []).map((row) => ({ ...row, rootId: root['id'] ?? null }))
        )
        await insertRows(sequelize, { target, rows: childRows, firstNumber: first * CHUNK }, transaction)
      }
    })
    progress(done + aggregates.length)
  }
}
