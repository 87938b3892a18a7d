import type { Value } from '../../entity/value.js'
import type { SampleMaker, SampleRow } from './sample-aggregate.js'
import type { SampleRandom } from './sample-random.js'
import type { Sellable } from './sellables.js'
import { amountOf, centsOf, dateTimeOf, moment, momentAfter } from './sample-values.js'

const STATUSES = ['placed', 'paid', 'shipped', 'delivered', 'delivered', 'delivered', 'cancelled'] as const
type Status = (typeof STATUSES)[number]

/** Customers 1 and 2, whom the sample accounts sign in as, have an order in twenty-five each. */
const ACCOUNT_EVERY = 25

/** Orders of the given customers; totals add up and dates suit the status. */
export function orderMaker(customerIds: readonly number[], sellables: readonly Sellable[]): SampleMaker {
  return (id, random) => {
    const lines = Array.from({ length: random.int(1, 5) }, () => sampleLine(random, random.pick(sellables)))
    const total = lines.reduce((sum, { quantity, unitPrice }) => sum + BigInt(quantity) * centsOf(unitPrice), 0n)
    const status = random.pick(STATUSES)
    const customerId = customerIds[(id % ACCOUNT_EVERY) - 1]
    return {
      root: {
        id,
        number: `O-${String(id).padStart(7, '0')}`,
        customerId: customerId !== undefined && customerId <= 2 ? customerId : random.pick(customerIds),
        status,
        total: amountOf(total),
        ...datesOf(status, random)
      },
      children: { lines }
    }
  }
}

type SampleLine = SampleRow & { readonly quantity: number; readonly unitPrice: string }

function sampleLine(random: SampleRandom, { productId, variantId, price }: Sellable): SampleLine {
  return { productId, variantId, quantity: random.int(1, 5), unitPrice: price }
}

/** Paid comes after placed, delivered after paid; a cancelled order may have been paid before. */
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
