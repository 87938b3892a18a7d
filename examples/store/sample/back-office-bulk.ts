import { QueryTypes, type Sequelize } from 'sequelize'
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
import { amountOf } from './values.js'

const select = { type: QueryTypes.SELECT } as const

/** The first delivered orders with their lines. */
async function someDeliveredOrders(sequelize: Sequelize): Promise<DeliveredOrder[]> {
  const some = `SELECT id, customer_id, delivered_at FROM orders WHERE status = 'delivered' ORDER BY id LIMIT ${REFERRED}`
  const orders = await sequelize.query<{ id: number; customerId: number; deliveredAt: unknown }>(
    `SELECT id, customer_id AS customerId, delivered_at AS deliveredAt FROM (${some}) o ORDER BY id`,
    select
  )
  const lines = await sequelize.query<OrderedLine & { orderId: number }>(
    `SELECT l.order_id AS orderId, l.product_id AS productId, l.variant_id AS variantId, l.quantity
    FROM (${some}) o JOIN order_lines l ON l.order_id = o.id ORDER BY l.id`,
    select
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
async function ordersToInvoice(sequelize: Sequelize, count: number): Promise<InvoicedOrder[]> {
  const rows = await sequelize.query<Omit<InvoicedOrder, 'total' | 'placedAt'> & { total: unknown; placedAt: unknown }>(
    `SELECT o.id, o.customer_id AS customerId, o.number, o.total, o.status, o.placed_at AS placedAt
    FROM orders o LEFT JOIN invoices i ON i.order_id = o.id WHERE i.id IS NULL ORDER BY o.id LIMIT ${count}`,
    select
  )
  if (rows.length < count) {
    throw new Error(`An order has one invoice, and ${rows.length} have none: load more orders first, or ask for fewer`)
  }
  const scaled = sequelize.getDialect() === 'sqlite'
  return rows.map((row) => ({
    ...row,
    total: scaled ? amountOf(Number(row.total)) : String(row.total),
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
