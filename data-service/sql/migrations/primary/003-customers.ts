import { bool, dateTime, freeText, int, optional, text, unique } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createCustomers: Migration = {
  name: '003-customers',
  up: createTables(
    table('customers', {
      columns: {
        id: int(),
        name: text(200),
        email: unique(text(254)),
        phone: optional(text(40)),
        isSuspended: bool(),
        createdAt: dateTime(),
        riskNote: optional(freeText(2000))
      },
      sorted: ['name', 'email', 'phone', 'isSuspended', 'createdAt']
    }),
    table('customer_addresses', {
      columns: {
        id: int(),
        customerId: int(),
        line1: text(200),
        city: text(200),
        postalCode: text(40),
        country: text(64)
      },
      partOf: { customerId: 'customers' }
    })
  )
}
