import { expect } from 'chai'
import { insertRows, type NewRow, TABLES } from '../harness/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { describeApi } from './api-store.js'
import type { Answer } from './http-call.js'

const LISTS = 100

describeApi(
  'fair shares of reads',
  (store) => {
    const from = (address: string, target: string): Promise<Answer> =>
      store.call(target, { headers: { 'x-forwarded-for': address } })

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
  },
  {
    processes: true,
    env: () => ({ TRUSTED_PROXIES: '127.0.0.1', GATEWAY_SECRET: 'secret-of-the-gateway-in-this-test' })
  }
)
