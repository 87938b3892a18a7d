import { defineApplication } from 'uniform-rest'
import { createTakings, takings } from './takings.js'

/** An application whose rows are added up. */
export default defineApplication({
  entities: [takings],
  roles: { Counter: ['takings:count', 'takings:write'], Admin: ['takings:count'] },
  migrations: [createTakings]
})
