import { describeEveryEntity, type Predicated } from 'uniform-rest/testing'
import application from '../../../examples/clinic/uniform-rest.config.js'
import { isSoak, transports } from '../../harness/in-soak.js'
import { declarePart } from '../../harness/part-of-tests.js'

// `npm run soak` has it on both databases.
const databases = isSoak ? {} : { databases: ['sqlite'] as const }

// The first owner of these tests is a patient here, and the second one a practitioner.
const PATIENT = 1
const PRACTITIONER = 2

const appointments: Predicated = {
  rows: (row, { owner, bypass }) =>
    bypass ||
    (owner === PATIENT && row['patientId'] === PATIENT) ||
    (owner === PRACTITIONER && row['practitionerId'] === PRACTITIONER),
  rejects: ({ token, owner, bypass }) =>
    token === 'none' ? 'auth.required' : bypass || owner !== null ? undefined : 'ownership.denied',
  asksForBypass: ({ token }) => token !== 'none',
  owner: 'patientId',
  claims: ({ owner, bypass }) => owner === PATIENT && !bypass
}

const notes: Predicated = { rows: (row, { owner }) => owner === PRACTITIONER && row['authorId'] === PRACTITIONER }

declarePart(2, () =>
  describeEveryEntity({
    application,
    ...databases,
    transports,
    folder: new URL('../../../examples/clinic/', import.meta.url),
    roles: { Desk: ['rooms:assign'] },
    rules: {
      appointments: { writes: ['create', 'update', 'delete'], read: appointments, write: appointments },
      notes: {
        writes: ['create', 'update', 'delete'],
        read: notes,
        write: notes
      }
    },
    claims: ({ owner }) =>
      owner === PATIENT ? { patient_id: owner } : owner === PRACTITIONER ? { practitioner_id: owner } : {},
    values: {
      appointments: {
        rows: (n) => ({ practitionerId: PRACTITIONER, day: dayOf(n) }),
        create: (n) => ({ practitionerId: PRACTITIONER, day: dayOf(n) }),
        update: (n) => ({ day: dayOf(n) })
      },
      notes: {
        rows: { authorId: PRACTITIONER },
        references: { appointmentId: { practitionerId: PRACTITIONER } }
      }
    }
  })
)

/** Another day for each number, none of them soon. */
function dayOf(n: number): string {
  return new Date(Date.UTC(2200, 0, n)).toISOString().slice(0, 10)
}
