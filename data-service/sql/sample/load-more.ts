import type { Sequelize } from 'sequelize'
import { entities } from '../../entities/index.js'
import { bulkMakers } from './bulk-makers.js'
import { childTarget, insertRows, rootTarget } from './insert-rows.js'
import { reserveIds } from './reserve-ids.js'
import { SampleRandom } from './sample-random.js'

/** Roots of one transaction. */
const CHUNK = 10_000

/** Indexes grow at random places: 200 MB of pages stay in memory while SQLite, whose default is 2 MB, loads. */
const SQLITE_CACHE = 'PRAGMA cache_size = -200000'

export interface LoadOrder {
  /** A resource of the registry. */
  readonly resource: string
  readonly count: number
}

/**
 * Adds `count` roots with their children of the primary store to a migrated database, for benchmarks; reviews are not
 * among them. `progress` is told after each transaction how many roots there are so far. Throws an Error for a
 * resource that nothing makes rows of, and where rows that the new ones refer to are missing.
 */
export async function loadMore(
  sequelize: Sequelize,
  { resource, count }: LoadOrder,
  progress: (loaded: number) => void
): Promise<void> {
  const entity = entities.find(({ name }) => name === resource)
  const makerOf = bulkMakers.get(resource)
  if (entity === undefined || makerOf === undefined) {
    throw new Error(`There are no sample rows of ${resource}; there are of ${[...bulkMakers.keys()].join(', ')}`)
  }
  const make = await makerOf(sequelize, count)
  const firstId = await reserveIds(sequelize, entity, count)
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
