import { type SampleDatabase, sumOf, times, type Value } from 'uniform-rest'
import { costOf } from './shop.js'
import {
  dateTimeOf,
  moment,
  momentAfter,
  type SampleAggregate,
  type SampleMaker,
  type SampleRandom,
  type SampleRow
} from './values.js'

/** The maximum number of rows that new rows refer to. */
export const REFERRED = 1000

/** Reads the rows that `count` new rows of a resource refer to, and returns the maker of the new rows. */
export type BulkMaker = (database: SampleDatabase, count: number) => Promise<SampleMaker>

/** Throws an Error that says what to load first if there is nothing to refer to. */
export async function atLeastOne<T>(found: Promise<readonly T[]>, resource: string): Promise<readonly T[]> {
  const rows = await found
  if (rows.length === 0) throw new Error(`The new rows refer to ${resource}, and there are none: load some first`)
  return rows
}

/** The lowest ids of a table, ints or longs. */
export async function someIds(database: SampleDatabase, table: string): Promise<number[]> {
  return (await someKeys(database, table)).map(Number)
}

/** The lowest ids of a table, whatever their type. */
export async function someKeys(database: SampleDatabase, table: string): Promise<string[]> {
  const rows = await database.select<{ id: unknown }>(`SELECT id FROM ${table} ORDER BY id LIMIT ${REFERRED}`)
  return rows.map(({ id }) => String(id))
}

/** What can be in an order line: a product, or one of its variants. */
export interface Sellable {
  readonly productId: number
  readonly variantId: number | null
  readonly price: string
}

/** All products and their variants. */
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

/** The first products and the first variants. */
export async function someSellables(database: SampleDatabase): Promise<Sellable[]> {
  const rows = await database.select<{ productId: number; variantId: number | null; price: unknown }>(
    `SELECT * FROM (SELECT id AS productId, NULL AS variantId, price FROM products ORDER BY id LIMIT ${REFERRED}) p
    UNION ALL
    SELECT * FROM (SELECT product_id, id, price FROM product_variants ORDER BY id LIMIT ${REFERRED}) v`
  )
  return rows.map(({ productId, variantId, price }) => ({
    productId,
    variantId,
    price: database.decimal(price, 2)
  }))
}

const STATUSES = ['placed', 'paid', 'shipped', 'delivered', 'delivered', 'delivered', 'cancelled'] as const
type Status = (typeof STATUSES)[number]

/** Each of the customers 1 and 2, those of the sample accounts, has one of twenty-five orders. */
const ACCOUNT_EVERY = 25

/** Makes orders of the given customers. Totals are the sums of their lines, and dates fit the status. */
export function orderMaker(customerIds: readonly number[], sellables: readonly Sellable[]): SampleMaker {
  return (id, random) => {
    const lines = Array.from({ length: random.int(1, 5) }, () => sampleLine(random, random.pick(sellables)))
    const amounts = lines.map(({ quantity, unitPrice }) => times(unitPrice, quantity))
    const status = random.pick(STATUSES)
    const customerId = customerIds[(id % ACCOUNT_EVERY) - 1]
    return {
      root: {
        id,
        number: `O-${String(id).padStart(7, '0')}`,
        customerId: customerId !== undefined && customerId <= 2 ? customerId : random.pick(customerIds),
        status,
        total: sumOf(amounts, 2),
        ...datesOf(status, random)
      },
      children: { lines }
    }
  }
}

type SampleLine = SampleRow & { readonly quantity: number; readonly unitPrice: string }

function sampleLine(random: SampleRandom, { productId, variantId, price }: Sellable): SampleLine {
  return { productId, variantId, quantity: random.int(1, 5), unitPrice: price, unitCost: costOf(productId, price) }
}

/** The dates of an order in the order of its states. A cancelled order may have been paid before. */
function datesOf(status: Status, random: SampleRandom): Record<string, Value> {
  const placed = moment(random)
  const paid = momentAfter(random, placed, 2)
  const delivered = momentAfter(random, paid, 10)
  const wasPaid = status === 'cancelled' ? random.chance(50) : status !== 'placed'
  const wasShipped = status === 'shipped' || status === 'delivered'
  return {
    placedAt: dateTimeOf(placed),
    paidAt: wasPaid ? dateTimeOf(paid) : null,
    deliveredAt: status === 'delivered' ? dateTimeOf(delivered) : null,
    trackingCode: wasShipped ? `TRK${random.int(10_000_000, 99_999_999)}` : null
  }
}
