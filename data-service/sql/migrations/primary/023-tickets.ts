import { int, money, optional, text } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createTickets: Migration = {
  name: '023-tickets',
  up: createTables(
    table('tickets', {
      columns: {
        id: int(),
        eventId: int(),
        customerId: int(),
        seat: optional(text(64)),
        status: text(32),
        price: money(10, 2)
      },
      sorted: ['eventId', 'customerId', 'seat', 'status', 'price'],
      references: { eventId: 'events', customerId: 'customers' }
    })
  )
}
