import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { insertManyProducts } from '../api/fixture.js'
import { type Answer, call, type CallOptions, filter } from '../api/http-call.js'
import { etagOf, rowIn } from '../api/writes/send.js'
import { select } from '../api/writes/stored.js'
import type { DatabaseKind, FreshDatabase } from '../harness/database.js'
import { type Mesh, startMesh } from '../harness/mesh.js'
import { storeDatabase } from '../harness/store-database.js'
import { randomNumbers } from '../runner/random.js'

const LONGEST_PAUSE_MS = 300
/** Between two cuts, so that a slow machine gets on too. Reads are the longest: cuts that none outlasts would go on for ever. */
const FEWEST_ANSWERS = 10
const FEWEST_READS = 4
const READERS = 8
const CREATORS = 4
const CHANGERS = 4
/** Rows that no test writes, and the one that each changer has for itself. */
const MANY = 300
const CHANGED = Array.from({ length: CHANGERS }, (_, n) => n + 1)

const OF_MANY = filter('id', 'between', `1000000,${1_000_000 + MANY - 1}`)

/** Reads of every kind, of rows that nobody writes meanwhile. */
const READS: readonly string[] = [
  '/products/9',
  '/products/9?fields=id,name&includeFKs=true',
  '/products/999',
  '/categories',
  '/categories?includeFKs=true',
  `/products/paged?pageSize=100&sortColumn=name&${OF_MANY}`,
  `/products/paged?pageSize=7&sortColumn=price,name&sortDirection=desc,asc&includeChildren=true&${filter('name', 'contains', '1')}&${filter('id', 'gt', '5')}`,
  `/products/paged?pageSize=500&includeTotal=false&${filter('id', 'in', '1000001,1000005,9')}`,
  '/products/lookup?search=Row%2012',
  `/products/export?fields=id,name,description&${OF_MANY}`,
  '/customers/2',
  '/orders/1?includeChildren=true'
]

/**
 * Declares the test that cuts the connections between gateway and data services while clients work: so many seconds, and so
 * often at least.
 */
