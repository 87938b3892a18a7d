import { int, optional, text, unique } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createCategories: Migration = {
  name: '001-categories',
  up: createTables(
    table('categories', {
      columns: {
        id: int(),
        name: unique(text(200)),
        parentId: optional(int()),
        slug: unique(text(64))
      },
      sorted: ['name', 'parentId', 'slug'],
      references: { parentId: 'categories' }
    })
  )
}
