import { dateTime, int, money, optional, text, unique } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createOrders: Migration = {
  name: '004-orders',
  up: createTables(
    table('orders', {
      columns: {
        id: int(),
        number: unique(text(64)),
        customerId: int(),
        status: text(32),
        total: money(12, 2),
        placedAt: dateTime(),
        paidAt: optional(dateTime()),
        deliveredAt: optional(dateTime()),
        trackingCode: optional(text(64))
      },
      sorted: ['number', 'customerId', 'status', 'total', 'placedAt', 'paidAt', 'deliveredAt', 'trackingCode'],
      references: { customerId: 'customers' }
    }),
    table('order_lines', {
      columns: {
        id: int(),
        orderId: int(),
        productId: int(),
        variantId: optional(int()),
        quantity: int(),
        unitPrice: money(10, 2)
      },
      partOf: { orderId: 'orders' },
      references: { productId: 'products', variantId: 'product_variants' }
    })
  )
}
