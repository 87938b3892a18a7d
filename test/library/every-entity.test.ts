import { describeEveryEntity } from 'uniform-rest/testing'
import application from './uniform-rest.config.js'
import { isSoak, transports } from '../harness/in-soak.js'
import { declarePart } from '../harness/part-of-tests.js'

// These take minutes on each kind of database. Each run has the entities of the store on MariaDB and these on SQLite, and
// `npm run soak` has both on both, with these entities too. Other tests of this folder see what is particular of them.
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'every-type.test.ts': ['readings'],
  'custom-types.test.ts': ['swatches'],
  'outbox.test.ts': ['depots', 'parcel-writes', 'receipts'],
  'keys.test.ts': ['languages', 'barcodes'],
  'exact-scopes.test.ts': ['diaries'],
  'write-scopes.test.ts': ['errands'],
  'navigations.test.ts': ['regions', 'cities', 'persons', 'castings', 'mentions']
}
const left = new Set(Object.values(ELSEWHERE).flat())
const inEachRun = {
  databases: ['sqlite'],
  entities: application.entities.map(({ name }) => name).filter((name) => !left.has(name))
} as const

declarePart(4, () =>
  describeEveryEntity({
    application,
    ...(isSoak ? {} : inEachRun),
    transports,
    folder: new URL('.', import.meta.url),
    bypassRole: 'Admin',
    rules: {
      visits: {
        writes: ['create', 'delete'],
        versioned: false,
        properties: ['id', 'place', 'seenAt'],
        read: 'everyone',
        write: { permission: 'library:manage' }
      },
      loans: {
        writes: [],
        read: {
          rows: (row, { owner, bypass }) => bypass || row['memberId'] === owner,
          rejects: ({ token, owner, bypass, permissions }) =>
            token === 'none'
              ? 'auth.required'
              : bypass || owner !== null || permissions.has('loans:read')
                ? undefined
                : 'capability.denied',
          asksForBypass: ({ token }) => token !== 'none'
        }
      }
    },
    claims: ({ owner, bypass }) => ({ branches: bypass ? [1, 2, 3] : owner === null ? [] : [owner] }),
    // What they would make of the row, only the entity file knows.
    except: { errands: ['give', 'move', 'hand-over'], fittings: ['announce', 'hint', 'inspect'] },
    values: {
      errands: { rows: (n) => ({ branchId: 1 + (n % 3) }) },
      notices: { rows: (n) => ({ status: n % 2 === 0 ? 'out' : 'kept' }) },
      'gauge-totals': { madeOf: 'gauges' }
    }
  })
)
