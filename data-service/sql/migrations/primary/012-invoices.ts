import { dateTime, int, money, optional, text, unique } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createInvoices: Migration = {
  name: '012-invoices',
  up: createTables(
    table('invoices', {
      columns: {
        id: int(),
        orderId: unique(int()),
        customerId: int(),
        number: unique(text(64)),
        total: money(12, 2),
        status: text(32),
        issuedAt: optional(dateTime())
      },
      sorted: ['orderId', 'customerId', 'number', 'total', 'status', 'issuedAt'],
      references: { orderId: 'orders', customerId: 'customers' }
    })
  )
}
