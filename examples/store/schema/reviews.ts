import { dateTime, freeText, int, optional, text } from '../../../data-service/public/entity.js'
import { createTables, type Migration, table } from '../../../data-service/public/schema.js'

const createProductReviews: Migration = {
  name: '001-product-reviews',
  up: createTables(
    table('product_reviews', {
      columns: {
        id: int(),
        productId: int(),
        rating: int(),
        title: text(200),
        body: optional(freeText(2000)),
        authorName: text(200),
        createdAt: dateTime()
      },
      indexed: ['productId']
    })
  )
}

/** The migrations of the second store, in order. */
export const secondMigrations: readonly Migration[] = [createProductReviews]
