import { dateTime, int, text } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createEvents: Migration = {
  name: '021-events',
  up: createTables(
    table('events', {
      columns: {
        id: int(),
        title: text(200),
        startsAt: dateTime(),
        endsAt: dateTime(),
        venueId: int(),
        status: text(32)
      },
      sorted: ['title', 'startsAt', 'endsAt', 'venueId', 'status'],
      references: { venueId: 'venues' }
    })
  )
}
