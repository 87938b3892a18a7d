import { expect } from 'chai'
import { insertRows, TABLES, type NewRow } from '../harness/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { describeApi } from './api-store.js'
import { parseCsv, values } from '../stack/csv.js'
import { filter } from './http-call.js'

/** The largest number of rows that one statement of an export reads (MySQL 1000, SQLite 250). */
const LARGEST_BATCH = 1000
const ROWS = 2000
/** Customer 1 is ada, customer 2 is ben. */
const ADA = 1
const BEN = 2

/** Foreign rows and rows that no filter wants lie everywhere between the others, the last rows included. */
const ORDERS: readonly NewRow[] = Array.from({ length: ROWS }, (_, index) => ({
  id: index + 1,
  number: `O-${String(index + 1).padStart(6, '0')}`,
  customerId: index % 3 === 2 ? BEN : ADA,
  status: index % 5 === 4 ? 'placed' : 'paid',
  total: `${index % 10}.00`,
  placedAt: '2026-04-01T10:00:00.000Z',
  paidAt: index % 2 === 0 ? null : '2026-04-02T10:00:00.000Z',
  deliveredAt: null,
  trackingCode: null
}))

const isOfAda = (row: NewRow): boolean => row['customerId'] === ADA
const isPaid = (row: NewRow): boolean => row['status'] === 'paid'

/** Each has an order of its own way through an index: by id, by a column with ties, by one that is null in many rows. */
const SORTS = ['id', 'total', 'paidAt']

const CASES: readonly (readonly [rule: string, account: string, query: string, holds: (row: NewRow) => boolean])[] = [
  ['holds rows of the caller alone', 'ada', '', isOfAda],
  ['holds rows of the filter alone', 'admin', filter('status', 'equals', 'paid'), isPaid],
  [
    'holds rows of both the caller and the filter alone',
    'ada',
    filter('status', 'equals', 'paid'),
    (row) => isOfAda(row) && isPaid(row)
  ],
  [
    'of a filter for the rows of another owner is empty',
    'ada',
    filter('customerId', 'equals', String(BEN)),
    () => false
  ]
]

describeApi(
  'every batch of an export of several batches',
  (store) => {
    before(async () => {
      await withTestDatabase(store.databaseUrl, async (database) => {
        await insertRows(
          database,
          TABLES.customers,
          [ADA, BEN].map((id) => ({
            id,
            name: `Customer ${id}`,
            email: `c${id}@example.com`,
            isSuspended: false,
            createdAt: '2025-05-05T05:05:05.005Z'
          }))
        )
        await insertRows(database, TABLES.orders, ORDERS)
      })
    })

    for (const [rule, account, query, holds] of CASES) {
      for (const sort of SORTS) {
        it(`${rule}, sorted by ${sort}`, async () => {
          const expected = ORDERS.filter(holds).map(({ id }) => Number(id))
          if (expected.length > 0) expect(expected.length, 'rows, for a second batch').to.be.above(LARGEST_BATCH)
          const answer = await store.as(
            account,
            `/orders/export?bom=false&fields=id,customerId,status&sortColumn=${sort}&${query}`
          )
          expect(answer.status, answer.text.slice(0, 500)).to.equal(200)
          const [header, ...rows] = parseCsv(answer.text).map(values)
          expect(header).to.deep.equal(['id', 'customerId', 'status'])
          const foreign = rows.filter(([id]) => !holds(ORDERS[Number(id) - 1] ?? {}))
          expect(foreign.slice(0, 5), `${foreign.length} rows that the caller must not get`).to.deep.equal([])
          const ids = rows.map(([id]) => Number(id)).toSorted((a, b) => a - b)
          expect(ids, 'ids').to.deep.equal(expected)
        })
      }
    }
  },
  { rows: 'none' }
)
