import { dateTime, int, optional, text } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createShoppingCarts: Migration = {
  name: '026-shopping-carts',
  up: createTables(
    table('shopping_carts', {
      columns: {
        id: int(),
        customerId: int(),
        currency: text(3),
        couponCode: optional(text(64)),
        updatedAt: dateTime(),
        orderNumber: optional(text(64))
      },
      sorted: ['customerId', 'currency', 'couponCode', 'updatedAt'],
      references: { customerId: 'customers' }
    }),
    table('shopping_cart_items', {
      columns: {
        id: int(),
        shoppingCartId: int(),
        productId: int(),
        variantId: optional(int()),
        quantity: int()
      },
      partOf: { shoppingCartId: 'shopping_carts' },
      references: { productId: 'products', variantId: 'product_variants' }
    })
  )
}
