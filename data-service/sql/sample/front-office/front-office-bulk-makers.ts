import { QueryTypes, type Sequelize } from 'sequelize'
import { atLeastOne, REFERRED, someIds, type BulkMaker } from '../referred-rows.js'
import { someSellables } from '../sellables.js'
import { bookmarkMaker } from './sample-bookmarks.js'
import { eventMaker } from './sample-events.js'
import { shoppingCartMaker } from './sample-shopping-carts.js'
import { speakerMaker } from './sample-speakers.js'
import { subscriptionMaker } from './sample-subscriptions.js'
import { ticketMaker } from './sample-tickets.js'
import { venueMaker } from './sample-venues.js'

/** Bulk makers of the front office, what is referred to first. */
export const frontOfficeBulkMakers: ReadonlyMap<string, BulkMaker> = new Map<string, BulkMaker>([
  ['venues', () => Promise.resolve(venueMaker)],
  ['events', async (sequelize) => eventMaker(await atLeastOne(someIds(sequelize, 'venues'), 'venues'))],
  ['speakers', async (sequelize) => speakerMaker(await atLeastOne(someIds(sequelize, 'events'), 'events'))],
  [
    'tickets',
    async (sequelize) =>
      ticketMaker(await atLeastOne(someIds(sequelize, 'events'), 'events'), await customerIds(sequelize))
  ],
  ['bookmarks', async (sequelize) => bookmarkMaker(await customerIds(sequelize))],
  ['subscriptions', async (sequelize) => subscriptionMaker(await customerIds(sequelize))],
  [
    'shopping-carts',
    async (sequelize) =>
      shoppingCartMaker({
        customerIds: await customerIds(sequelize),
        sellables: await atLeastOne(someSellables(sequelize), 'products'),
        couponCodes: await someCouponCodes(sequelize),
        orders: []
      })
  ]
])

function customerIds(sequelize: Sequelize): Promise<readonly number[]> {
  return atLeastOne(someIds(sequelize, 'customers'), 'customers')
}

async function someCouponCodes(sequelize: Sequelize): Promise<string[]> {
  const rows = await sequelize.query<{ code: string }>(`SELECT code FROM coupons ORDER BY id LIMIT ${REFERRED}`, {
    type: QueryTypes.SELECT
  })
  return rows.map(({ code }) => code)
}
