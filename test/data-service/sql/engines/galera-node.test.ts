import { expect } from 'chai'
import { connect, watchDatabase } from '../../../../data-service/sql/connect.js'
import { entity, type FreshWriteStore, freshWriteStore, never, writeStoreAt } from '../write/fresh-write-store.js'
import { findByUniquePlan, findPlan, insertPlan, lockPlan } from '../write/write-plan-by-hand.js'
import { NodeProxy } from './node-proxy.js'

const categories = entity('categories')
/** Of the node, among the rows of each guard. */
const INDEX = 2
const ROWS_OF_GUARD = 4

// A real cluster, whose nodes reject each other's transactions, is in test/soak/galera.test.ts.
describe('a server that says that it is a node of Galera', () => {
  let fresh: FreshWriteStore
  let proxy: NodeProxy
  let url: string
  let node: ReturnType<typeof writeStoreAt>

  before(async () => {
    fresh = await freshWriteStore('mysql')
    proxy = new NodeProxy(INDEX)
    url = await proxy.before(fresh.url)
    node = writeStoreAt(url)
    await fresh.byHand.run(
      "INSERT INTO categories (id, name, slug, row_version) VALUES (1, 'A', 'a', x'0000000000000001')"
    )
  })
  beforeEach(() => fresh.byHand.run('DELETE FROM ur_look_up_guards'))
  after(async () => {
    await node?.close()
    await proxy?.close()
    await fresh?.dispose()
  })

  const slots = async (): Promise<number[]> =>
    (await fresh.byHand.run('SELECT slot FROM ur_look_up_guards ORDER BY slot')).map(({ slot }) => Number(slot))

  it('makes each session wait for what other nodes have acknowledged', async () => {
    const database = connect(url)
    try {
      const [[row]] = (await database.sequelize.query('SELECT @@SESSION.wsrep_sync_wait & 1 AS waits')) as [
        [{ readonly waits: unknown }],
        unknown
      ]
      expect(Number(row.waits)).to.equal(1)
    } finally {
      await database.sequelize.close()
    }
  })

  it('is written a guard of its own for a row that is only looked at', async () => {
    await node.store.transaction(never, (unit) => unit.find(findPlan(categories, [1])))
    expect((await slots()).map((slot) => slot % ROWS_OF_GUARD)).to.deep.equal([INDEX])
  })

  it('is written all guards of a row that is locked, and of a value that no row has', async () => {
    const all = [0, 1, 2, 3]
    await node.store.transaction(never, (unit) => unit.lock(lockPlan(categories, 1)))
    expect((await slots()).map((slot) => slot % ROWS_OF_GUARD)).to.deep.equal(all)
    await fresh.byHand.run('DELETE FROM ur_look_up_guards')
    await node.store.transaction(never, (unit) => unit.findByUnique(findByUniquePlan(categories, 'slug', 'missing')))
    expect((await slots()).map((slot) => slot % ROWS_OF_GUARD)).to.deep.equal(all)
  })

  it('has guards of a value in common with whoever writes it, and of a parent with whoever refers to it', async () => {
    await node.store.transaction(never, (unit) => unit.findByUnique(findByUniquePlan(categories, 'slug', 'new')))
    const looked = await slots()
    await fresh.byHand.run('DELETE FROM ur_look_up_guards')
    await node.store.transaction(never, (unit) => unit.lock(lockPlan(categories, 1)))
    const parent = await slots()
    await fresh.byHand.run('DELETE FROM ur_look_up_guards')
    await node.store.transaction(never, (unit) =>
      unit.insert(insertPlan(categories, { name: 'New', slug: 'new', parentId: 1 }))
    )
    const written = await slots()
    expect(written.filter((slot) => looked.includes(slot))).to.have.length(1)
    expect(written.filter((slot) => parent.includes(slot))).to.have.length(1)
  })

  it('gets each statement alone, since it may give a transaction up between two', async () => {
    // The second time its statements are prepared.
    for (let time = 0; time < 2; time++) {
      await node.store.transaction(never, (unit) => unit.lock(lockPlan(categories, 1)))
    }
    expect(proxy.together).to.equal(1)
  })

  it('is not serving while it is outside of its cluster, and serving again afterwards', async () => {
    const database = connect(url)
    const health = await watchDatabase(database)
    try {
      expect(health.isServing).to.equal(true)
      for (const [status, isServing] of [
        ['non-Primary', false],
        ['Primary', true]
      ] as const) {
        const changed = new Promise((resolve) => health.onChange(resolve))
        proxy.status = status
        expect(await changed, status).to.equal(isServing)
      }
    } finally {
      await health.close()
      await database.sequelize.close()
    }
  })
})
