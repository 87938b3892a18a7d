import { expect } from 'chai'
import { createConnection, type Connection } from 'mysql2/promise'
import { setTimeout as wait } from 'node:timers/promises'
import { countFor } from '../../../shared/transport/cancellation.js'
import { describeMysqlWays } from './each-way.js'
import { drain, keepRows } from './drain.js'
import { entity, freshReadStore, type FreshReadStore, never } from './fresh-read-store.js'
import { condition, exportPlan, listPlan, path } from './plan-by-hand.js'

const categories = entity('categories')
const GONE = new Error('gone')

/** Ten callers take all ten connections: one of them alone would leave some to others. */
function tenCallers(): { readonly signals: readonly AbortSignal[]; abort(): void } {
  const callers = Array.from({ length: 10 }, () => new AbortController())
  for (const [n, { signal }] of callers.entries()) countFor(signal, { shareKey: `caller ${n}` })
  return {
    signals: callers.map(({ signal }) => signal),
    abort() {
      for (const one of callers) one.abort(GONE)
    }
  }
}

/** A statement hangs for as long as another connection holds the table. */
describeMysqlWays('aborted reads on', function ({ open }) {
  // A machine that does much else at the same time is no reason to fail.
  let fresh: FreshReadStore
  let holder: Connection

  beforeEach(async () => {
    fresh = await freshReadStore('mysql', open)
    holder = await createConnection({ uri: fresh.url })
    await fresh.store.list(listPlan(categories), never)
    // The server shows a statement for a moment after its answer.
    await until(0)
    await holder.query('LOCK TABLES categories WRITE')
  })

  afterEach(async () => {
    await holder.end()
    await fresh.dispose()
  })

  async function running(): Promise<number> {
    const [rows] = await holder.query(
      "SELECT 1 FROM information_schema.processlist WHERE db = DATABASE() AND info LIKE 'SELECT `categories`%'"
    )
    return Array.isArray(rows) ? rows.length : 0
  }

  async function until(count: number): Promise<void> {
    while ((await running()) !== count) await wait(5)
  }

  /** Statements of ten texts. The pool runs fewer at a time of a text that took half a second, as any may that is held. */
  let texts = 0
  const tenLists = (signals: readonly AbortSignal[]): Promise<unknown>[] =>
    signals.map((signal) => {
      texts += 1
      const conditions = Array.from({ length: texts }, () => condition(path(categories, 'id'), 'greaterThan', 0))
      return outcome(fresh.store.list(listPlan(categories, { conditions }), signal))
    })

  const outcome = (reading: Promise<unknown>): Promise<unknown> => reading.catch((error: unknown) => error)

  it('are stopped in the database and reject with the reason', async () => {
    const aborting = new AbortController()
    const reading = outcome(fresh.store.list(listPlan(categories), aborting.signal))
    await until(1)
    aborting.abort(GONE)
    expect(await reading).to.equal(GONE)
    await until(0)
  })

  it('leave the pool whole: as many again can run, and run right', async () => {
    for (let round = 0; round < 3; round++) {
      const callers = tenCallers()
      const readings = tenLists(callers.signals)
      await until(10)
      callers.abort()
      expect(await Promise.all(readings), `round ${round}`).to.deep.equal(readings.map(() => GONE))
      await until(0)
    }
    await holder.query('UNLOCK TABLES')
    const lists = await Promise.all(Array.from({ length: 20 }, () => fresh.store.list(listPlan(categories), never)))
    expect(lists.every(({ rows }) => rows.length === 0)).to.equal(true)
  })

  it('give up waiting for a connection', async () => {
    const hanging = tenCallers()
    const readings = tenLists(hanging.signals)
    await until(10)
    const waiting = new AbortController()
    const waiter = outcome(fresh.store.list(listPlan(categories), waiting.signal))
    waiting.abort(GONE)
    expect(await waiter).to.equal(GONE)
    hanging.abort()
    await Promise.all(readings)
    await holder.query('UNLOCK TABLES')
    expect((await fresh.store.list(listPlan(categories), never)).rows).to.deep.equal([])
  })

  it('stop an export too, and close its connection', async () => {
    const aborting = new AbortController()
    const reading = drain(fresh.store.export(exportPlan(categories), keepRows, aborting.signal))
    await until(1)
    aborting.abort(GONE)
    expect(await outcome(reading)).to.equal(GONE)
    await until(0)
  })

  it('send nothing when the signal was aborted before', async () => {
    expect(await outcome(fresh.store.list(listPlan(categories), AbortSignal.abort(GONE)))).to.equal(GONE)
    expect(await running()).to.equal(0)
  })
})
