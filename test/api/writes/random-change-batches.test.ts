import { expect } from 'chai'
import fc from 'fast-check'
import { DATABASE_KINDS } from '../../stack/databases.js'
import { ApiStore } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { send } from './send.js'
import { select } from './stored.js'

const seed = Number(process.env['TEST_SEED'] ?? Date.now()) % 2 ** 31
const RUNS = 25
const MAX_ITEMS = 8
/** Few skus, so that items meet those of other rows and of one another. */
const SKUS = 6

interface Row {
  readonly id: number
  readonly sku: string
  readonly price: string
  readonly categoryId: number
  /** Of the stored row. */
  readonly rowVersion: string
}

/** An item as it is drawn: which row, by its place among those that were ever made. */
interface Drawn {
  readonly at: number
  readonly isStale: boolean
  readonly change: { readonly sku?: string; readonly price?: string; readonly categoryId?: number }
}

interface Expected {
  readonly status: number
  /** The first item that fails. */
  readonly at?: number
  readonly reason?: string
  readonly rows: ReadonlyMap<number, Row>
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  at: fc.nat({ max: 11 }),
  isStale: fc.integer({ min: 0, max: 11 }).map((n) => n === 0),
  change: fc.oneof(
    fc.record({ price: fc.integer({ min: 0, max: 99 }).map((n) => `${n}.50`) }),
    fc.record({ sku: fc.nat({ max: SKUS - 1 }).map((n) => `RND-${n}`) }),
    fc.record({ categoryId: fc.constantFrom(1, 2, 3, 1, 2, 3, 4711) }),
    fc.constant({})
  )
})
const batch = fc.record({
  isDelete: fc.integer({ min: 0, max: 4 }).map((n) => n === 0),
  items: fc.uniqueArray(drawn, { minLength: 1, maxLength: MAX_ITEMS, selector: ({ at }) => at })
})

const STALE = 'AAAAAAAAAAA='

/** What a batch comes to, by the rules of contract.md section 5 and nothing of the service: items one after the other. */
function outcome(
  rows: ReadonlyMap<number, Row>,
  isDelete: boolean,
  items: readonly (Drawn & { readonly id: number })[]
): Expected {
  const after = new Map(rows)
  for (const [at, { id, isStale, change }] of items.entries()) {
    const row = after.get(id)
    if (row === undefined) return { status: 404, at, rows }
    if (isStale) return { status: 412, at, reason: 'stale', rows }
    if (isDelete) {
      after.delete(id)
      continue
    }
    const isTaken =
      change.sku !== undefined && [...after.values()].some((one) => one.id !== id && one.sku === change.sku)
    if (isTaken) return { status: 412, at, reason: 'unique; property="sku"', rows }
    if (change.categoryId === 4711) return { status: 412, at, reason: 'reference; property="categoryId"', rows }
    after.set(id, { ...row, ...change })
  }
  return { status: isDelete ? 204 : 200, rows: after }
}

describe(`random batches of changes, seed ${seed}`, () => {
  for (const kind of DATABASE_KINDS) {
    it(`come to what an oracle says, on ${kind}`, async () => {
      const store = new ApiStore(kind)
      await store.start({})
      try {
        let rows = new Map<number, Row>()
        const ever: number[] = []
        const refill = async (): Promise<void> => {
          const missing = SKUS - rows.size
          if (missing <= 2) return
          const free = Array.from({ length: SKUS }, (_, n) => `RND-${n}`).filter(
            (sku) => ![...rows.values()].some((row) => row.sku === sku)
          )
          const body = free.slice(0, missing).map((sku) => ({ name: 'R', sku, categoryId: 1, price: '1.00' }))
          const made = await send(store, 'clerk POST /products/batch', { body })
          expect(made.status, made.text).to.equal(201)
          for (const row of JSON.parse(made.text) as Row[]) {
            rows.set(row.id, picked(row))
            ever.push(row.id)
          }
        }
        await fc.assert(
          fc.asyncProperty(batch, async ({ isDelete, items: all }) => {
            await refill()
            const items = all.flatMap((one) => {
              const id = ever.at(-1 - one.at)
              return id === undefined ? [] : [{ ...one, id }]
            })
            fc.pre(items.length > 0)
            const expected = outcome(rows, isDelete, items)
            const body = items.map(({ id, isStale, change }) => ({
              id,
              rowVersion: isStale ? STALE : (rows.get(id)?.rowVersion ?? STALE),
              ...(isDelete ? {} : change)
            }))
            const answer = await send(
              store,
              `clerk ${isDelete ? 'POST /products/batch/delete' : 'PATCH /products/batch'}`,
              {
                body,
                headers: isDelete ? {} : { 'content-type': 'application/merge-patch+json' }
              }
            )
            agree(answer, expected)
            if (answer.status === 200) {
              const changed = (JSON.parse(answer.text) as Row[]).map(picked)
              expect(changed.map(({ id }) => id)).to.deep.equal(items.map(({ id }) => id))
              for (const row of changed) expect(row.rowVersion).not.to.equal(rows.get(row.id)?.rowVersion)
              rows = new Map(expected.rows)
              for (const row of changed) {
                expect({ ...row, rowVersion: '' }).to.deep.equal({ ...rows.get(row.id), rowVersion: '' })
                rows.set(row.id, row)
              }
            } else rows = new Map(expected.rows)
            expect(await stored(store, ever)).to.deep.equal(
              [...rows.values()].toSorted((one, other) => one.id - other.id)
            )
          }),
          { seed, numRuns: RUNS, endOnFailure: true }
        )
      } finally {
        await store.stop()
      }
    })
  }
})

function agree(answer: Answer, { status, at, reason }: Expected): void {
  expect(answer.status, answer.text).to.equal(status)
  expect(answer.headers['conflict-reason']).to.equal(reason)
  if (at === undefined) return
  const { errors } = JSON.parse(answer.text) as { readonly errors: readonly { readonly pointer: string }[] }
  expect(errors.map(({ pointer }) => pointer)).to.deep.equal([`/${at}`])
}

function picked({ id, sku, price, categoryId, rowVersion }: Row): Row {
  return { id, sku, price, categoryId, rowVersion }
}

/** By SQL of its own; decimals are whole hundredths on SQLite. */
async function stored(store: ApiStore, ids: readonly number[]): Promise<Row[]> {
  const rows = await select(
    store,
    `SELECT id, sku, price, category_id, row_version FROM products WHERE id IN (${ids.join()}) ORDER BY id`
  )
  return rows.map((row) => ({
    id: Number(row['id']),
    sku: String(row['sku']),
    price: store.kind === 'sqlite' ? (Number(row['price']) / 100).toFixed(2) : String(row['price']),
    categoryId: Number(row['category_id']),
    rowVersion: Buffer.from(row['row_version'] as Uint8Array).toString('base64')
  }))
}
