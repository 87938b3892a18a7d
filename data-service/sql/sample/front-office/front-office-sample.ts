import { idsOf, numbered } from '../numbered.js'
import type { SampleAggregate } from '../sample-aggregate.js'
import { sellablesOf } from '../sellables.js'
import { bookmarkMaker } from './sample-bookmarks.js'
import { eventMaker } from './sample-events.js'
import { shoppingCartMaker } from './sample-shopping-carts.js'
import { speakerMaker } from './sample-speakers.js'
import { subscriptionMaker } from './sample-subscriptions.js'
import { ticketMaker } from './sample-tickets.js'
import { venueMaker } from './sample-venues.js'

const VENUES = 48
const EVENTS = 48
const SPEAKERS = 60
const TICKETS = 80
const BOOKMARKS = 80
const SUBSCRIPTIONS = 48
const SHOPPING_CARTS = 60

type Aggregates = readonly SampleAggregate[]

/** The resources of the front office, in an order in which what is referred to comes first. */
export function frontOfficeSample(of: {
  readonly products: Aggregates
  readonly customers: Aggregates
  readonly orders: Aggregates
  readonly coupons: Aggregates
}): [string, Aggregates][] {
  const customerIds = idsOf(of.customers)
  const venues = numbered('venues', VENUES, venueMaker)
  const events = numbered('events', EVENTS, eventMaker(idsOf(venues)))
  // A draft has no tickets yet; a cancelled one may have had some.
  const announced = idsOf(events.filter(({ root }) => root['status'] !== 'draft'))
  const carts = shoppingCartMaker({
    customerIds,
    sellables: sellablesOf(of.products),
    couponCodes: of.coupons.map(({ root }) => String(root['code'])),
    orders: of.orders.map(({ root }) => ({ number: String(root['number']), customerId: Number(root['customerId']) }))
  })
  return [
    ['venues', venues],
    ['events', events],
    ['speakers', numbered('speakers', SPEAKERS, speakerMaker(idsOf(events)))],
    ['tickets', numbered('tickets', TICKETS, ticketMaker(announced, customerIds))],
    ['bookmarks', numbered('bookmarks', BOOKMARKS, bookmarkMaker(customerIds))],
    ['subscriptions', numbered('subscriptions', SUBSCRIPTIONS, subscriptionMaker(customerIds))],
    ['shopping-carts', numbered('shopping-carts', SHOPPING_CARTS, carts)]
  ]
}
