import { defineApplication, migrationsIn } from 'uniform-rest'

export default defineApplication({
  entities: [],
  roles: { Admin: [] },
  // A mistyped filter is rejected, and not answered with all rows.
  settings: { OWNER_BYPASS_ROLE: 'Admin', STRICT_HANDLING: 'true' },
  migrations: await migrationsIn(new URL('./migrations/', import.meta.url))
})