export function describeCutRequests(
  kind: DatabaseKind,
  { seed, seconds, cuts }: { readonly seed: number; readonly seconds: number; readonly cuts: number }
): void {
  describe(`requests while connections between the processes are cut at random moments on ${kind}`, function () {
    this.timeout(120_000 + 3000 * seconds)
    let database: FreshDatabase
    let mesh: Mesh
    before(async () => {
      database = await storeDatabase(kind, 'fixture')
      mesh = await startMesh({ database, gateways: 1, services: 2 })
      await insertManyProducts(database.url, MANY, 2000)
    })
    after(async () => {
      await mesh?.[Symbol.asyncDispose]()
      await database?.dispose()
    })

    it('lose no read, double no create, and change rows once', async () => {
      const random = randomNumbers(seed)
      const below = (limit: number): number => Math.floor(random() * limit)
      const token = await mesh.token('admin@example.com')
      const [url = ''] = mesh.urls
      let isOver = false
      const counts = { cuts: 0, reads: 0, creates: 0, changes: 0, again: 0, ownSuccess: 0 }

      /** Sent until it is answered by more than 503, as a client does with what may be repeated. */
      const send = async (
        target: string,
        options: CallOptions,
        isBusy: (answer: Answer) => boolean = () => false
      ): Promise<Answer> => {
        for (let attempt = 0; attempt < 1000; attempt++) {
          // An export that has begun can only break off.
          const answer = await call(url, target, { ...options, token }).catch(() => undefined)
          if (answer === undefined) expect(target).to.match(/^\/products\/export/)
          else if (answer.status !== 503 && !isBusy(answer)) return answer
          else if (answer.status === 503) expect(answer.text).to.include('"code":"upstream.unavailable"')
          counts.again++
          await delay(10)
        }
        throw new Error(`no answer of ${target}`)
      }
      const json = (body: object): CallOptions => {
        const text = JSON.stringify(body)
        return {
          body: text,
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
        }
      }

      const expected = new Map<string, Answer>()
      for (const target of READS) {
        const answer = await call(url, target, { token })
        expect(answer.status, `${target}: ${answer.text.slice(0, 300)}`).to.be.oneOf([200, 404])
        expected.set(target, answer)
      }
      const read = async (number: number): Promise<void> => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        for (let n = number; !isOver; n++) {
          const target = READS[n % READS.length] ?? ''
          const answer = await send(target, { agent })
          const whole = expected.get(target)
          expect(answer.status, target).to.equal(whole?.status)
          if (whole?.status === 200) expect(answer.text === whole.text, target).to.equal(true)
          counts.reads++
        }
        agent.destroy()
      }

      const keys: string[] = []
      const create = async (number: number): Promise<void> => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        for (let n = 0; !isOver; n++) {
          const key = `cut-${number}-${n}`
          const { body = '', headers } = json({ name: 'Cut', sku: key, categoryId: 1, price: '1.00', isActive: true })
          const isInFlight = ({ text }: Answer): boolean => text.includes('"code":"idempotency.in-flight"')
          const sent = { method: 'POST', agent, body, headers: { ...headers, 'idempotency-key': key } }
          const answer = await send('/products', sent, isInFlight)
          expect(answer.status, answer.text).to.equal(201)
          expect(rowIn(answer)['sku']).to.equal(key)
          keys.push(key)
          counts.creates++
        }
        agent.destroy()
      }

      const changes = new Map<number, string[]>()
      const change = async (id: number): Promise<void> => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        const target = `/products/${id}`
        let last = await send(target, { agent })
        const done: string[] = []
        changes.set(id, done)
        for (let n = 0; !isOver; n++) {
          const description = `change ${n} of ${id}`
          const row = { ...rowIn(last), description }
          const { body = '', headers } = json(row)
          const put = { method: 'PUT', agent, body, headers: { ...headers, 'if-match': etagOf(last) } }
          let answer = await send(target, put)
          while (answer.status === 412) {
            // This client alone writes the row, so what has changed it was the attempt that had no answer.
            const now = await send(target, { agent })
            if (etagOf(now) !== etagOf(last)) {
              expect(rowIn(now)['description'], 'after 412').to.equal(description)
              counts.ownSuccess++
              answer = now
            } else answer = await send(target, put)
          }
          expect(answer.status, answer.text).to.equal(200)
          done.push(description)
          counts.changes++
          last = answer
        }
        agent.destroy()
      }

      const cut = async (): Promise<void> => {
        const answers = (): number => counts.reads + counts.creates + counts.changes
        const end = performance.now() + seconds * 1000
        while (
          performance.now() < end ||
          counts.cuts < cuts ||
          counts.creates < 20 ||
          counts.changes < 20 ||
          counts.reads < 50
        ) {
          const [enough, enoughReads] = [answers() + FEWEST_ANSWERS, counts.reads + FEWEST_READS]
          await delay(below(LONGEST_PAUSE_MS))
          while ((answers() < enough || counts.reads < enoughReads) && !isOver) await delay(5)
          mesh.services[below(mesh.services.length)]?.way.cut()
          counts.cuts++
        }
      }
      const clients = Promise.all([
        ...Array.from({ length: READERS }, (_, number) => read(number)),
        ...Array.from({ length: CREATORS }, (_, number) => create(number)),
        ...CHANGED.map(change)
      ])
      try {
        await Promise.race([cut(), clients])
      } finally {
        isOver = true
      }
      await clients
      process.stdout.write(`      ${kind}, seed ${seed}: ${JSON.stringify(counts)}\n`)

      const stored = await select(
        { databaseUrl: database.url },
        "SELECT sku, COUNT(*) AS n FROM products WHERE sku LIKE 'cut-%' GROUP BY sku"
      )
      expect(new Map(stored.map((row) => [String(row['sku']), Number(row['n'])]))).to.deep.equal(
        new Map(keys.map((key) => [key, 1]))
      )
      for (const [id, done] of changes) {
        const [row] = await select({ databaseUrl: database.url }, 'SELECT description FROM products WHERE id = ?', [id])
        expect(row?.['description'], `row ${id}`).to.equal(done.at(-1))
        const [audit] = await select(
          { databaseUrl: database.url },
          "SELECT COUNT(*) AS n FROM ur_audit_entries WHERE resource = 'products' AND action = 'update' AND row_id = ?",
          [String(id)]
        )
        expect(Number(audit?.['n']), `changes of row ${id}`).to.equal(done.length)
      }
    })
  })
}
