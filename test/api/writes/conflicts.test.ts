import { expect } from 'chai'
import { describeApi, type ApiStore } from '../api-store.js'
import { PRODUCTS, rowOf, VARIANTS, versionOf } from '../fixture.js'
import type { Answer } from '../http-call.js'
import { changesNothing } from './stored.js'
import { send, tagOf, type Write } from './send.js'

/** Words of databases and of ours about them; none may leave. */
const SQL =
  /\b(sql|insert|into|update|delete|select|where|duplicate|constraint|foreign|references|unique|index|table|column|errno|er_\w+|1062|1451|1452|2067|787|deadlock|lock|ur_idempotency_keys|product_variants|order_lines|ur_audit_entries|row_version|\w+_id|uniq\w*)\b/i

const product = { name: 'n', sku: 'FREE', categoryId: 1, price: '1.00', isActive: true }
const ifMatch = tagOf(versionOf(rowOf(PRODUCTS, 1)))
const variantRowVersion = versionOf(rowOf(VARIANTS, 1))

interface Conflict {
  readonly title: string
  readonly line: string
  readonly write: Write
  /** What the log says of the cause. */
  readonly cause: Readonly<Record<'sqlite' | 'mysql', RegExp>>
  readonly reason: string
}

const UNIQUE = {
  sqlite: /^unique key of \w+ \((sku|email)\): SQLITE_CONSTRAINT 2067$/,
  mysql: /^unique key of \w+ \((sku|email)\): ER_DUP_ENTRY 1062$/
}
const REFERENCE = {
  sqlite: /^reference key of \w+ \((category_id|customer_id)\): SQLITE_CONSTRAINT 787$/,
  mysql: /^reference key of \w+ \((category_id|customer_id)\), constraint \w+: ER_NO_REFERENCED_ROW_2 1452$/
}
const REFERENCED = {
  sqlite: /^referenced key of \w+: SQLITE_CONSTRAINT (787|1811)$/,
  mysql: /^referenced key of \w+, constraint \w+: ER_ROW_IS_REFERENCED_2 1451$/
}
const STALE = { sqlite: /stale/, mysql: /stale/ }

const UNGUARDED: readonly Conflict[] = [
  {
    title: 'a sku that is taken',
    line: 'clerk POST /products',
    write: { body: { ...product, sku: 'HM-001' } },
    cause: UNIQUE,
    reason: 'unique; property="sku"'
  },
  {
    title: 'a sku in other letters',
    line: 'clerk POST /products',
    write: { body: { ...product, sku: 'Hm-001' } },
    cause: UNIQUE,
    reason: 'unique; property="sku"'
  },
  {
    title: 'a category that is not there',
    line: 'clerk POST /products',
    write: { body: { ...product, categoryId: 99 } },
    cause: REFERENCE,
    reason: 'reference; property="categoryId"'
  },
  {
    title: 'with a key',
    line: 'clerk POST /products',
    write: { body: { ...product, sku: 'HM-001' }, key: 'k' },
    cause: UNIQUE,
    reason: 'unique; property="sku"'
  },
  {
    title: 'an email that is taken',
    line: 'clerk POST /customers',
    write: { body: { name: 'n', email: 'C1@example.com' } },
    cause: UNIQUE,
    reason: 'unique; property="email"'
  },
  {
    title: 'a customer that is not there',
    line: 'admin POST /orders',
    write: { body: { customerId: 99, lines: [{ productId: 1, quantity: 1 }] } },
    cause: REFERENCE,
    reason: 'reference; property="customerId"'
  },
  {
    title: 'a row that is referred to',
    line: 'clerk DELETE /categories/1',
    write: {},
    cause: REFERENCED,
    reason: 'referenced'
  }
]

