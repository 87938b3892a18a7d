import { bool, int, text } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createVenues: Migration = {
  name: '020-venues',
  up: createTables(
    table('venues', {
      columns: { id: int(), name: text(200), city: text(200), capacity: int(), isOpen: bool() },
      sorted: ['name', 'city', 'capacity', 'isOpen']
    })
  )
}
