import { guid, int, long } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createStockItems: Migration = {
  name: '016-stock-items',
  up: createTables(
    table('stock_items', {
      columns: { id: long(), warehouseId: guid(), productId: int(), onHand: int(), reserved: int() },
      sorted: ['warehouseId', 'productId', 'onHand', 'reserved'],
      references: { warehouseId: 'warehouses', productId: 'products' }
    })
  )
}
