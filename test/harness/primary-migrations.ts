import { engineMigrations } from '../../data-service/sql/schema/engine-tables.js'
import store from '../../examples/store/uniform-rest.config.js'

/** What the data service runs on the primary database of the store. */
export const primaryMigrations = [...engineMigrations, ...store.migrations]
