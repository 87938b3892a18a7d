import { describeEveryEntity } from 'uniform-rest/testing'
import application from '../../../examples/clinic/uniform-rest.config.js'
import { transports } from '../../harness/in-soak.js'

// Here the expected answers come from the words of the entity files, which name two kinds of owners. Each owner of these
// tests is a patient and a practitioner. In every-entity.test.ts they come from rules written by hand.
describeEveryEntity({
  application,
  transports,
  databases: ['sqlite'],
  folder: new URL('../../../examples/clinic/', import.meta.url),
  values: {
    appointments: {
      rows: (n) => ({ day: dayOf(n) }),
      create: (n) => ({ day: dayOf(n) }),
      update: (n) => ({ day: dayOf(n) })
    },
    notes: { rows: { authorId: 1 }, create: { authorId: 1 }, references: { appointmentId: { practitionerId: 1 } } }
  }
})

/** Another day for each number, none of them soon: on the day itself patients change nothing. */
function dayOf(n: number): string {
  return new Date(Date.UTC(2200, 0, n)).toISOString().slice(0, 10)
}
