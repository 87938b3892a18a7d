import { bool, int, text } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createSuppliers: Migration = {
  name: '013-suppliers',
  up: createTables(
    table('suppliers', {
      columns: { id: int(), name: text(200), country: text(64), isActive: bool() },
      sorted: ['name', 'country', 'isActive']
    })
  )
}
