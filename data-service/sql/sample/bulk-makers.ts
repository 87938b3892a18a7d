import { QueryTypes, type Sequelize } from 'sequelize'
import { atLeastOne, REFERRED, someIds, type BulkMaker } from './referred-rows.js'
import { categoryMaker } from './sample-categories.js'
import { customerMaker } from './sample-customers.js'
import { orderMaker, type Sellable } from './sample-orders.js'
import { productMaker } from './sample-products.js'
import { amountOf } from './sample-values.js'

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
