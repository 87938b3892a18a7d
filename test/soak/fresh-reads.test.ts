import { Agent } from 'node:http'
import { expect } from 'chai'
import { insertFixture } from '../api/fixture.js'
import { type Answer, call } from '../api/http-call.js'
import { etagOf, rowIn } from '../api/writes/send.js'
import { eachDatabase, type FreshDatabase, freshDatabase } from '../harness/database.js'
import { type Mesh, startMesh } from '../harness/mesh.js'
import { wayTo, type WayToServer } from '../harness/way-to-server.js'
import { SECONDS } from './lengths.js'

// In each run of the tests: test/data-service/sql/gathered-reads.test.ts holds that no read joins a statement that was sent.

const WRITING_MS = SECONDS * 1000
/** Of each row, however short the time. */
const FEWEST_WRITES = 40
/** Each has a writer of its own, so that a reader knows which version it must see at least. */
const ROWS = [1, 2, 3, 4]
const READERS = 24
/**
 * Milliseconds that one data service waits longer for answers of its database than the other. Rows are written through the
 * other one meanwhile, so that a read which took the answer of a statement that had been sent before would show it.
 */
const LATENCY = 30

/** The versions of this service count up in their last bytes. */
function numberOf(answer: Answer): bigint {
  return Buffer.from(String(rowIn(answer)['rowVersion']), 'base64').readBigUInt64BE()
}

eachDatabase((kind) => {
  describe(`reads by id through two gateways and two data services on ${kind}`, function () {
    this.timeout(60_000 + 2 * WRITING_MS)
    let database: FreshDatabase
    let mesh: Mesh
    let way: WayToServer | undefined
    before(async () => {
      database = await freshDatabase(kind)
      way = kind === 'mysql' ? await wayTo(database.url, { latency: LATENCY }) : undefined
      const firstDatabaseUrl = way?.url ?? database.url
      mesh = await startMesh({ database, firstDatabaseUrl, gateways: 2, services: 2, inPairs: true, processes: true })
      await insertFixture({ database: database.url, reviews: database.reviewsUrl })
    })
    after(async () => {
      await mesh?.[Symbol.asyncDispose]()
      await way?.[Symbol.asyncDispose]()
      await database?.dispose()
    })

    it('never show an older version than one that was answered before they began', async () => {
      const token = await mesh.token('clerk@example.com')
      /** The newest version of each row that anybody has been answered. */
      const newest = new Map<number, bigint>()
      const counts = { reads: 0, writes: 0 }
      const url = (n: number): string => mesh.urls[n % mesh.urls.length] ?? ''
      const seen = (id: number, version: bigint): void => {
        if (version > (newest.get(id) ?? 0n)) newest.set(id, version)
      }

      const read = async (id: number, gateway: string, agent: Agent): Promise<Answer> => {
        const least = newest.get(id) ?? 0n
        const answer = await call(gateway, `/products/${id}`, { agent, token })
        expect(answer.status, answer.text).to.equal(200)
        const version = numberOf(answer)
        if (version < least) throw new Error(`row ${id}: version ${version} was read when ${least} had been answered`)
        seen(id, version)
        counts.reads++
        return answer
      }
      const end = performance.now() + WRITING_MS
      let isOver = false
      const write = async (id: number): Promise<void> => {
        const agent = new Agent({ keepAlive: true, maxSockets: 2 })
        let last = await read(id, url(id), agent)
        for (let n = 0; n < FEWEST_WRITES || performance.now() < end; n++) {
          const body = JSON.stringify({ description: `write ${n}` })
          const headers = {
            'content-type': 'application/merge-patch+json',
            'content-length': Buffer.byteLength(body),
            'if-match': etagOf(last)
          }
          const written = await call(url(1), `/products/${id}`, { method: 'PATCH', agent, token, headers, body })
          expect(written.status, written.text).to.equal(200)
          seen(id, numberOf(written))
          counts.writes++
          last = await read(id, url(0), agent)
          expect(last.text, 'what was just written, by another gateway').to.equal(written.text)
        }
        agent.destroy()
      }
      const reader = async (number: number): Promise<void> => {
        const agent = new Agent({ keepAlive: true, maxSockets: 2 })
        for (let n = 0; !isOver; n++) await read(ROWS[(number + n) % ROWS.length] ?? 1, url(n), agent)
        agent.destroy()
      }
      const readers = Promise.all(Array.from({ length: READERS }, (_, number) => reader(number)))
      try {
        await Promise.race([Promise.all(ROWS.map(write)), readers])
      } finally {
        isOver = true
      }
      await readers
      process.stdout.write(`      ${kind}: ${counts.writes} writes, ${counts.reads} reads\n`)
      expect(counts.reads).to.be.above(5 * counts.writes)
    })
  })
})
