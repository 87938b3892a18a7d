import { type CountReferencing, type FindByIds, reject, type StateRejection } from 'uniform-rest'

// Rules that several entities share (docs/store-rules.md). Those about the lines of orders are in order-parts.ts.

/**
 * Rejects what a suspended customer may not have, `an order`. The customer row is locked as every row is that a rule
 * looks up, so a suspension that commits first counts. Call it for the owner of the new row only: it tells that
 * the customer is suspended.
 */
export async function suspendedCustomer(
  customerId: number,
  findByIds: FindByIds,
  what: string
): Promise<StateRejection | undefined> {
  const customer = (await findByIds('customers', [customerId])).get(customerId)
  return customer?.['isSuspended'] === true
    ? reject.state(`The customer is suspended; ${what} needs one who is not.`)
    : undefined
}

/** The states of a ticket that takes a place. */
const TAKES_A_PLACE = ['valid', 'checked-in']

/** How many places of an event are taken. The event is locked, so no further ticket to it is made meanwhile. */
export function ticketsOf(eventId: number, countReferencing: CountReferencing): Promise<number> {
  return countReferencing('tickets', 'eventId', { id: eventId, where: { status: TAKES_A_PLACE } })
}
