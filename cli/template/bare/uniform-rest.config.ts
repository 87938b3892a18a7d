import { defineApplication, migrationsIn } from 'uniform-rest'

export default defineApplication({
  entities: [],
  roles: { Admin: [] },
  settings: { OWNER_BYPASS_ROLE: 'Admin' },
  migrations: await migrationsIn(new URL('./migrations/', import.meta.url))
})
