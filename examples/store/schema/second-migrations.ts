import type { Migration } from '../../../data-service/public/schema.js'
import { createProductReviews } from './reviews.js'

/** The schema of the second store, in order. Both stores may be one database, so names differ from the primary's. */
export const secondMigrations: readonly Migration[] = [createProductReviews]
