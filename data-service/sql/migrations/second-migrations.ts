import type { Migration } from './migration.js'
import { createProductReviews } from './second/001-product-reviews.js'

/** The schema of the second store, in order. Both stores may be one database, so names differ from the primary's. */
export const secondMigrations: readonly Migration[] = [createProductReviews]
