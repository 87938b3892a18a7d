import { defineApplication, migrationsIn } from 'uniform-rest'
import { appointments } from './entities/appointments.js'
import { notes } from './entities/notes.js'

/** The third example: two kinds of owners, whose numbers have nothing to do with each other. */
export default defineApplication({
  entities: [appointments, notes],
  owners: { patient: 'patient_id', practitioner: 'practitioner_id' },
  roles: { Desk: ['rooms:assign'] },
  settings: { OWNER_BYPASS_ROLE: 'Desk' },
  migrations: await migrationsIn(new URL('./migrations/', import.meta.url))
})
