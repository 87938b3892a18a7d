import type { SampleDatabase } from 'uniform-rest'
import { backOfficeBulkMakers } from './back-office-bulk.js'
import { frontOfficeBulkMakers } from './front-office.js'
import { atLeastOne, type BulkMaker, orderMaker, someIds, someSellables } from './orders.js'
import { categoryMaker, customerMaker, productMaker } from './shop.js'
import { NUMBERED_GUIDS, numberOfGuid, SampleRandom } from './values.js'

/** The makers of rows by resource. */
export const bulkMakers: ReadonlyMap<string, BulkMaker> = new Map<string, BulkMaker>([
  ['categories', async (database) => categoryMaker(await someIds(database, 'categories'))],
  ['products', async (database) => productMaker(await atLeastOne(someIds(database, 'categories'), 'categories'))],
  ['customers', () => Promise.resolve(customerMaker)],
  [
    'orders',
    async (database) =>
      orderMaker(
        await atLeastOne(someIds(database, 'customers'), 'customers'),
        await atLeastOne(someSellables(database), 'products')
      )
  ],
  ...backOfficeBulkMakers,
  ...frontOfficeBulkMakers
])

/** Roots of one transaction. */
const CHUNK = 10_000

interface LoadOrder {
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
  database: SampleDatabase,
  { resource, count }: LoadOrder,
  progress: (loaded: number) => void
): Promise<void> {
  const makerOf = bulkMakers.get(resource)
  if (makerOf === undefined) {
    throw new Error(`There are no sample rows of ${resource}; there are of ${[...bulkMakers.keys()].join(', ')}`)
  }
  const make = await makerOf(database, count)
  const firstId = await idsFrom(database, resource, count)
  for (let done = 0; done < count; done += CHUNK) {
    const first = firstId + done
    const length = Math.min(CHUNK, count - done)
    const aggregates = Array.from({ length }, (_, index) =>
      make(first + index, new SampleRandom(resource, first + index))
    )
    await database.insert(resource, aggregates)
    progress(done + length)
  }
}

/** The first number of the new rows. Guids continue after those that are there, unprotected from a second loader. */
async function idsFrom(database: SampleDatabase, resource: string, count: number): Promise<number> {
  if (resource !== 'warehouses') return database.reserveIds(resource, count)
  const [row] = await database.select<{ last: string | null }>(
    'SELECT MAX(id) AS last FROM warehouses WHERE id BETWEEN $first AND $beyond',
    { first: NUMBERED_GUIDS, beyond: `${NUMBERED_GUIDS}g` }
  )
  const last = row?.last ?? undefined
  return last === undefined ? 1 : numberOfGuid(last) + 1
}
