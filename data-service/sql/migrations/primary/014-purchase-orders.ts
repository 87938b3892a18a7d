import { dateTime, freeText, int, optional, text } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createPurchaseOrders: Migration = {
  name: '014-purchase-orders',
  up: createTables(
    table('purchase_orders', {
      columns: {
        id: int(),
        supplierId: int(),
        status: text(32),
        expectedAt: optional(dateTime()),
        cancelReason: optional(freeText(2000))
      },
      sorted: ['supplierId', 'status', 'expectedAt'],
      references: { supplierId: 'suppliers' }
    }),
    table('purchase_order_lines', {
      columns: { id: int(), purchaseOrderId: int(), productId: int(), quantity: int(), receivedQuantity: int() },
      partOf: { purchaseOrderId: 'purchase_orders' },
      references: { productId: 'products' }
    })
  )
}
