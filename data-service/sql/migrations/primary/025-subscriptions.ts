import { dateTime, int, text } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createSubscriptions: Migration = {
  name: '025-subscriptions',
  up: createTables(
    table('subscriptions', {
      columns: { id: int(), customerId: int(), plan: text(64), renewsAt: dateTime(), status: text(32) },
      sorted: ['customerId', 'plan', 'renewsAt', 'status'],
      references: { customerId: 'customers' }
    })
  )
}
