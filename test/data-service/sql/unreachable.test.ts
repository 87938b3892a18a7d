import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { connect } from '../../../data-service/sql/connect.js'
import { SqlReadStore } from '../../../data-service/sql/entity-rows/reads.js'
import { entities } from '../../../examples/store/entities/index.js'
import { DomainError } from '../../../shared/errors.js'
import { eachDatabase } from '../../harness/database.js'
import { insertRows, TABLES } from '../../harness/insert-rows.js'
import { freePort } from '../../runner/free-port.js'
import { drain, keepRows } from './drain.js'
import { entity, type FreshReadStore, freshReadStore, never } from './fresh-read-store.js'
import { exportPlan, listPlan } from './plan-by-hand.js'

const products = entity('products')
const children = products.children.map((one) => ({ children: one, nested: [] }))

eachDatabase((kind) => {
  describe(`a database that cannot be reached, ${kind}`, () => {
    let fresh: FreshReadStore
    let folder: string
    let nowhere: string

    before(async () => {
      fresh = await freshReadStore(kind)
      await insertRows(fresh.primary, TABLES.categories, [{ id: 1, name: 'All', parentId: null, slug: 'all' }])
      await insertRows(fresh.primary, TABLES.products, [
        { id: 1, name: 'a', sku: 'a', categoryId: 1, price: '1.00', isActive: true }
      ])
      folder = await mkdtemp(join(tmpdir(), 'unreachable-'))
      nowhere =
        kind === 'sqlite'
          ? `sqlite:${join(folder, 'missing.sqlite')}`
          : `mysql://root@127.0.0.1:${await freePort()}/none`
    })

    after(async () => {
      await fresh.dispose()
      await rm(folder, { recursive: true })
    })

    async function rejection(reading: () => Promise<unknown>): Promise<DomainError> {
      const error: unknown = await reading().catch((reason: unknown) => reason)
      if (!(error instanceof DomainError)) throw new Error('It was no DomainError', { cause: error })
      return error
    }

    it('as the second store fails what asks for its children, and nothing else', async () => {
      const store = new SqlReadStore({ primary: connect(fresh.url), second: connect(nowhere) }, entities)
      try {
        expect((await store.list(listPlan(products), never)).rows).to.have.length(1)
        const error = await rejection(() => store.list(listPlan(products, { children }), never))
        expect(error).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
        expect(error.cause).to.be.instanceOf(Error)
        expect(error.message).to.not.match(/127\.0\.0\.1|missing|none/)
        expect((await store.list(listPlan(products), never)).rows).to.have.length(1)
      } finally {
        await store.close()
      }
    })

    it('as the primary fails every read', async () => {
      const store = new SqlReadStore({ primary: connect(nowhere), second: connect(nowhere) }, entities)
      try {
        expect((await rejection(() => store.list(listPlan(products), never))).code).to.equal('upstream.unavailable')
        const exporting = (): Promise<void> => drain(store.export(exportPlan(products), keepRows, never))
        expect((await rejection(exporting)).code).to.equal('upstream.unavailable')
      } finally {
        await store.close()
      }
    })
  })
})

describe('connections that an operator kills', () => {
  let fresh: FreshReadStore

  before(async () => {
    fresh = await freshReadStore('mysql')
  })

  after(() => fresh.dispose())

  async function kill(): Promise<void> {
    const others = 'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()'
    for (const { id } of await fresh.primary.run(others)) await fresh.primary.run(`KILL CONNECTION ${String(id)}`)
  }

  it('are unavailable for what runs on them, and replaced for what comes next', async () => {
    await fresh.store.list(listPlan(products), never)
    await fresh.primary.run('LOCK TABLES products WRITE')
    const reading = fresh.store.list(listPlan(products), never).catch((error: unknown) => error)
    const hanging =
      "SELECT 1 AS one FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'SELECT `prod%'"
    while ((await fresh.primary.run(hanging)).length === 0) await new Promise(setImmediate)
    await kill()
    expect(await reading).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
    await fresh.primary.run('UNLOCK TABLES')
    expect((await fresh.store.list(listPlan(products), never)).rows).to.deep.equal([])
  })
})
