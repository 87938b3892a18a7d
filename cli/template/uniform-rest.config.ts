import { defineApplication } from 'uniform-rest'
import { tasks } from './entities/tasks.js'
import { createTasks } from './migrations/001-tasks.js'

export default defineApplication({
  entities: [tasks],

  /** What the accounts of each role may do. */
  roles: {
    Admin: ['tasks:manage'],
    Editor: ['tasks:manage']
  },

  /** They run in this order, each once for each database: new ones come at the end, and old ones never change. */
  migrations: [createTasks]
})
