import type { SampleMaker, SampleRow } from '../sample-aggregate.js'
import type { SampleRandom } from '../sample-random.js'
import { dateTimeOf, moment } from '../sample-values.js'
import type { Sellable } from '../sellables.js'
import { ownerOf } from './sample-owner.js'

const CURRENCIES = ['EUR', 'EUR', 'USD', 'JPY', 'ISK']
const MOST_ITEMS = 5

/** An order that a cart may have become. */
export interface CartOrder {
  readonly number: string
  readonly customerId: number
}

interface Surroundings {
  readonly customerIds: readonly number[]
  readonly sellables: readonly Sellable[]
  /** Codes of coupons; there may be none. */
  readonly couponCodes: readonly string[]
  /** Where there are none, every cart is open. */
  readonly orders: readonly CartOrder[]
}

/** Carts with up to five items; every fifth is checked out where there are orders. */
export function shoppingCartMaker({ customerIds, sellables, couponCodes, orders }: Surroundings): SampleMaker {
  return (id, random) => {
    const order = id % 5 === 0 && orders.length > 0 ? random.pick(orders) : undefined
    return {
      root: {
        id,
        customerId: order?.customerId ?? ownerOf(id, customerIds, random),
        currency: random.pick(CURRENCIES),
        couponCode: couponCodes.length === 0 || random.chance(60) ? null : random.pick(couponCodes),
        updatedAt: dateTimeOf(moment(random)),
        orderNumber: order?.number ?? null
      },
      // Who checks out has something in the cart.
      children: { items: itemsOf(random.int(order === undefined ? 0 : 1, MOST_ITEMS), sellables, random) }
    }
  }
}

/** A product or variant that is picked twice is in the cart once. */
function itemsOf(count: number, sellables: readonly Sellable[], random: SampleRandom): SampleRow[] {
  const picked = new Set(Array.from({ length: count }, () => random.pick(sellables)))
  return Array.from(picked, ({ productId, variantId }) => ({ productId, variantId, quantity: random.int(1, 9) }))
}
