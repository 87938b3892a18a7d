import type { SampleMaker, SampleRow } from '../sample-aggregate.js'
import type { SampleRandom } from '../sample-random.js'
import { dateTimeOf, momentAfter } from '../sample-values.js'

/** A delivered order that something can come back of. */
export interface DeliveredOrder {
  readonly id: number
  readonly customerId: number
  readonly deliveredAt: string
  readonly lines: readonly OrderedLine[]
}

export interface OrderedLine {
  readonly productId: number
  readonly variantId: number | null
  readonly quantity: number
}

const STATUSES = ['requested', 'approved', 'received', 'refunded', 'rejected'] as const

const REASONS = [
  'Broken on arrival.',
  'Too small; "XL" is no XL.',
  '=HYPERLINK("x")',
  'Не подошёл размер',
  'サイズが違う',
  'Wrong colour,\nwrong size',
  '-',
  ''
]
const REJECT_REASONS = ['Worn.', 'Too late by 3 days, sorry', '100% used_up']

/** Returns of the given orders in turn, each of some of what its order holds. */
export function returnMaker(orders: readonly DeliveredOrder[]): SampleMaker {
  return (id, random) => {
    const order = orders[(id - 1) % orders.length] ?? random.pick(orders)
    const status = random.pick(STATUSES)
    return {
      root: {
        id,
        orderId: order.id,
        customerId: order.customerId,
        reason: random.pick(REASONS),
        status,
        requestedAt: dateTimeOf(momentAfter(random, Date.parse(order.deliveredAt), 30)),
        rejectReason: status === 'rejected' ? random.pick(REJECT_REASONS) : null
      },
      children: { lines: someOf(order.lines, random) }
    }
  }
}

function someOf(ordered: readonly OrderedLine[], random: SampleRandom): SampleRow[] {
  const first = random.int(0, ordered.length - 1)
  return ordered
    .filter((_, index) => index === first || random.chance(30))
    .map(({ productId, variantId, quantity }) => ({ productId, variantId, quantity: random.int(1, quantity) }))
}
