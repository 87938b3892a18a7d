import { engineMigrations } from '../../schema/migrations/engine-tables.js'
import { OWN } from './own-tables.js'
import store from '../../examples/store/uniform-rest.config.js'

/** What the data service runs on the primary database of the store. */
export const primaryMigrations = [...engineMigrations(OWN), ...store.migrations]
