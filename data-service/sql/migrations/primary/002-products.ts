import { bool, dateTime, freeText, guid, int, long, money, optional, text, unique } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createProducts: Migration = {
  name: '002-products',
  up: createTables(
    table('products', {
      columns: {
        id: int(),
        name: text(200),
        sku: unique(text(64)),
        categoryId: int(),
        price: money(10, 2),
        weightGrams: optional(int()),
        barcode: optional(long()),
        isActive: bool(),
        releasedAt: optional(dateTime()),
        externalId: optional(guid()),
        description: optional(freeText(2000))
      },
      sorted: ['name', 'sku', 'categoryId', 'price', 'weightGrams', 'barcode', 'isActive', 'releasedAt', 'externalId'],
      references: { categoryId: 'categories' }
    }),
    table('product_variants', {
      columns: {
        id: int(),
        productId: int(),
        name: text(200),
        sku: unique(text(64)),
        price: money(10, 2),
        stock: int()
      },
      partOf: { productId: 'products' }
    })
  )
}
