import type { LookUpWhole, NamedValues } from '../entity/action.js'
import { refuse, type InputRefusal } from '../entity/refuse.js'

export interface CustomerOrder {
  readonly order: NamedValues
  readonly lines: readonly NamedValues[]
}

/**
 * The order that a request names, under lock with its lines. It must be the customer's: another's is refused in the
 * words for one that does not exist.
 */
export async function customerOrder(
  { orderId, customerId }: { readonly orderId: number; readonly customerId: number },
  lookUpWhole: LookUpWhole
): Promise<CustomerOrder | InputRefusal> {
  const found = await lookUpWhole('orders', orderId)
  if (found === undefined || found.root['customerId'] !== customerId) {
    return refuse.input('/orderId', 'orderId must be an order of the customer.')
  }
  return { order: found.root, lines: found.children['lines'] ?? [] }
}
