import { expect } from 'chai'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { ApiStore } from '../api/api-store.js'
import { insertManyProducts } from '../api/fixture.js'
import { eachDatabase } from '../harness/database.js'
import { open } from '../harness/http.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { watchSnapshot } from './export-snapshot.js'
import { ROUNDS } from './lengths.js'

// In each run of the tests: test/api/export-streaming.test.ts has one client that leaves each kind of read.

const EXPORTED = 20_000
/** The contract's second. */
const MAX_MEDIAN_MS = 1000
/** Below the deadline of a call, which would end a query whose caller's leaving was never noticed. */
const TIMEOUT_MS = 8000
/** Moments at which a client leaves, over all that happens before its query waits. */
const EARLY_MS = 25

eachDatabase((kind) => {
  describe(`exports whose client goes away on ${kind}`, function () {
    this.timeout(60_000 + ROUNDS * 2 * TIMEOUT_MS)
    const store = new ApiStore(kind)

    before(async () => {
      await store.start({ processes: true })
      await insertManyProducts(store.databaseUrl, EXPORTED, 1500)
    })
    after(() => store.stop())

    it('leave no snapshot open', async () => {
      await using watcher = await watchSnapshot(store.databaseUrl)
      const times: number[] = []
      for (let round = 0; round < ROUNDS; round++) {
        await watcher.prepare()
        const response = await open(`${store.url}/products/export`)
        await once(response, 'data')
        response.pause()
        await watcher.begun()
        const left = performance.now()
        response.destroy()
        times.push(await untilQuiet(left, () => watcher.isOpen()))
      }
      judge(times)
    })

    if (kind === 'mysql') {
      it('leave no query running, whenever they leave', async () => {
        const locker = await openTestDatabase(store.databaseUrl)
        const times: number[] = []
        try {
          for (let round = 0; round < ROUNDS; round++) {
            // A query that waits for a lock runs for as long as it is held.
            await locker.run('LOCK TABLES products WRITE, categories WRITE')
            const leaving = new AbortController()
            const answer = open(`${store.url}/products/export`, { signal: leaving.signal }).catch(() => undefined)
            if (round % 2 === 0) await wait(Math.random() * EARLY_MS)
            else while (!(await runs(locker))) await wait(2)
            const left = performance.now()
            leaving.abort()
            await answer
            times.push(await untilQuiet(left, () => runs(locker)))
            await locker.run('UNLOCK TABLES')
          }
        } finally {
          await locker.close()
        }
        judge(times)
      })
    }
  })
})

async function runs(database: TestDatabase): Promise<boolean> {
  const rows = await database.run(
    `SELECT id FROM information_schema.processlist
     WHERE db = DATABASE() AND command <> 'Sleep' AND id <> CONNECTION_ID()`
  )
  return rows.length > 0
}

/** Milliseconds from `left` to the last moment that was not quiet. Rejects when there is no end to it. */
async function untilQuiet(left: number, isBusy: () => Promise<boolean>): Promise<number> {
  let last = left
  for (let quiet = 0; quiet < 20; quiet++) {
    if (await isBusy()) {
      quiet = -1
      last = performance.now()
    }
    if (last - left > TIMEOUT_MS) throw new Error(`Not stopped within ${TIMEOUT_MS} ms`)
    await wait(2)
  }
  return last - left
}

function judge(times: readonly number[]): void {
  const sorted = times.toSorted((one, other) => one - other)
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0
  const longest = sorted.at(-1) ?? 0
  process.stdout.write(
    `      ${times.length} rounds: median ${median.toFixed(0)} ms, longest ${longest.toFixed(0)} ms\n`
  )
  expect(median, 'median in ms').to.be.below(MAX_MEDIAN_MS)
}
