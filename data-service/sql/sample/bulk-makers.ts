import { backOfficeBulkMakers } from './back-office/back-office-bulk-makers.js'
import { frontOfficeBulkMakers } from './front-office/front-office-bulk-makers.js'
import { atLeastOne, someIds, type BulkMaker } from './referred-rows.js'
import { categoryMaker } from './sample-categories.js'
import { customerMaker } from './sample-customers.js'
import { orderMaker } from './sample-orders.js'
import { productMaker } from './sample-products.js'
import { someSellables } from './sellables.js'

/** The resources that rows can be made of. */
export const bulkMakers: ReadonlyMap<string, BulkMaker> = new Map<string, BulkMaker>([
  ['categories', async (sequelize) => categoryMaker(await someIds(sequelize, 'categories'))],
  ['products', async (sequelize) => productMaker(await atLeastOne(someIds(sequelize, 'categories'), 'categories'))],
  ['customers', () => Promise.resolve(customerMaker)],
  [
    'orders',
    async (sequelize) =>
      orderMaker(
        await atLeastOne(someIds(sequelize, 'customers'), 'customers'),
        await atLeastOne(someSellables(sequelize), 'products')
      )
  ],
  ...backOfficeBulkMakers,
  ...frontOfficeBulkMakers
])
