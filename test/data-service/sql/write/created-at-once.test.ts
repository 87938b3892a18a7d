import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import type { KeyClaim } from '../../../../data-service/plan/model/stores.js'
import { openTestDatabase, type TestDatabase } from '../../../oracle/test-database.js'
import { describeMysqlWays } from '../each-way.js'
import { failure } from './failure.js'
import { entity, type FreshWriteStore, freshWriteStore, never } from './fresh-write-store.js'
import { atOnce, insertPlan, KEY } from './write-plan-by-hand.js'

const categories = entity('categories')
const warehouses = entity('warehouses')

const LEAF = { name: 'Leaf', slug: 'leaf' }

// The statements of such a create are sent before the answer to any of them. Each that writes has a guard.
describeMysqlWays('a create in one round trip, on', ({ open }) => {
  let fresh: FreshWriteStore
  let other: TestDatabase

  before(async () => {
    fresh = await freshWriteStore('mysql', { open })
    other = await openTestDatabase(fresh.url)
  })
  after(async () => {
    await other.close()
    await fresh.dispose()
  })
  beforeEach(async () => {
    for (const table of ['ur_idempotency_keys', 'ur_audit_entries', 'categories', 'warehouses']) {
      await fresh.byHand.run(`DELETE FROM ${table}`)
    }
  })

  const create = (): Promise<string> => createUnder(KEY)
  const createUnder = (claim: KeyClaim | undefined): Promise<string> =>
    fresh.store.transaction(never, async (unit) => {
      const created = await unit.createAtOnce(atOnce(claim, insertPlan(categories, LEAF)))
      if (created === undefined) return 'nothing done'
      if (claim !== undefined) unit.storeResponse(claim, Buffer.from('answer'))
      return String(created.key)
    })
  const stored = async (): Promise<readonly unknown[]> => [
    await fresh.byHand.run('SELECT id FROM categories'),
    await fresh.byHand.run('SELECT row_id AS id FROM ur_audit_entries'),
    (await fresh.byHand.run('SELECT answer FROM ur_idempotency_keys')).length
  ]
  /** A row, its entry and its key, or none of them. */
  const storedOnce = (id: string): unknown[] => [[{ id: Number(id) }], [{ id }], 1]
  const NOTHING = [[], [], 0]

  it('leaves the row, an entry of its number and the answer', async () => {
    const id = await create()
    expect(id).to.match(/^\d+$/)
    expect(await stored()).to.deep.equal(storedOnce(id))
  })

  it('needs no key', async () => {
    const id = await createUnder(undefined)
    expect(await stored()).to.deep.equal([...storedOnce(id).slice(0, 2), 0])
  })

  it('answers the row as it is stored, also one that has its key', async () => {
    const id = randomUUID()
    const plan = insertPlan(warehouses, { id, name: 'North', city: 'Kiel', isOpen: true })
    const created = await fresh.store.transaction(never, (unit) => unit.createAtOnce(atOnce(undefined, plan, id)))
    expect(created?.key).to.deep.equal([id])
    expect(created?.row.values.slice(0, 4)).to.deep.equal([id, 'North', 'Kiel', true])
    expect(await fresh.byHand.run('SELECT row_id AS id FROM ur_audit_entries')).to.deep.equal([{ id }])
  })

  it('does nothing under a key that is not new, not even a try', async () => {
    const id = await create()
    // What its trigger writes there stays.
    await fresh.byHand.run('CREATE TABLE tried (at INT AUTO_INCREMENT PRIMARY KEY) ENGINE=MyISAM')
    await fresh.byHand.run('CREATE TRIGGER tries BEFORE INSERT ON categories FOR EACH ROW INSERT INTO tried VALUES ()')
    try {
      expect(await create()).to.equal('nothing done')
      expect(await fresh.byHand.run('SELECT at FROM tried')).to.deep.equal([])
      expect(await stored()).to.deep.equal(storedOnce(id))
    } finally {
      await fresh.byHand.run('DROP TRIGGER tries')
      await fresh.byHand.run('DROP TABLE tried')
    }
  })

  it('leaves nothing after a violation of a unique column', async () => {
    await fresh.byHand.run("INSERT INTO categories (name, slug, row_version) VALUES ('Leaf', 'leaf', 'ABCDEFGH')")
    expect(await failure(create())).to.include({ code: 'conflict' })
    const [, entries, keys] = await stored()
    expect([entries, keys]).to.deep.equal([[], 0])
  })

  it('leaves nothing if its entry cannot be written', async () => {
    await fresh.byHand.run(
      "CREATE TRIGGER tells_nothing BEFORE INSERT ON ur_audit_entries FOR EACH ROW SIGNAL SQLSTATE '45000'"
    )
    try {
      await failure(create())
      expect(await stored()).to.deep.equal(NOTHING)
    } finally {
      await fresh.byHand.run('DROP TRIGGER tells_nothing')
    }
  })

  /** Another transaction holds the value of a unique column, which the INSERT then waits for. */
  async function whileInsertWaits(meanwhile: () => Promise<unknown>): Promise<string> {
    await other.run('START TRANSACTION')
    await other.run("INSERT INTO categories (name, slug, row_version) VALUES ('Leaf', 'leaf', 'ABCDEFGH')")
    const creating = create()
    await untilWaiting()
    await meanwhile()
    await other.run('ROLLBACK').catch(() => undefined)
    return await creating
  }

  async function untilWaiting(): Promise<number> {
    for (;;) {
      const [found] = await fresh.byHand.run(
        "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'INSERT INTO `categories`%'"
      )
      if (found !== undefined) return Number(found['id'])
      await wait(5)
    }
  }

  it('is done once when its connection is killed between its statements', async () => {
    const id = await whileInsertWaits(async () => {
      await fresh.byHand.run(`KILL ${await untilWaiting()}`)
    })
    expect(await stored()).to.deep.equal(storedOnce(id))
  })

  it('is done once when its INSERT alone is stopped', async () => {
    const id = await whileInsertWaits(async () => {
      await fresh.byHand.run(`KILL QUERY ${await untilWaiting()}`)
    })
    expect(await stored()).to.deep.equal(storedOnce(id))
  })

  it('is done once after a deadlock', async () => {
    // Rows more make the other transaction the heavier one, so that the create is the victim. They are behind the value that
    // the create waits for: before it they would have to wait for the create.
    const id = await whileInsertWaits(async () => {
      for (const slug of ['v', 'w', 'x', 'y', 'z']) {
        await other.run(`INSERT INTO categories (name, slug, row_version) VALUES ('${slug}', '${slug}', 'ABCDEFGH')`)
      }
      const key = KEY.keyHash.toString('hex')
      await other.run(
        `INSERT INTO ur_idempotency_keys (key_hash, fingerprint, created_at, expires_at) VALUES (0x${key}, 0x${key}, 0, 1)`
      )
    })
    expect(await stored()).to.deep.equal(storedOnce(id))
  })
})
