import { expect } from 'chai'
import type { Connection } from 'mysql2'
import { failure } from './failure.js'
import { entity, freshWriteStore, type FreshWriteStore, never, writeStoreAt } from './fresh-write-store.js'
import { insertPlan, lockPlan } from './write-plan-by-hand.js'

const categories = entity('categories')
const root = insertPlan(categories, { name: 'Root', slug: 'root' })

describe('waits of writes', () => {
  let fresh: FreshWriteStore
  afterEach(() => fresh.dispose())

  it('for a lock that time out are started again on mysql', async () => {
    fresh = await freshWriteStore('mysql')
    const impatient = writeStoreAt(fresh.url)
    impatient.database.sequelize.addHook('afterConnect', async (connection: unknown) => {
      // The mysql dialect hands out mysql2's connections.
      await (connection as Connection).promise().query('SET SESSION innodb_lock_wait_timeout = 1')
    })
    await fresh.other.transaction(never, (unit) => unit.insert(root))
    await fresh.byHand.run('START TRANSACTION')
    await fresh.byHand.run('SELECT id FROM categories WHERE id = 1 FOR UPDATE')
    let tries = 0
    const locked = await impatient.store.transaction(never, async (unit) => {
      tries += 1
      if (tries === 2) await fresh.byHand.run('ROLLBACK')
      return await unit.lock(lockPlan(categories, 1))
    })
    await impatient.close()
    expect(locked?.values.get('name')).to.equal('Root')
    expect(tries).to.equal(2)
  })

  it('for the writer of another process last until it is done, on sqlite', async () => {
    fresh = await freshWriteStore('sqlite')
    await fresh.byHand.run('BEGIN IMMEDIATE')
    const waiting = fresh.store.transaction(never, (unit) => unit.insert(root))
    const claim = { keyHash: Buffer.alloc(32, 1), fingerprint: Buffer.alloc(32, 2), now: 0, expiresAt: 1 }
    const rejected = await failure(fresh.other.transaction(never, (unit) => unit.claimKey(claim)))
    expect(rejected).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
    await fresh.byHand.run('ROLLBACK')
    expect(await waiting).to.deep.equal([1])
  })

  it('in line are left by whoever is gone, on sqlite', async () => {
    fresh = await freshWriteStore('sqlite')
    const gone = new Error('gone')
    const caller = new AbortController()
    const outcome = await fresh.store.transaction(never, async (unit) => {
      await unit.insert(root)
      const behind = failure(fresh.store.transaction(caller.signal, (other) => other.insert(root)))
      caller.abort(gone)
      return await behind
    })
    expect(outcome).to.equal(gone)
    const leaf = insertPlan(categories, { name: 'Leaf', slug: 'leaf' })
    expect(await fresh.store.transaction(never, (unit) => unit.insert(leaf))).to.deep.equal([2])
  })
})
