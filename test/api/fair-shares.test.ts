import { expect } from 'chai'
import { insertRows, type NewRow, TABLES } from '../harness/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { describeApi } from './api-store.js'
import type { Answer } from './http-call.js'
import { send } from './writes/send.js'

const LISTS = 100

describeApi(
  'fair shares of reads',
  (store) => {
    const from = (address: string, target: string): Promise<Answer> =>
      store.call(target, { alone: true, headers: { 'x-forwarded-for': address } })

    /** Enough that a list takes several turns of the event loop, on SQLite too. */
    before(() =>
      withTestDatabase(store.databaseUrl, async (database) => {
        const products = Array.from({ length: 600 }, (_, n): NewRow => {
          const id = 1001 + n
          return { id, name: 'P', sku: `P-${id}`, categoryId: 2, price: '1.00', isActive: true }
        })
        await insertRows(database, TABLES.products, products)
        const variants = products.map(({ id = null }): NewRow => {
          return { id, productId: id, name: 'V', sku: `V-${String(id)}`, price: '1.00', stock: 0 }
        })
        await insertRows(database, TABLES.variants, variants)
      })
    )

    it('a client that sends many lists with children is told to wait, and others are answered', async () => {
      const lists = Array.from({ length: LISTS }, () => from('192.0.2.1', '/products?includeChildren=true'))
      const others = ['192.0.2.2', '192.0.2.3'].map((address) => from(address, '/products/1'))
      const token = store.stack.token('ada@example.com')
      expect((await Promise.all(others)).map(({ status }) => status)).to.deep.equal([200, 200])
      expect(await token).to.be.a('string')
      const answers = await Promise.all(lists)
      const refused = answers.filter(({ status }) => status === 503)
      expect(answers.filter(({ status }) => status === 200)).to.not.be.empty
      expect(refused).to.not.be.empty
      expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 503)).to.be.empty
      for (const answer of refused) {
        store.problem(answer, { status: 503, code: 'upstream.unavailable' })
        expect(answer.headers['retry-after']).to.equal('1')
      }
    })

    if (store.kind === 'sqlite') return

    /** Each has statements that wait until the lock is released. */
    const page = (property: string, n: number): string =>
      `/products/paged?pageSize=10&filters[${property}].operator=contains&filters[${property}].value=zq${n}`

    /** While products are locked. `waiting` answers how many statements wait for the lock. */
    async function whileLocked(work: (waiting: () => Promise<number>) => Promise<void>): Promise<void> {
      await withTestDatabase(store.databaseUrl, async (database) => {
        await database.run('LOCK TABLES products WRITE')
        try {
          await work(async () => {
            const [row] = await database.run(
              `SELECT COUNT(*) AS n FROM information_schema.processlist
               WHERE db = DATABASE() AND state = 'Waiting for table metadata lock'`
            )
            return Number(row?.['n'])
          })
        } finally {
          await database.run('UNLOCK TABLES')
        }
      })
    }

    /** Reads of another table, of a page and of choices too, and a write are answered before the lock is released. */
    async function othersAreServed(): Promise<void> {
      const customer = { name: 'Beside', email: `beside-${Date.now()}@example.com` }
      const [created, ...read] = await Promise.all([
        send(store, 'clerk POST /customers', { body: customer }),
        ...['/categories/1', '/categories/2', '/categories/paged?pageSize=10', '/categories/lookup'].map((target) =>
          from('192.0.2.2', target)
        )
      ])
      expect(created.status, created.text).to.equal(201)
      expect(read.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200])
    }

    it('statements of a client that wait for a lock leave connections of the pool to others', async () => {
      await store.stack.token('clerk@example.com')
      const asked: Promise<Answer>[] = []
      await whileLocked(async (waiting) => {
        for (let n = 0; n < 24; n++) asked.push(from('192.0.2.1', page('name', n)))
        while ((await waiting()) < 5) await new Promise(setImmediate)
        // These wait until the pages have ended. Nobody else may have to wait for these.
        for (const target of ['/categories/1', '/categories/2', '/categories/lookup']) {
          for (let n = 0; n < 3; n++) asked.push(from('192.0.2.1', target))
        }
        await othersAreServed()
        expect(await waiting()).to.be.at.most(5)
      })
      for (const { status } of await Promise.all(asked)) expect(status).to.be.oneOf([200, 503, 504])
    })

    it('statements that are known to take long leave half of the connections to others, however many clients ask', async () => {
      await store.stack.token('clerk@example.com')
      const first: Promise<Answer>[] = []
      await whileLocked(async (waiting) => {
        first.push(from('192.0.2.1', page('sku', 0)))
        while ((await waiting()) < 1) await new Promise(setImmediate)
        // What takes half a second is long.
        await new Promise((resolve) => setTimeout(resolve, 550))
      })
      expect((await first[0])?.status).to.equal(200)
      const asked: Promise<Answer>[] = []
      await whileLocked(async (waiting) => {
        for (let n = 0; n < 24; n++) asked.push(from(`192.0.2.${10 + (n % 4)}`, page('sku', n)))
        while ((await waiting()) < 5) await new Promise(setImmediate)
        await othersAreServed()
        expect(await waiting()).to.be.at.most(5)
      })
      for (const { status } of await Promise.all(asked)) expect(status).to.be.oneOf([200, 503, 504])
    })
  },
  {
    on: 'mysql',
    processes: true,
    env: () => ({ TRUSTED_PROXIES: '127.0.0.1', GATEWAY_SECRET: 'secret-of-the-gateway-in-this-test' })
  }
)
