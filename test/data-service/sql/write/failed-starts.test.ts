import type { Socket } from 'node:net'
import { expect } from 'chai'
import type { InsertPlan } from '../../../../data-service/plan/model/plans.js'
import type { UnitOfWork } from '../../../../data-service/plan/model/stores.js'
import { describeMysqlWays } from '../each-way.js'
import { failure } from './failure.js'
import {
  emptyCategories,
  entity,
  type FreshWriteStore,
  freshWriteStore,
  never,
  writeStoreAt
} from './fresh-write-store.js'
import { MysqlProxy } from './mysql-proxy.js'
import { atOnce, deletePlan, insertPlan, KEY, lockPlan, updatePlan, version } from './write-plan-by-hand.js'

const START = Buffer.from('START TRANSACTION')
/** Of the same length, and no statement of any server. */
const NO_START = Buffer.from('START TRANSACTIOM')

const categories = entity('categories')
const ENTRY = {
  at: '2026-01-31T08:00:00.000Z',
  subject: 'test',
  resource: 'categories',
  rowId: '1',
  action: 'update',
  requestId: 'r-1'
}

// START TRANSACTION is sent together with what follows it, and the server runs this whatever became of the former.
describeMysqlWays('a transaction that the server does not start, on', ({ open }) => {
  let fresh: FreshWriteStore
  let proxy: StartProxy
  let through: ReturnType<typeof writeStoreAt>

  before(async () => {
    fresh = await freshWriteStore('mysql', { open })
  })
  after(() => fresh.dispose())

  beforeEach(async () => {
    await emptyCategories(fresh)
    await fresh.store.transaction(never, async (unit) => {
      await unit.insert(insertPlan(categories, { name: 'Root', slug: 'root' }))
    })
    proxy = new StartProxy()
    through = writeStoreAt(await proxy.before(fresh.url), { open })
    // The statements are prepared on the connection, so that nothing comes between START TRANSACTION and them.
    for (const change of Object.values(CHANGES)) {
      await failure(
        through.store.transaction(never, async (unit) => {
          await change(unit)
          throw new Error('only tried')
        })
      )
    }
  })
  afterEach(async () => {
    await through.close()
    await proxy.close()
  })

  const root = { expected: [version(1)] } as const
  const CHANGES: Record<string, (unit: UnitOfWork) => Promise<unknown>> = {
    'an update': (unit) => unit.update(updatePlan(categories, [1], { name: 'Stem' }, root)),
    'an update that is sent together with its audit entry': (unit) =>
      Promise.all(
        unit.together(() => [
          unit.update(updatePlan(categories, [1], { name: 'Stem' }, root)),
          unit.auditAfterChange(ENTRY)
        ])
      ),
    'a delete': (unit) => unit.delete(deletePlan(categories, [1], root)),
    'an insert': (unit) => unit.insert(insertPlan(categories, { name: 'Leaf', slug: 'leaf' })),
    'an audit entry': (unit) => unit.audit(ENTRY),
    'a lock and an update': async (unit) => {
      await unit.lock(lockPlan(categories, [1]))
      await unit.update(updatePlan(categories, [1], { name: 'Stem' }, root))
    },
    'a claim and an insert': createOnce,
    'a create at once': (unit) => unit.createAtOnce(atOnce(undefined, leaf())),
    'a create at once under a key': async (unit) => {
      if ((await unit.createAtOnce(atOnce(KEY, leaf()))) === undefined) await createOnce(unit)
      else unit.storeResponse(KEY, Buffer.from('created'))
    }
  }

  for (const [what, change] of Object.entries(CHANGES)) {
    it(`writes nothing that stays: ${what}`, async () => {
      proxy.failNext()
      const error = await failure(through.store.transaction(never, change))
      expect(error).to.have.property('code', 'ER_PARSE_ERROR')
      expect(proxy.failed).to.equal(1)
      expect(await fresh.byHand.run('SELECT name FROM categories')).to.deep.equal([{ name: 'Root' }])
      expect(await fresh.byHand.run('SELECT id FROM ur_audit_entries')).to.deep.equal([])
      expect(await fresh.byHand.run('SELECT key_hash FROM ur_idempotency_keys WHERE answer IS NOT NULL')).to.be.empty
    })

    it(`leaves the connection in order: ${what} once more`, async () => {
      proxy.failNext()
      await failure(through.store.transaction(never, change))
      await through.store.transaction(never, change)
      expect(proxy.failed).to.equal(1)
    })
  }

  it('and the create under its key is done once by the next request', async () => {
    proxy.failNext()
    await failure(through.store.transaction(never, createOnce))
    expect(await through.store.transaction(never, createOnce)).to.equal('created')
    expect(await through.store.transaction(never, createOnce)).to.equal('replayed')
    expect(await fresh.byHand.run("SELECT name FROM categories WHERE slug = 'leaf'")).to.have.lengthOf(1)
  })
})

function leaf(): InsertPlan {
  return insertPlan(categories, { name: 'Leaf', slug: 'leaf' })
}

async function createOnce(unit: UnitOfWork): Promise<string> {
  if ((await unit.claimKey(KEY)) !== undefined) return 'replayed'
  await unit.insert(insertPlan(categories, { name: 'Leaf', slug: 'leaf' }))
  unit.storeResponse(KEY, Buffer.from('created'))
  return 'created'
}

/** Makes the server fail to start a transaction. */
class StartProxy extends MysqlProxy {
  #fails = false
  #failed = 0

  /** How many START TRANSACTION the server got as an error. */
  get failed(): number {
    return this.#failed
  }

  failNext(): void {
    this.#fails = true
  }

  protected override connected(client: Socket, server: Socket): void {
    client.on('data', (data: Buffer) => {
      const at = this.#fails ? data.indexOf(START) : -1
      if (at >= 0) {
        NO_START.copy(data, at)
        this.#fails = false
        this.#failed += 1
      }
      server.write(data)
    })
    server.on('data', (data: Buffer) => client.write(data))
  }
}