const GUARDED: readonly Conflict[] = [
  {
    title: 'a stale version',
    line: 'clerk PUT /products/1',
    write: { body: { ...product }, ifMatch: '"AAAAAAAAAAA="' },
    cause: STALE,
    reason: 'stale'
  },
  {
    title: 'a sku that is taken',
    line: 'clerk PUT /products/1',
    write: { body: { ...product, sku: 'CT-100' }, ifMatch },
    cause: UNIQUE,
    reason: 'unique; property="sku"'
  },
  {
    title: 'a category that is not there',
    line: 'clerk PUT /products/1',
    write: { body: { ...product, categoryId: 99 }, ifMatch },
    cause: REFERENCE,
    reason: 'reference; property="categoryId"'
  },
  {
    title: 'with a key',
    line: 'clerk PUT /products/1',
    write: { body: { ...product, categoryId: 99 }, ifMatch, key: 'k' },
    cause: REFERENCE,
    reason: 'reference; property="categoryId"'
  },
  {
    title: 'a stale version of an action',
    line: 'clerk PUT /products/1/unpublish',
    write: { ifMatch: '"AAAAAAAAAAA="' },
    cause: STALE,
    reason: 'stale'
  },
  {
    title: 'a category that is not there of an action',
    line: 'clerk PUT /products/1/change-category',
    write: { body: { categoryId: 99 }, ifMatch },
    cause: REFERENCE,
    reason: 'reference; property="categoryId"'
  },
  {
    title: 'a variant sku that is taken',
    line: 'clerk PUT /products/1/add-variant',
    write: { body: { name: 'n', sku: 'CT-100-O', price: '1', stock: 1 }, ifMatch },
    cause: UNIQUE,
    reason: 'unique; property="sku"'
  },
  {
    title: 'a variant that was ordered',
    line: 'clerk PUT /products/1/remove-variant',
    write: { body: { variantId: 1 }, ifMatch },
    cause: REFERENCED,
    reason: 'referenced'
  },
  {
    title: 'a stale child',
    line: 'clerk PUT /products/1/adjust-variant-stock',
    write: { body: { variantId: 2, delta: 1, variantRowVersion }, ifMatch },
    cause: STALE,
    reason: 'stale'
  },
  {
    title: 'a guarded DELETE of a row that is referred to',
    line: 'clerk DELETE /products/1',
    write: { ifMatch },
    cause: REFERENCED,
    reason: 'referenced'
  }
]

describeApi('conflicts', (store) => {
  for (const [status, conflicts] of [
    [409, UNGUARDED],
    [412, GUARDED]
  ] as const) {
    const bodies = new Set<string>()
    for (const { title, line, write, cause, reason } of conflicts) {
      it(`${status} for ${title}`, async () => {
        const rejected = await changesNothing(store, () => send(store, line, write))
        store.problem(rejected, { status, code: 'conflict' })
        bodies.add(withoutPlace(rejected))
        expect(rejected.headers['conflict-reason']).to.equal(reason)
        // An id of a request may have the digits of an error number between its hyphens.
        const id = String(rejected.headers['x-request-id'])
        expect(rejected.text.replace(rejected.path, '').replace(id, '')).not.to.match(SQL)
        expect(rejected.headers).not.to.have.any.keys('etag', 'location', 'retry-after', 'idempotent-replayed')
        expect(await causeLogged(store, rejected)).to.match(cause[store.kind])
        const ofRequest = store.stack.dataService
          .logs()
          .filter(({ requestId }) => requestId === rejected.headers['x-request-id'])
        const logged = JSON.stringify(ofRequest).toLowerCase()
        for (const value of textsIn(write.body)) expect(logged).to.not.include(value.toLowerCase())
      })
    }

    it(`all of ${status} have one body`, () => {
      expect([...bodies]).to.deep.equal([
        JSON.stringify({
          type: `${store.url}/problems/conflict`,
          title: 'Conflict',
          status,
          detail: 'A data conflict occurred. Please retry or contact support.',
          code: 'conflict'
        })
      ])
    })
  }
})

function withoutPlace({ text }: Answer): string {
  const { instance: _path, requestId: _id, ...rest } = JSON.parse(text) as Record<string, unknown>
  return JSON.stringify(rest)
}

/** What the data service logged under the request's id. */
async function causeLogged({ stack }: ApiStore, { headers }: Answer): Promise<string> {
  const entry = await stack.dataService.logged(
    ({ requestId, reason }) => requestId === headers['x-request-id'] && reason !== undefined
  )
  return String(entry['reason'])
}

/** The texts of a body that stand in no line by chance: a price may be within the time that a call took. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return /[a-z].{3}/i.test(value) ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
