import { withOwnTables } from '../../schema/migrations/find-own-tables.js'
import { entities as declared } from '../../examples/store/entities/index.js'
import { DEFAULT_PREFIX, ownTables } from '../../data-service/sql/engines/own-tables.js'

/** The engine's own tables in a database of the tests. */
export const OWN = ownTables({ schema: undefined, prefix: DEFAULT_PREFIX })

/** As a database of version 0.2 has them. */
export const UNPREFIXED = ownTables({ schema: undefined, prefix: '' })

/** The entities of the reference store with the tables that they have in a database of the tests. */
export const entities = withOwnTables({ entities: declared, migrations: [] }, OWN)
