import { describeEveryEntity } from 'uniform-rest/testing'
import application from '../../../examples/sakila/uniform-rest.config.js'
import { loadSakila, SAKILA_APP } from './sakila-database.js'
import { isSoak, transports } from '../../harness/in-soak.js'
import { declarePart } from '../../harness/part-of-tests.js'

// These take minutes on each kind of database, so SQLite is left to `npm run soak`.
// Each run has one entity of each shape: numbered and composite keys, children, actions, views of each kind.
const inEachRun = {
  databases: ['mysql'],
  entities: [
    'actors',
    'customers',
    'film-actors',
    'films',
    'rental-events',
    'rentals',
    'store-days',
    'vouchers',
    'customer-list',
    'sales-by-store'
  ]
} as const

declarePart(4, () =>
  describeEveryEntity({
    application,
    ...(isSoak ? {} : inEachRun),
    transports,
    folder: SAKILA_APP,
    makeTables: async ({ url }) => {
      await loadSakila(url, 'tiny')
      await loadSakila(url, 'row-versions')
    },
    values: {
      addresses: { columns: { location: "x'00000000010100000000000000000000000000000000000000'" } },
      'actor-info': { madeOf: 'actors' },
      'customer-list': { madeOf: 'customers' },
      'film-list': { madeOf: 'films' },
      'staff-list': { madeOf: 'staff' },
      'sales-by-store': { given: true },
      'sales-by-film-category': { given: true },
      // Its rental_date is the time of the insert, which no two rentals of one copy by one customer have alike.
      rentals: { references: { inventoryId: {} } }
    }
  })
)
