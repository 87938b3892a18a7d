import { defineApplication } from 'uniform-rest'
import { contests, createContests, juries, verdicts } from './contests.js'
import { createDiaries, diaries } from './diaries.js'
import { createDoors, doors } from './doors.js'
import { createDocuments, documents, loans, notices } from './documents.js'
import { complaints, createErrands, errands } from './errands.js'
import { createParcels, depots, parcelHandler, parcelWebhooks, parcels, parcelWrites, receipts } from './parcels.js'
import { costCentres, createLedgers, ledgers } from './ledgers.js'
import { createFittings, fittingPairs, fittings } from './fittings.js'
import { createGauges, gaugeLogs, gaugeReadings, gauges, gaugeTotals } from './gauges.js'
import { createVisits, visits } from './visits.js'
import { addColour, branches, cities, createRooms, regions, rooms } from './rooms.js'
import { operations } from './operations.js'
import { castings, createPlays, influences, mentions, persons, plays, rehearsals } from './plays.js'
import { createPetitions, petitions } from './petitions.js'
import { createReadings, meters, readings } from './readings.js'
import { barcodes, createShelves, languages, placements, publications, shelves } from './shelves.js'
import { createSwatches, swatches } from './swatches.js'
import { createTickets, tickets } from './tickets.js'

/** A small application for the words of entity files that the reference store has no use for. */
export default defineApplication({
  entities: [
    visits,
    documents,
    loans,
    notices,
    regions,
    cities,
    branches,
    rooms,
    swatches,
    depots,
    parcels,
    parcelWrites,
    receipts,
    costCentres,
    ledgers,
    meters,
    readings,
    gauges,
    gaugeTotals,
    gaugeReadings,
    gaugeLogs,
    languages,
    publications,
    barcodes,
    shelves,
    placements,
    persons,
    plays,
    castings,
    mentions,
    influences,
    rehearsals,
    doors,
    errands,
    complaints,
    tickets,
    petitions,
    diaries,
    contests,
    juries,
    verdicts,
    fittings,
    fittingPairs
  ],
  // Without a lock, as before the first `uniform-rest proto`.
  typedServices: { package: 'library.v1' },
  outbox: [parcelHandler, ...parcelWebhooks],
  roles: { Admin: ['library:manage', 'loans:read', 'tickets:rank'], Librarian: ['library:manage'] },
  operations,
  ownerClaimType: 'member_id',
  migrations: [
    createVisits,
    createDocuments,
    createRooms,
    addColour,
    createSwatches,
    createParcels,
    createLedgers,
    createReadings,
    createGauges,
    createShelves,
    createPlays,
    createDoors,
    createErrands,
    createTickets,
    createPetitions,
    createDiaries,
    createContests,
    createFittings
  ]
})
