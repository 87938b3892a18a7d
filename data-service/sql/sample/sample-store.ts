import { sampleCategories } from './sample-categories.js'
import { customerMaker } from './sample-customers.js'
import { orderMaker, type Sellable } from './sample-orders.js'
import { productMaker } from './sample-products.js'
import type { SampleAggregate, SampleMaker, SampleRow } from './sample-aggregate.js'
import { SampleRandom } from './sample-random.js'

const PRODUCTS = 2000
const CUSTOMERS = 200
const ORDERS = 1500

/** The whole sample store: aggregates by resource, in an order in which what is referred to comes first. */
export function sampleStore(): ReadonlyMap<string, readonly SampleAggregate[]> {
  const categories = sampleCategories()
  const products = numbered('products', PRODUCTS, productMaker(idsOf(categories)))
  const customers = numbered('customers', CUSTOMERS, customerMaker)
  const orders = numbered('orders', ORDERS, orderMaker(idsOf(customers), sellablesOf(products)))
  return new Map([
    ['categories', categories],
    ['products', products],
    ['customers', customers],
    ['orders', orders]
  ])
}

/** Aggregates with roots from 1 to `count`, children numbered through all of them. */
function numbered(resource: string, count: number, make: SampleMaker): SampleAggregate[] {
  const last = new Map<string, number>()
  return Array.from({ length: count }, (_, index) => {
    const { root, children } = make(index + 1, new SampleRandom(resource, index + 1))
    const withIds = Object.entries(children).map(([name, rows]): [string, SampleRow[]] => {
      const before = last.get(name) ?? 0
      last.set(name, before + rows.length)
      return [name, rows.map((row, position) => ({ ...row, id: before + position + 1 }))]
    })
    return { root, children: Object.fromEntries(withIds) }
  })
}

function idsOf(aggregates: readonly SampleAggregate[]): number[] {
  return aggregates.map(({ root }) => Number(root['id']))
}

/** Every product as it is and every variant of it. */
function sellablesOf(products: readonly SampleAggregate[]): Sellable[] {
  return products.flatMap(({ root, children }) => {
    const productId = Number(root['id'])
    const variants = (children['variants'] ?? []).map(({ id, price }) => ({
      variantId: Number(id),
      price: String(price)
    }))
    return [{ variantId: null, price: String(root['price']) }, ...variants].map((one) => ({ productId, ...one }))
  })
}
