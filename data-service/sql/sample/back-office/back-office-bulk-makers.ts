import { atLeastOne, someIds, someKeys, type BulkMaker } from '../referred-rows.js'
import { couponMaker } from './sample-coupons.js'
import { invoiceMaker } from './sample-invoices.js'
import { purchaseOrderMaker } from './sample-purchase-orders.js'
import { returnMaker } from './sample-returns.js'
import { stockItemMaker } from './sample-stock-items.js'
import { supplierMaker } from './sample-suppliers.js'
import { warehouseMaker } from './sample-warehouses.js'
import { ordersToInvoice, someDeliveredOrders } from './some-orders.js'

/** Bulk makers of the back office, what is referred to first. */
export const backOfficeBulkMakers: ReadonlyMap<string, BulkMaker> = new Map<string, BulkMaker>([
  ['coupons', () => Promise.resolve(couponMaker)],
  ['suppliers', () => Promise.resolve(supplierMaker)],
  ['warehouses', () => Promise.resolve(warehouseMaker)],
  [
    'stock-items',
    async (sequelize) =>
      stockItemMaker(
        await atLeastOne(someKeys(sequelize, 'warehouses'), 'warehouses'),
        await atLeastOne(someIds(sequelize, 'products'), 'products')
      )
  ],
  [
    'purchase-orders',
    async (sequelize) =>
      purchaseOrderMaker(
        await atLeastOne(someIds(sequelize, 'suppliers'), 'suppliers'),
        await atLeastOne(someIds(sequelize, 'products'), 'products')
      )
  ],
  [
    'returns',
    async (sequelize) => returnMaker(await atLeastOne(someDeliveredOrders(sequelize), 'orders that were delivered'))
  ],
  ['invoices', async (sequelize, count) => invoiceMaker(await ordersToInvoice(sequelize, count))]
])
