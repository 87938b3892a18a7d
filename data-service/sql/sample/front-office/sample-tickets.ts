import type { SampleMaker } from '../sample-aggregate.js'
import { amountOf } from '../sample-values.js'
import { ownerOf } from './sample-owner.js'

const SEATS = ['A-12', 'row 3, seat 7', 'Balcony "left"', '-1', '=B2', 'Ränge 4', '100%', 'VIP_1', '二階5']
/** The dearest that the column holds, and one for nothing. */
const PRICES: Readonly<Record<number, string>> = { 3: '99999999.99', 4: '0.00' }

/** Tickets of customers to events. */
export function ticketMaker(eventIds: readonly number[], customerIds: readonly number[]): SampleMaker {
  return (id, random) => ({
    root: {
      id,
      eventId: random.pick(eventIds),
      customerId: ownerOf(id, customerIds, random),
      seat: random.chance(30) ? null : random.pick(SEATS),
      status: random.chance(70) ? 'valid' : 'checked-in',
      price: PRICES[id] ?? amountOf(BigInt(random.int(10, 400) * 25))
    },
    children: {}
  })
}
