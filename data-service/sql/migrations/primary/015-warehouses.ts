import { bool, guid, text } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createWarehouses: Migration = {
  name: '015-warehouses',
  up: createTables(
    table('warehouses', {
      columns: { id: guid(), name: text(200), city: text(200), isOpen: bool() },
      sorted: ['name', 'city', 'isOpen']
    })
  )
}
