import type { SampleMaker, SampleRow } from '../sample-aggregate.js'
import type { SampleRandom } from '../sample-random.js'
import { dateTimeOf, moment } from '../sample-values.js'

const STATUSES = ['draft', 'submitted', 'submitted', 'received', 'received', 'cancelled'] as const
type Status = (typeof STATUSES)[number]

const REASONS = ['Too late', 'Found cheaper,\n"elsewhere"', '', null]

/** Purchase orders of the given suppliers; what has arrived suits the status. */
export function purchaseOrderMaker(supplierIds: readonly number[], productIds: readonly number[]): SampleMaker {
  return (id, random) => {
    const status = random.pick(STATUSES)
    return {
      root: {
        id,
        supplierId: random.pick(supplierIds),
        status,
        expectedAt: random.chance(25) ? null : dateTimeOf(moment(random)),
        cancelReason: status === 'cancelled' ? random.pick(REASONS) : null
      },
      children: {
        lines: Array.from({ length: random.int(1, 4) }, (_, index) =>
          sampleLine(random, { productId: random.pick(productIds), status, isFirst: index === 0 })
        )
      }
    }
  }
}

/** Of a submitted order the first line always waits for some, or the order would be received. */
function sampleLine(
  random: SampleRandom,
  { productId, status, isFirst }: { readonly productId: number; readonly status: Status; readonly isFirst: boolean }
): SampleRow {
  const quantity = random.int(1, 500)
  const arrived = random.chance(50) ? 0 : random.int(0, isFirst ? quantity - 1 : quantity)
  const receivedQuantity = status === 'received' ? quantity : status === 'submitted' ? arrived : 0
  return { productId, quantity, receivedQuantity }
}
