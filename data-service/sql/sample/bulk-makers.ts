import { QueryTypes, type Sequelize } from 'sequelize'
import type { SampleMaker } from './sample-aggregate.js'
import { categoryMaker } from './sample-categories.js'
import { customerMaker } from './sample-customers.js'
import { orderMaker, type Sellable } from './sample-orders.js'
import { productMaker } from './sample-products.js'
import { amountOf } from './sample-values.js'

/** How many rows new ones refer to, at most. */
const REFERRED = 1000

/** Looks up what new rows of a resource refer to, and returns what makes them. */
export type BulkMaker = (sequelize: Sequelize) => Promise<SampleMaker>

/** The resources that rows can be made of. */
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
  ]
])

async function atLeastOne<T>(found: Promise<readonly T[]>, resource: string): Promise<readonly T[]> {
  const rows = await found
  if (rows.length === 0) throw new Error(`The new rows refer to ${resource}, and there are none: load some first`)
  return rows
}

async function someIds(sequelize: Sequelize, table: string): Promise<number[]> {
  const rows = await sequelize.query<{ id: number }>(`SELECT id FROM ${table} ORDER BY id LIMIT ${REFERRED}`, {
    type: QueryTypes.SELECT
  })
  return rows.map(({ id }) => id)
}

async function someSellables(sequelize: Sequelize): Promise<Sellable[]> {
  const rows = await sequelize.query<{ productId: number; variantId: number | null; price: unknown }>(
    `SELECT * FROM (SELECT id AS productId, NULL AS variantId, price FROM products ORDER BY id LIMIT ${REFERRED}) p
    UNION ALL
    SELECT * FROM (SELECT product_id, id, price FROM product_variants ORDER BY id LIMIT ${REFERRED}) v`,
    { type: QueryTypes.SELECT }
  )
  const scaled = sequelize.getDialect() === 'sqlite'
  return rows.map(({ productId, variantId, price }) => ({
    productId,
    variantId,
    price: scaled ? amountOf(BigInt(Number(price))) : String(price)
  }))
}
