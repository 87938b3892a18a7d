import { QueryTypes, type Sequelize } from 'sequelize'
import { REFERRED } from './referred-rows.js'
import type { SampleAggregate } from './sample-aggregate.js'
import { amountOf } from './sample-values.js'

/** What a line can be of: a product as it is, or one of its variants. */
export interface Sellable {
  readonly productId: number
  readonly variantId: number | null
  readonly price: string
}

/** Every product as it is and every variant of it. */
export function sellablesOf(products: readonly SampleAggregate[]): Sellable[] {
  return products.flatMap(({ root, children }) => {
    const productId = Number(root['id'])
    const variants = (children['variants'] ?? []).map(({ id, price }) => ({
      variantId: Number(id),
      price: String(price)
    }))
    return [{ variantId: null, price: String(root['price']) }, ...variants].map((one) => ({ productId, ...one }))
  })
}

/** The first products as they are and the first variants. */
export async function someSellables(sequelize: Sequelize): Promise<Sellable[]> {
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
