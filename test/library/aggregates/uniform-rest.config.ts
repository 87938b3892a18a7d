import { defineApplication } from 'uniform-rest'
import { createCrates, crateEntities } from './crates.js'
import { checks, createTrips, passes, stops, trips, words } from './trips.js'

/** An application whose creates bring rows of other resources along. */
export default defineApplication({
  entities: [trips, stops, checks, words, passes, ...crateEntities],
  roles: { Guide: ['trips:manage'], Keeper: ['trips:manage', 'parts:manage'] },
  migrations: [createTrips, createCrates]
})
