import { defineApplication } from 'uniform-rest'
import { checks, createTrips, passes, stops, trips, words } from './trips.js'

/** An application whose creates bring rows of other resources along. */
export default defineApplication({
  entities: [trips, stops, checks, words, passes],
  roles: { Guide: ['trips:manage'] },
  migrations: [createTrips]
})
