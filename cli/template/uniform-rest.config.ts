import { defineApplication, migrationsIn } from 'uniform-rest'
import { tasks } from './entities/tasks.js'

export default defineApplication({
  entities: [tasks],

  /** What the accounts of each role may do. */
  roles: {
    Admin: ['tasks:read', 'tasks:manage'],
    Editor: ['tasks:read', 'tasks:manage']
  },

  settings: {
    /** Accounts of this role see and change the rows of every owner. `ownRows` in an entity file needs it. */
    OWNER_BYPASS_ROLE: 'Admin',
    /** A mistyped filter is rejected, and not answered with all rows. */
    STRICT_HANDLING: 'true',
    /** Applications that share a key ring do not accept each other's tokens. */
    DATA_PROTECTION_APPLICATION_NAME: 'my-app'
  },

  /** Each file of the folder, in the order of their numbers. `npx uniform-rest migrate create <name>` writes the next one. */
  migrations: await migrationsIn(new URL('./migrations/', import.meta.url))
})
