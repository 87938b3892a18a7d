import { dateTime, freeText, int, optional, text } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createReturns: Migration = {
  name: '011-returns',
  up: createTables(
    table('returns', {
      columns: {
        id: int(),
        orderId: int(),
        customerId: int(),
        reason: freeText(2000),
        status: text(32),
        requestedAt: dateTime(),
        rejectReason: optional(freeText(2000))
      },
      sorted: ['orderId', 'customerId', 'status', 'requestedAt'],
      references: { orderId: 'orders', customerId: 'customers' }
    }),
    table('return_lines', {
      columns: { id: int(), returnId: int(), productId: int(), variantId: optional(int()), quantity: int() },
      partOf: { returnId: 'returns' },
      references: { productId: 'products', variantId: 'product_variants' }
    })
  )
}
