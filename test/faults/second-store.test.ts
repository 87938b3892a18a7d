import { expect } from 'chai'
import { describeApi } from '../api/api-store.js'
import { ids } from '../api/http-call.js'
import { CATEGORIES, PRODUCTS } from '../api/fixture.js'
import { insertRows, TABLES } from '../harness/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { freePort } from '../runner/free-port.js'

const closedPort = await freePort()

describeApi(
  'with the second store down',
  (store) => {
    before(() =>
      withTestDatabase(store.databaseUrl, async (database) => {
        await insertRows(database, TABLES.categories, CATEGORIES)
        await insertRows(database, TABLES.products, PRODUCTS)
      })
    )

    it('serves every request that does not include it', async () => {
      for (const target of [
        '/products',
        '/products/paged?includeFKs=true',
        '/products/1',
        '/products/lookup',
        '/products/export',
        '/categories/paged?includeChildren=true',
        '/products/paged?includeChildren=false'
      ]) {
        expect((await store.call(target)).status, target).to.equal(200)
      }
      expect(ids(await store.call('/products/paged?pageSize=3'))).to.deep.equal([1, 2, 3])
    })

    it('answers reads that need the second store with 503 and when to come again', async () => {
      for (const target of [
        '/products?includeChildren=true',
        '/products/paged?includeChildren=true',
        '/products/1?includeChildren=true'
      ]) {
        const answer = await store.call(target)
        store.problem(answer, { status: 503, code: 'upstream.unavailable' })
        expect(answer.headers['retry-after'], target).to.match(/^[1-9]\d*$/)
        expect(answer.text, target).not.to.match(/ECONNREFUSED|127\.0\.0\.1:\d+.*refused/i)
      }
    })
  },
  { rows: 'none', env: () => ({ REVIEWS_DATABASE_URL: `mysql://root@127.0.0.1:${closedPort}/reviews` }) }
)
