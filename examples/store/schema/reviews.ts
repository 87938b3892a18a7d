import { createTables, dateTime, freeText, int, type Migration, optional, table, text } from 'uniform-rest'

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
