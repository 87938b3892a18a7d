import type { SampleMaker } from '../sample-aggregate.js'
import type { SampleRandom } from '../sample-random.js'
import { dateTimeOf, momentAfter } from '../sample-values.js'

/** What an invoice takes from its order. */
export interface InvoicedOrder {
  readonly id: number
  readonly customerId: number
  readonly number: string
  readonly total: string
  readonly status: string
  readonly placedAt: string
}

/** Invoices of the given orders in turn, which are as many at least: an order has one. */
export function invoiceMaker(orders: readonly InvoicedOrder[]): SampleMaker {
  return (id, random) => {
    const order = orders[(id - 1) % orders.length] ?? random.pick(orders)
    const status = someStatus(order, random)
    const issued = dateTimeOf(momentAfter(random, Date.parse(order.placedAt), 3))
    const wasIssued = status === 'issued' || (status === 'void' && random.chance(50))
    return {
      root: {
        id,
        orderId: order.id,
        customerId: order.customerId,
        number: `I${order.number.slice(1)}`,
        total: order.total,
        status,
        issuedAt: wasIssued ? issued : null
      },
      children: {}
    }
  }
}

/** An order that was called off after all has a void one. */
function someStatus({ status }: InvoicedOrder, random: SampleRandom): string {
  if (status === 'cancelled') return 'void'
  if (status === 'placed') return random.pick(['draft', 'draft', 'issued'])
  return random.pick(['issued', 'issued', 'issued', 'draft', 'void'])
}
