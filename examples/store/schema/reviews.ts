import { createTable, type Migration } from 'uniform-rest'

const createProductReviews: Migration = {
  name: '001-product-reviews',
  steps: [
    createTable('product_reviews', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('product_id'),
        t.int('rating'),
        t.varchar('title', 200),
        t.varchar('body', 2000).nullable(),
        t.varchar('author_name', 200),
        t.datetime('created_at'),
        t.rowVersion()
      ],
      indexes: [t.index('product_id')]
    }))
  ]
}

/** The migrations of the second store, in order. */
export const secondMigrations: readonly Migration[] = [createProductReviews]
