import type { SampleDatabase } from 'uniform-rest'
import { atLeastOne, type BulkMaker, REFERRED, type Sellable, sellablesOf, someIds, someSellables } from './orders.js'
import { GIVEN_NAMES } from './shop.js'
import {
  amountOf,
  dateTimeOf,
  hardText,
  idsOf,
  moment,
  momentAfter,
  numbered,
  type SampleAggregate,
  type SampleMaker,
  type SampleRandom,
  type SampleRow
} from './values.js'

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

/** Each of the customers 1 and 2, those of the sample accounts, has one of eight rows. */
const ACCOUNT_EVERY = 8

/** The owner of a row among `customerIds`. The lowest two ids are those of the sample accounts. */
function ownerOf(id: number, customerIds: readonly number[], random: SampleRandom): number {
  const customerId = customerIds[(id % ACCOUNT_EVERY) - 1]
  return customerId !== undefined && customerId <= 2 ? customerId : random.pick(customerIds)
}

/** Bookmarks of users, whose ids are those of their customers. Every bookmark has a session of its own. */
function bookmarkMaker(userIds: readonly number[]): SampleMaker {
  return (id, random) => ({
    root: {
      id,
      userId: ownerOf(id, userIds, random),
      sessionId: id,
      note: random.chance(30) ? null : (hardText(id, 1) ?? null),
      createdAt: dateTimeOf(moment(random))
    },
    children: {}
  })
}

const SUBJECTS = ['Tea', 'Knives', 'Glass', 'Gardens', 'Wool', 'Coffee', 'Skis', 'Clocks']
const EVENT_KINDS = ['An Evening of', 'Workshop:', 'The Future of', 'Caring for', 'Meet the Makers of']
const STATUSES = ['draft', 'scheduled', 'scheduled', 'scheduled', 'cancelled']

/** Events at the given venues, the first of them scheduled. */
function eventMaker(venueIds: readonly number[]): SampleMaker {
  return (id, random) => {
    const starts = moment(random)
    return {
      root: {
        id,
        title: hardText(id + 14, 2) ?? `${random.pick(EVENT_KINDS)} ${random.pick(SUBJECTS)}`,
        startsAt: dateTimeOf(starts),
        endsAt: dateTimeOf(momentAfter(random, starts, 3)),
        venueId: random.pick(venueIds),
        status: id === 1 ? 'scheduled' : random.pick(STATUSES)
      },
      children: {}
    }
  }
}

const CURRENCIES = ['EUR', 'EUR', 'USD', 'JPY', 'ISK']
const MAX_ITEMS = 5

/** An order that a cart may have become. */
interface CartOrder {
  readonly number: string
  readonly customerId: number
}

interface Surroundings {
  readonly customerIds: readonly number[]
  readonly sellables: readonly Sellable[]
  /** Codes of coupons; may be empty. */
  readonly couponCodes: readonly string[]
  /** If it is empty, every cart is open. */
  readonly orders: readonly CartOrder[]
}

/** Carts with up to five items. Every fifth is checked out if there are orders. */
function shoppingCartMaker({ customerIds, sellables, couponCodes, orders }: Surroundings): SampleMaker {
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
      // A cart that was checked out is not empty.
      children: { items: itemsOf(random.int(order === undefined ? 0 : 1, MAX_ITEMS), sellables, random) }
    }
  }
}

/** A product or variant that is picked twice becomes one item. */
function itemsOf(count: number, sellables: readonly Sellable[], random: SampleRandom): SampleRow[] {
  const picked = new Set(Array.from({ length: count }, () => random.pick(sellables)))
  return Array.from(picked, ({ productId, variantId }) => ({ productId, variantId, quantity: random.int(1, 9) }))
}

const SURNAMES = ["O'Hara", 'de la Cruz', 'Øst', 'Šimić', 'Smith, Sr.', '山田', 'Петренко', 'null']
const BIOS = [
  'Has spoken since 1999.',
  'Two lines:\nthis is the second.',
  '=HYPERLINK("x") is no link',
  '50% talk, 50% demo; _all_ fun',
  'Says "hi" with a \\',
  ''
]

