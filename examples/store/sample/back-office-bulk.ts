import type { SampleDatabase } from 'uniform-rest'
import {
  couponMaker,
  type DeliveredOrder,
  type InvoicedOrder,
  invoiceMaker,
  type OrderedLine,
  purchaseOrderMaker,
  returnMaker,
  stockItemMaker,
  supplierMaker,
  warehouseMaker
} from './back-office.js'
import { atLeastOne, type BulkMaker, REFERRED, someIds, someKeys } from './orders.js'

/** The first delivered orders with their lines. */
async function someDeliveredOrders(database: SampleDatabase): Promise<DeliveredOrder[]> {
  const some = `SELECT id, customer_id, delivered_at FROM orders WHERE status = 'delivered' ORDER BY id LIMIT ${REFERRED}`
  const orders = await database.select<{ id: number; customerId: number; deliveredAt: unknown }>(
    `SELECT id, customer_id AS customerId, delivered_at AS deliveredAt FROM (${some}) o ORDER BY id`
  )
  const lines = await database.select<OrderedLine & { orderId: number }>(
    `SELECT l.order_id AS orderId, l.product_id AS productId, l.variant_id AS variantId, l.quantity
    FROM (${some}) o JOIN order_lines l ON l.order_id = o.id ORDER BY l.id`
  )
  const byOrder = new Map(orders.map(({ id }): [number, OrderedLine[]] => [id, []]))
  for (const { orderId, ...line } of lines) byOrder.get(orderId)?.push(line)
  return orders.map((order) => ({
    ...order,
    deliveredAt: dateTimeOf(order.deliveredAt),
    lines: byOrder.get(order.id) ?? []
  }))
}

/** The first orders without an invoice. Throws an Error if there are fewer than `count`. */
async function ordersToInvoice(database: SampleDatabase, count: number): Promise<InvoicedOrder[]> {
  const rows = await database.select<Omit<InvoicedOrder, 'total' | 'placedAt'> & { total: unknown; placedAt: unknown }>(
    `SELECT o.id, o.customer_id AS customerId, o.number, o.total, o.status, o.placed_at AS placedAt
    FROM orders o LEFT JOIN invoices i ON i.order_id = o.id WHERE i.id IS NULL ORDER BY o.id LIMIT ${count}`
  )
  if (rows.length < count) {
    throw new Error(`An order has one invoice, and ${rows.length} have none: load more orders first, or ask for fewer`)
  }
  return rows.map((row) => ({
    ...row,
    total: database.decimal(row.total, 2),
    placedAt: dateTimeOf(row.placedAt)
  }))
}

/** A stored dateTime of either database in the format of a dateTime. */
function dateTimeOf(stored: unknown): string {
  const text = String(stored)
  return text.endsWith('Z') ? text : `${text.replace(' ', 'T')}Z`
}

/** Bulk makers of the back office. A resource comes after those that it refers to. */
export const backOfficeBulkMakers: ReadonlyMap<string, BulkMaker> = new Map<string, BulkMaker>([
  ['coupons', () => Promise.resolve(couponMaker)],
  ['suppliers', () => Promise.resolve(supplierMaker)],
  ['warehouses', () => Promise.resolve(warehouseMaker)],
  [
    'stock-items',
    async (database) =>
      stockItemMaker(
        await atLeastOne(someKeys(database, 'warehouses'), 'warehouses'),
        await atLeastOne(someIds(database, 'products'), 'products')
      )
  ],
  [
    'purchase-orders',
    async (database) =>
      purchaseOrderMaker(
        await atLeastOne(someIds(database, 'suppliers'), 'suppliers'),
        await atLeastOne(someIds(database, 'products'), 'products')
      )
  ],
  [
    'returns',
    async (database) => returnMaker(await atLeastOne(someDeliveredOrders(database), 'orders that were delivered'))
  ],
  ['invoices', async (database, count) => invoiceMaker(await ordersToInvoice(database, count))]
])
