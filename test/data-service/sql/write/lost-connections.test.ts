import { expect } from 'chai'
import type { UnitOfWork } from '../../../../data-service/plan/model/stores.js'
import { innerWay } from '../../../../data-service/sql/engines/mysql/driver/mysql-ways.js'
import { statementText } from '../../../../data-service/sql/engines/statement.js'
import { openTestDatabase } from '../../../oracle/test-database.js'
import { CommitProxy } from './commit-proxy.js'
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
import { insertPlan, KEY, ownStatement } from './write-plan-by-hand.js'
import { classifyMysqlError } from '../../../../data-service/sql/engines/mysql/driver/mysql-errors.js'

const categories = entity('categories')

describeMysqlWays('connections lost in a transaction, on', ({ way, open }) => {
  let fresh: FreshWriteStore
  let proxy: CommitProxy
  let through: ReturnType<typeof writeStoreAt>

  before(async () => {
    fresh = await freshWriteStore('mysql', { open })
  })
  after(() => fresh.dispose())

  beforeEach(async () => {
    await emptyCategories(fresh)
    proxy = new CommitProxy()
    through = writeStoreAt(await proxy.before(fresh.url), { open })
  })
  afterEach(async () => {
    await through.close()
    await proxy.close()
  })

  it('and a transaction that the server has given up without a word counts as deadlocked', async () => {
    const transaction = await fresh.database.openTransactions().begin({ signal: never, timeout: 1000 })
    await transaction.change(statementText('INSERT INTO ur_login_attempts VALUES ($key, $key, 1)'), { key: 'k' })
    const error = await failure(transaction.change(statementText('ROLLBACK'), {}))
    expect(classifyMysqlError(error)).to.equal('deadlock')
    await transaction.rollback()
  })

  const leaf = insertPlan(categories, { name: 'Leaf', slug: 'leaf' })
  const rows = async (): Promise<number> => (await fresh.byHand.run('SELECT id FROM categories')).length
  const create = async (unit: UnitOfWork): Promise<string> => {
    const kept = await unit.claimKey(KEY)
    if (kept !== undefined) return `replayed ${kept.answer.toString()}`
    const id = String(await unit.insert(leaf))
    unit.storeResponse(KEY, Buffer.from(id))
    return id
  }

  it('before the COMMIT: all of it again', async () => {
    const killer = await openTestDatabase(fresh.url)
    let tries = 0
    await fresh.store.transaction(never, async (unit) => {
      await unit.insert(leaf)
      tries += 1
      if (tries > 1) return
      const threads = await killer.run(
        'SELECT id AS thread FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()'
      )
      const [own] = await fresh.byHand.run('SELECT CONNECTION_ID() AS thread')
      const others = threads.map(({ thread }) => Number(thread)).filter((thread) => thread !== Number(own?.['thread']))
      expect(others).to.not.be.empty
      for (const thread of others) await killer.run(`KILL ${thread}`)
      await unit.insert(insertPlan(categories, { name: 'Twig', slug: 'twig' }))
    })
    await killer.close()
    expect(tries).to.equal(2)
    expect(await rows()).to.equal(1)
  })

  for (const [fate, kept] of [
    ['is lost', 0],
    ['answer is lost', 1]
  ] as const) {
    it(`when the COMMIT ${fate}: nobody can tell, and nothing is done again`, async () => {
      proxy.next(fate)
      let tries = 0
      const error = await failure(
        through.store.transaction(never, (unit) => {
          tries += 1
          return unit.insert(leaf)
        })
      )
      expect(error).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
      expect(String(error)).to.contain('may have been made')
      expect(tries).to.equal(1)
      expect(await settled()).to.equal(kept)
    })
  }

  // A server that vanishes sends no end of the connection either. Closing the store waits for every connection. The wait is
  // the same for both ways, so one of them is enough.
  for (const ending of way === innerWay ? (['COMMIT', 'ROLLBACK'] as const) : []) {
    it(`when the ${ending} has no answer: its connection is given up after 10 seconds`, async () => {
      proxy.next('answer waits', ending)
      const wrong = new TypeError('given up')
      const error = await failure(
        through.store.transaction(never, async (unit) => {
          await unit.insert(leaf)
          if (ending === 'ROLLBACK') throw wrong
        })
      )
      if (ending === 'ROLLBACK') expect(error).to.equal(wrong)
      else {
        expect(error).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
        expect(String(error)).to.contain('may have been made')
      }
      await through.store.transaction(never, (unit) =>
        unit.insert(insertPlan(categories, { name: 'Twig', slug: 'twig' }))
      )
      expect(await settled()).to.equal(ending === 'COMMIT' ? 2 : 1)
    })
  }

  it('when the COMMIT is lost under a key: done again', async () => {
    proxy.next('is lost')
    expect(await through.store.transaction(never, create)).to.match(/^\d+$/)
    expect(await rows()).to.equal(1)
  })

  it('when the answer to the COMMIT is lost under a key: the answer it kept', async () => {
    proxy.next('answer is lost')
    expect(await through.store.transaction(never, create)).to.equal('replayed 1')
    expect(await rows()).to.equal(1)
    expect(proxy.commits).to.equal(2)
  })

  it('when the COMMIT under a key is sent and the answer cannot be kept: nothing is committed', async () => {
    await fresh.byHand.run(
      "CREATE TRIGGER keeps_nothing BEFORE UPDATE ON ur_idempotency_keys FOR EACH ROW SIGNAL SQLSTATE '45000'"
    )
    await failure(through.store.transaction(never, create))
    expect(proxy.commits).to.be.greaterThan(0)
    expect(await settled()).to.equal(0)
    await fresh.byHand.run('DROP TRIGGER keeps_nothing')
    expect(await through.store.transaction(never, create)).to.match(/^\d+$/)
    expect(await rows()).to.equal(1)
  })

  it('when the COMMIT under a key is sent and the key is gone: nothing is committed', async () => {
    const error = await failure(
      through.store.transaction(never, async (unit) => {
        await create(unit)
        await unit.run(ownStatement('DELETE FROM ur_idempotency_keys'))
      })
    )
    expect(String(error)).to.contain('has changed 0 rows')
    expect(proxy.commits).to.be.greaterThan(0)
    expect(await settled()).to.equal(0)
  })

  it('with no server to go on with: unavailable', async () => {
    const error = await failure(
      through.store.transaction(never, async (unit) => {
        await unit.insert(leaf)
        await proxy.close()
        await unit.insert(leaf)
      })
    )
    expect(error).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
    expect(await settled()).to.equal(0)
    proxy = new CommitProxy()
    await proxy.before(fresh.url)
  })

  it('an abort after the COMMIT was sent changes nothing', async () => {
    proxy.next('answer waits')
    const caller = new AbortController()
    const done = through.store.transaction(caller.signal, async (unit) => await unit.insert(leaf))
    while (proxy.commits === 0) await new Promise((resolve) => setImmediate(resolve))
    caller.abort(new Error('gone'))
    proxy.letThrough()
    expect(await done).to.deep.equal([1])
    expect(await rows()).to.equal(1)
  })

  /** Rows once the server has noticed that its client is gone: the lock of a row then is free. */
  async function settled(): Promise<number> {
    await fresh.byHand.run('UPDATE categories SET name = name')
    return await rows()
  }
})
