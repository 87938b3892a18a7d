import { bool, freeText, int, optional, text } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createSpeakers: Migration = {
  name: '022-speakers',
  up: createTables(
    table('speakers', {
      columns: { id: int(), name: text(200), bio: optional(freeText(2000)), eventId: int(), isConfirmed: bool() },
      sorted: ['name', 'eventId'],
      references: { eventId: 'events' }
    })
  )
}
