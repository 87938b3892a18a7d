import { defineApplication, migrationsIn } from 'uniform-rest'
import { introspected, introspectedPermissions } from './entities/introspected.js'

/** The second example: a database that was not made for uniform-rest. */
export default defineApplication({
  entities: introspected,
  roles: { Admin: introspectedPermissions },
  // Owners of rows are customers.
  ownerClaimType: 'customer_id',
  settings: { OWNER_BYPASS_ROLE: 'Admin' },
  migrations: await migrationsIn(new URL('./migrations/', import.meta.url))
})
