import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { expect } from 'chai'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { ApiStore } from '../api/api-store.js'
import { count } from '../api/writes/stored.js'
import { eachDatabase } from '../harness/database.js'
import { ROWS } from './lengths.js'
import { peakMemory } from './memory-of.js'

// In each run of the tests: test/api/writes/import-files.test.ts has the bounds, and random-imports.test.ts files that are
// cut and sent again.

const TENTH = Math.floor(ROWS / 10)
/** Single creates, one after the other, with which an import is compared. */
const SINGLES = 1000
const LINES = 1000
/** MiB of both processes: a million rows are more than a hundred as they are sent, and kept as objects several times that. */
const MAX_GROWTH = 100

/** A CSV of suppliers, written as it is read. */
function* lines(name: string, rows: number): Generator<string> {
  yield 'name,country\r\n'
  for (let start = 0; start < rows; start += LINES) {
    const numbers = Array.from({ length: Math.min(LINES, rows - start) }, (_, n) => start + n)
    yield numbers.map((n) => `"Supplier ${n} of ${name}, made to be many",SE\r\n`).join('')
  }
}

eachDatabase((kind) => {
  describe(`an import of ${ROWS} rows on ${kind}`, function () {
    this.timeout(60_000 + 10 * ROWS)
    const store = new ApiStore(kind)
    // A token is asked for with each part of a file, and a slow machine takes longer for a million rows than one lives.
    const env = { ACCESS_TOKEN_TTL: '12h' }
    before(() => store.start({ processes: true, rows: 'none', env: () => env }))
    after(() => store.stop())

    const send = async (name: string, rows: number): Promise<Readonly<Record<string, number>>> => {
      const { hostname, port } = new URL(store.url)
      const outgoing = request({
        agent: false,
        hostname,
        port,
        method: 'POST',
        path: '/suppliers/import?onError=skip',
        headers: {
          authorization: `Bearer ${await store.stack.token('clerk@example.com')}`,
          'content-type': 'text/csv',
          'idempotency-key': name
        }
      })
      const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>
      const [[answer]] = await Promise.all([answered, pipeline(Readable.from(lines(name, rows)), outgoing)])
      const body = await text(answer)
      expect(answer.statusCode, body).to.equal(200)
      return JSON.parse(body) as Readonly<Record<string, number>>
    }
    const seconds = async (work: () => Promise<unknown>): Promise<number> => {
      const started = performance.now()
      await work()
      return (performance.now() - started) / 1000
    }

    it('creates each row once, in flat memory', async () => {
      const { gateway, dataService } = store.processes
      const peaks = (): number[] => [gateway, dataService].map(({ pid }) => peakMemory(pid) ?? 0)
      const sum = (all: readonly number[]): number => all.reduce((total, one) => total + one, 0)
      const before = await count(store, 'suppliers')
      expect(await send('few', TENTH)).to.include({ rows: TENTH, created: TENTH, failed: 0 })
      const few = peaks()
      let counts: Readonly<Record<string, number>> = {}
      const took = await seconds(async () => (counts = await send('all', ROWS)))
      const all = peaks()
      expect(counts).to.include({ rows: ROWS, created: ROWS, failed: 0 })
      expect(await count(store, 'suppliers')).to.equal(before + TENTH + ROWS)
      process.stdout.write(
        `      ${ROWS} rows in ${took.toFixed(1)} s, ${Math.round(ROWS / took)} a second; ` +
          `peaks of gateway and data service ${few.join(' and ')} MiB after a tenth, ${all.join(' and ')} MiB\n`
      )
      expect(sum(all) - sum(few), 'MiB more for ten times the rows').to.be.below(MAX_GROWTH)
      expect(await send('few', TENTH)).to.include({ rows: TENTH, replayed: TENTH })
      expect(await count(store, 'suppliers')).to.equal(before + TENTH + ROWS)
    })

    it('beside single creates and, on a server, LOAD DATA', async () => {
      const token = await store.stack.token('clerk@example.com')
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const { hostname, port } = new URL(store.url)
      const singles = await seconds(async () => {
        for (let n = 0; n < SINGLES; n++) {
          const body = JSON.stringify({ name: `Single ${n}, made to be many`, country: 'SE' })
          const headers = {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            'idempotency-key': `single-${n}`
          }
          const outgoing = request({ agent, hostname, port, method: 'POST', path: '/suppliers', headers })
          outgoing.end(body)
          const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
          await text(answer)
          expect(answer.statusCode).to.equal(201)
        }
      })
      agent.destroy()
      process.stdout.write(`      single creates, one after the other: ${Math.round(SINGLES / singles)} a second\n`)
      if (kind === 'sqlite') return
      const connection = await createConnection({ uri: store.databaseUrl, flags: ['+LOCAL_FILES'] })
      try {
        const [[before]] = await connection.query<RowDataPacket[]>('SELECT @@local_infile AS allowed')
        await connection.query('SET GLOBAL local_infile = 1')
        await connection.query('CREATE TABLE loaded LIKE suppliers')
        const loaded = await seconds(() =>
          connection.query({
            sql:
              "LOAD DATA LOCAL INFILE 'x' INTO TABLE loaded FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' " +
              "LINES TERMINATED BY '\\r\\n' IGNORE 1 LINES (name, country) SET row_version = RANDOM_BYTES(8)",
            infileStreamFactory: () => Readable.from(lines('load', ROWS), { objectMode: false })
          })
        )
        await connection.query('SET GLOBAL local_infile = ?', [before?.['allowed']])
        expect(await count(store, 'loaded')).to.equal(ROWS)
        process.stdout.write(
          `      LOAD DATA, without versions, audit and keys: ${Math.round(ROWS / loaded)} a second\n`
        )
      } finally {
        await connection.end()
      }
    })
  })
})
