import { engineMigrations } from '../../data-service/sql/schema/engine-tables.js'
import { primaryMigrations as ownMigrations } from '../../examples/store/schema/migrations.js'

/** What the data service runs on the primary database of the store. */
export const primaryMigrations = [...engineMigrations, ...ownMigrations]
