import { defineApplication, migrationsIn } from 'uniform-rest'

export default defineApplication({
  entities: [],
  roles: { Admin: [] },
  settings: {
    OWNER_BYPASS_ROLE: 'Admin',
    // A mistyped filter is rejected, and not answered with all rows.
    STRICT_HANDLING: 'true',
    // Applications that share a key ring do not accept each other's tokens.
    DATA_PROTECTION_APPLICATION_NAME: 'my-app'
  },
  migrations: await migrationsIn(new URL('./migrations/', import.meta.url))
})
