import { expect } from 'chai'
import { type Cancellation, CancellationSource, NEVER } from '../../../shared/transport/cancellation.js'
import type { LookupPlan, RowScope } from '../../../data-service/plan/model/plans.js'
import { SharedReads } from '../../../data-service/sql/entity-rows/shared-reads.js'
import { eachDatabase } from '../../harness/database.js'
import { insertRows, TABLES } from '../../harness/insert-rows.js'
import { entity, freshReadStore, type FreshReadStore, never } from './fresh-read-store.js'
import { condition, lookupPlan, path } from './plan-by-hand.js'

const products = entity('products')
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The statements that were sent, each answered when the test says so. */
class Database {
  readonly sent: { readonly key: string; readonly signal: Cancellation; answer(): void; fail(error: Error): void }[] =
    []
  readonly #reads = new SharedReads<{ readonly key: string }>()

  read(key: string, cancellation: Cancellation = NEVER): Promise<{ readonly key: string }> {
    return this.#reads.read(
      key,
      cancellation,
      (signal) =>
        new Promise((resolve, reject) => {
          this.sent.push({ key, signal, answer: () => resolve({ key }), fail: reject })
        })
    )
  }
}

describe('reads that ask for the same', () => {
  it('are one statement for those of a tick, with one result', async () => {
    const database = new Database()
    const reads = ['a', 'a', 'b'].map((key) => database.read(key))
    await tick()
    expect(database.sent.map(({ key }) => key)).to.deep.equal(['a', 'b'])
    for (const { answer } of database.sent) answer()
    const [first, second, other] = await Promise.all(reads)
    expect(first).to.equal(second)
    expect(other).to.deep.equal({ key: 'b' })
  })

  it('never join a statement that has been sent', async () => {
    const database = new Database()
    const first = database.read('a')
    await tick()
    const second = database.read('a')
    await tick()
    expect(database.sent).to.have.length(2)
    for (const { answer } of database.sent) answer()
    expect(await first).to.not.equal(await second)
  })

  it('fail together, and the next one is sent anew', async () => {
    const database = new Database()
    const reads = Promise.allSettled([database.read('a'), database.read('a')])
    await tick()
    database.sent[0]?.fail(new Error('gone'))
    expect((await reads).map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    const next = database.read('a')
    await tick()
    database.sent[1]?.answer()
    expect(await next).to.deep.equal({ key: 'a' })
  })

  it('go on for the others when one is cancelled, and stop the statement with the last', async () => {
    const database = new Database()
    const [one, two] = [new CancellationSource(), new CancellationSource()]
    const reads = Promise.allSettled([database.read('a', one), database.read('a', two)])
    await tick()
    one.abort(new Error('left'))
    expect(database.sent[0]?.signal.aborted).to.equal(false)
    two.abort(new Error('left too'))
    expect(database.sent[0]?.signal.aborted).to.equal(true)
    const reasons = (await reads).map((read) => (read.status === 'rejected' ? String(read.reason) : ''))
    expect(reasons).to.deep.equal(['Error: left', 'Error: left too'])
  })

  it('are not stopped by a caller who left before the statement was sent', async () => {
    const database = new Database()
    const gone = new CancellationSource()
    const left = Promise.allSettled([database.read('a', gone)])
    gone.abort(new Error('left'))
    const stays = database.read('a')
    await tick()
    expect(database.sent.map(({ signal }) => signal.aborted)).to.deep.equal([false])
    database.sent[0]?.answer()
    expect(await stays).to.deep.equal({ key: 'a' })
    await left
  })

  it('are not sent for callers who have all gone', async () => {
    const database = new Database()
    const gone = new CancellationSource()
    const left = Promise.allSettled([database.read('a', gone)])
    gone.abort(new Error('left'))
    await tick()
    expect(database.sent).to.deep.equal([])
    await left
  })
})

eachDatabase((kind) => {
  describe(`lookups at the same time on ${kind}`, () => {
    let fresh: FreshReadStore
    before(async () => {
      fresh = await freshReadStore(kind)
      const categories = [1, 2].map((id) => ({ id, name: `c${id}`, parentId: null, slug: `c${id}` }))
      await insertRows(fresh.primary, TABLES.categories, categories)
      const made = [1, 2, 3].map((id) => ({
        id,
        name: `p${id}`,
        sku: `s${id}`,
        categoryId: 1 + (id % 2),
        price: '1.00'
      }))
      await insertRows(
        fresh.primary,
        TABLES.products,
        made.map((row) => ({ ...row, isActive: true }))
      )
    })
    after(() => fresh.dispose())

    it('see the rows of their own scope, search and limit', async () => {
      const ofCategory = (id: number): RowScope => ({
        kind: 'rows-where',
        conditions: [condition(path(products, 'categoryId'), 'equals', id)]
      })
      const named = (part: string): LookupPlan['conditions'] => [
        { path: path(products, 'name'), comparison: 'contains', operands: [part] }
      ]
      const found = await Promise.all(
        [
          {},
          { scope: ofCategory(1) },
          { scope: ofCategory(2) },
          { scope: ofCategory(2), limit: 1 },
          { conditions: named('p3') },
          { conditions: named('p1') },
          { scope: ofCategory(2) }
        ].map((over) => fresh.store.lookup(lookupPlan(products, over), never))
      )
      expect(found.map(({ items }) => items.map(({ name }) => name))).to.deep.equal([
        ['p1', 'p2', 'p3'],
        ['p2'],
        ['p1', 'p3'],
        ['p1'],
        ['p3'],
        ['p1'],
        ['p1', 'p3']
      ])
      expect(found[2]).to.equal(found[6])
    })
  })
})
