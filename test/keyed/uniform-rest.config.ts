import { defineApplication } from 'uniform-rest'
import {
  countries,
  deliveries,
  devices,
  grades,
  holidays,
  placements,
  shelves,
  signals,
  tickets,
  writtenHandler
} from './entities.js'
import { operations } from './operations.js'
import { sampleRows } from './sample.js'
import { createSecondTables, createTables } from './tables.js'

/** Keys of every kind where other tests have numbers: samples, operations, hooks, events and a second store. */
export default defineApplication({
  entities: [countries, holidays, grades, tickets, shelves, placements, devices, signals, deliveries],
  typedServices: { package: 'keyed.v1' },
  operations,
  outbox: [writtenHandler],
  roles: { Keeper: ['keyed:manage'] },
  migrations: [createTables],
  secondStore: { setting: 'NOTES_DATABASE_URL', name: 'notes', migrations: [createSecondTables] },
  sample: { password: 'demo-password', accounts: [], rows: sampleRows }
})