/** Speakers at the given events. */
function speakerMaker(eventIds: readonly number[]): SampleMaker {
  return (id, random) => ({
    root: {
      id,
      name: hardText(id, 3) ?? `${random.pick(GIVEN_NAMES)} ${random.pick(SURNAMES)}`,
      bio: random.chance(30) ? null : random.pick(BIOS),
      eventId: random.pick(eventIds),
      isConfirmed: random.chance(60)
    },
    children: {}
  })
}

const PLANS = ['Basic', 'basic', 'Plus', 'Café, monthly', '=Pro', '-10%', 'team_5', '"Gold"', "Owner's", 'Чай', 'お茶']

/** Subscriptions of customers, most of them active. */
function subscriptionMaker(customerIds: readonly number[]): SampleMaker {
  return (id, random) => ({
    root: {
      id,
      customerId: ownerOf(id, customerIds, random),
      plan: random.pick(PLANS),
      renewsAt: dateTimeOf(moment(random)),
      status: random.chance(75) ? 'active' : 'paused'
    },
    children: {}
  })
}

const SEATS = ['A-12', 'row 3, seat 7', 'Balcony "left"', '-1', '=B2', 'Ränge 4', '100%', 'VIP_1', '二階5']
/** The highest price that the column can hold, and a free ticket, by id. */
const PRICES: Readonly<Record<number, string>> = { 3: '99999999.99', 4: '0.00' }

/** Tickets of customers to events. */
function ticketMaker(eventIds: readonly number[], customerIds: readonly number[]): SampleMaker {
  return (id, random) => ({
    root: {
      id,
      eventId: random.pick(eventIds),
      customerId: ownerOf(id, customerIds, random),
      seat: random.chance(30) ? null : random.pick(SEATS),
      status: random.chance(70) ? 'valid' : 'checked-in',
      price: PRICES[id] ?? amountOf(random.int(10, 400) * 25)
    },
    children: {}
  })
}

const VENUE_KINDS = ['Hall', 'Club', 'Theatre', 'Garden', 'Library', 'Barn', 'Gallery']
const NAMES = ['Old', 'North', 'River', 'Market', 'Corn', 'Glass', 'Union']
const CITIES = ['Berlin', 'Córdoba', 'Kraków', 'Lyon', 'Reykjavík', '東京', 'L’Aquila', 'Saint-Denis, Réunion']

/** Venues, the first of them open. */
const venueMaker: SampleMaker = (id, random) => ({
  root: {
    id,
    // 14 skips the first hard texts, so that those with a meaning in spreadsheets and LIKE are used.
    name: hardText(id + 14, 2) ?? `${random.pick(NAMES)} ${random.pick(VENUE_KINDS)}`,
    city: random.pick(CITIES),
    capacity: random.int(2, 200) * 10,
    isOpen: id === 1 || random.chance(80)
  },
  children: {}
})

/** Bulk makers of the front office. A resource comes after those that it refers to. */
export const frontOfficeBulkMakers: ReadonlyMap<string, BulkMaker> = new Map<string, BulkMaker>([
  ['venues', () => Promise.resolve(venueMaker)],
  ['events', async (database) => eventMaker(await atLeastOne(someIds(database, 'venues'), 'venues'))],
  ['speakers', async (database) => speakerMaker(await atLeastOne(someIds(database, 'events'), 'events'))],
  [
    'tickets',
    async (database) =>
      ticketMaker(await atLeastOne(someIds(database, 'events'), 'events'), await customerIds(database))
  ],
  ['bookmarks', async (database) => bookmarkMaker(await customerIds(database))],
  ['subscriptions', async (database) => subscriptionMaker(await customerIds(database))],
  [
    'shopping-carts',
    async (database) =>
      shoppingCartMaker({
        customerIds: await customerIds(database),
        sellables: await atLeastOne(someSellables(database), 'products'),
        couponCodes: await someCouponCodes(database),
        orders: []
      })
  ]
])

function customerIds(database: SampleDatabase): Promise<readonly number[]> {
  return atLeastOne(someIds(database, 'customers'), 'customers')
}

async function someCouponCodes(database: SampleDatabase): Promise<string[]> {
  const rows = await database.select<{ code: string }>(`SELECT code FROM coupons ORDER BY id LIMIT ${REFERRED}`)
  return rows.map(({ code }) => code)
}
