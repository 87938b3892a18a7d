import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { expectProblem } from '../../api/expect-problem.js'
import { insertFixture } from '../../api/fixture.js'
import type { Answer } from '../../api/http-call.js'
import { etagOf, rowIn, sendTo, type Write } from '../../api/writes/send.js'
import { count, select } from '../../api/writes/stored.js'
import { isSoak } from '../../harness/in-soak.js'
import { type Stack, startStack } from '../../harness/stack.js'
import { withTestDatabase } from '../../oracle/test-database.js'
import { startPrivateServer, type PrivateServer } from '../../runner/database-server.js'

const CLIENTS = 6
/** Acknowledged writes between two kills. */
const WRITES = isSoak ? 40 : 20
const KILLS = isSoak ? 2 : 1

/** What a client may hear while its database is gone: come again, or that the first request may still run. */
const PASSING = ['upstream.unavailable', 'upstream.timeout', 'idempotency.in-flight']

describe('the database server killed in the middle of writes', () => {
  let server: PrivateServer
  let stack: Stack
  let databaseUrl: string
  const send = async (line: string, write: Write = {}): Promise<Answer> => {
    const [account = '', method = '', target = ''] = line.split(' ')
    return sendTo(stack.url, { method, target, token: await stack.token(`${account}@example.com`) }, write)
  }

  before(async () => {
    // The server of TEST_MYSQL_URL is others' as well: this one has to be our own.
    server = await startPrivateServer()
    const name = `killed_${randomBytes(4).toString('hex')}`
    await withTestDatabase(`${server.url}/mysql`, async (database) => {
      for (const one of [name, `${name}_reviews`]) await database.run(`CREATE DATABASE ${one} CHARACTER SET utf8mb4`)
    })
    databaseUrl = `${server.url}/${name}`
    const reviewsUrl = `${server.url}/${name}_reviews`
    stack = await startStack({ database: { url: databaseUrl, reviewsUrl }, env: { SAMPLE_DATA: 'false' } })
    await insertFixture({ database: databaseUrl, reviews: reviewsUrl })
  })
  after(async () => {
    await stack?.stop()
    await server?.stop()
  })

  it('keeps every acknowledged write once, and the service recovers by itself', async () => {
    const acknowledged = new Set<string>()
    const doubtful = new Set<string>()
    let increments = 0
    let rejections = 0
    let stopping = false

    /** 2xx, or one of the rejections that pass. */
    const judged = (answer: Answer): boolean => {
      if (answer.status < 300) return true
      const { code } = JSON.parse(answer.text) as { code: string }
      expect(PASSING, answer.text).to.include(code)
      expectProblem(answer, { status: answer.status, code, base: stack.url })
      rejections++
      return false
    }
    const repeated = async (request: () => Promise<Answer>): Promise<Answer> => {
      for (;;) {
        const answer = await request()
        if (judged(answer)) return answer
        await sleep(50)
      }
    }
    /** With a key: again until it is done. */
    const withKeys = async (client: number): Promise<void> => {
      for (let n = 0; !stopping; n++) {
        const mark = `k-${client}-${n}`
        const body = { lines: [{ productId: 1, quantity: 1 }], trackingCode: mark }
        await repeated(() => send('ada POST /orders', { body, key: mark }))
        acknowledged.add(mark)
      }
    }
    /** Without: once, and whoever hears nothing good does not know. */
    const withoutKeys = async (client: number): Promise<void> => {
      for (let n = 0; !stopping; n++) {
        const mark = `n-${client}-${n}`
        const body = { lines: [{ productId: 1, quantity: 1 }], trackingCode: mark }
        if (judged(await send('ben POST /orders', { body }))) acknowledged.add(mark)
        else {
          doubtful.add(mark)
          await sleep(50)
        }
      }
    }
    const counting = async (): Promise<void> => {
      for (; !stopping; increments++) {
        const read = await repeated(() => send('clerk GET /products/12'))
        const { weightGrams, ...row } = rowIn(read)
        const body = { ...row, weightGrams: Number(weightGrams) + 1 }
        await repeated(() => send('clerk PUT /products/12', { body, ifMatch: etagOf(read), key: `c-${increments}` }))
      }
    }
    const reached = async (size: number): Promise<void> => {
      while (!stopping && acknowledged.size < size) await sleep(10)
    }

    const clients = Array.from({ length: CLIENTS }, (_, n) => (n % 2 === 0 ? withKeys(n) : withoutKeys(n)))
    const all = Promise.all([...clients, counting()])
    const killing = async (): Promise<void> => {
      for (let kill = 1; kill <= KILLS; kill++) {
        await reached(acknowledged.size + WRITES)
        const known = rejections
        await server.kill()
        // Not before the clients have noticed.
        while (!stopping && (rejections < known + CLIENTS || doubtful.size === 0)) await sleep(10)
        await server.restart()
      }
      await reached(acknowledged.size + WRITES)
      stopping = true
    }
    try {
      await Promise.all([all, killing()])
    } finally {
      stopping = true
    }

    const orders = await select(
      { databaseUrl },
      'SELECT tracking_code, COUNT(*) AS n FROM orders GROUP BY tracking_code'
    )
    const stored = new Map(orders.map((row) => [String(row['tracking_code']), Number(row['n'])]))
    expect([...acknowledged].filter((mark) => stored.get(mark) !== 1)).to.deep.equal([])
    expect([...doubtful].filter((mark) => (stored.get(mark) ?? 0) > 1)).to.deep.equal([])
    expect(doubtful).not.to.be.empty
    expect(rowIn(await send('clerk GET /products/12'))['weightGrams']).to.equal(increments)
    // Nothing is there in part.
    const made = await count({ databaseUrl }, "orders WHERE tracking_code LIKE '_-%-%'")
    expect(await count({ databaseUrl }, "ur_audit_entries WHERE action = 'create'")).to.equal(made)
    expect(await count({ databaseUrl }, "ur_audit_entries WHERE action = 'update'")).to.equal(increments)
    expect(await count({ databaseUrl }, 'order_lines')).to.equal(made + 3)
    expect(await count({ databaseUrl }, 'ur_idempotency_keys WHERE answer IS NULL')).to.equal(0)
    const keyed = [...acknowledged].filter((mark) => mark.startsWith('k'))
    expect(await count({ databaseUrl }, 'ur_idempotency_keys')).to.equal(keyed.length + increments)
  })
})
