import { expect } from 'chai'
import { describeApi } from '../api/api-store.js'
import { ids } from '../api/http-call.js'
import { CATEGORIES, PRODUCTS } from '../api/fixture.js'
import { insertRows, TABLES } from '../oracle/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { freePort } from '../runner/free-port.js'
import { call, type Answer } from '../api/http-call.js'
import { expectProblem } from '../api/expect-problem.js'
import { insertFixture } from '../api/fixture.js'
import { freshDatabase } from '../harness/database.js'
import { startStack } from '../harness/stack.js'
import { wayTo } from '../harness/way-to-server.js'

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

describe('with a second store that hangs', function () {
  this.timeout(60_000)

  it('answers reads that need it with 503 and when to come again, and everything else as before', async () => {
    const database = await freshDatabase('mysql')
    const way = await wayTo(database.reviewsUrl)
    try {
      await using stack = await startStack({
        database: { url: database.url, reviewsUrl: way.url },
        env: { SAMPLE_DATA: 'false' }
      })
      await insertFixture({ database: database.url, reviews: database.reviewsUrl })
      const answer = (target: string): Promise<Answer> => call(stack.url, target)
      const targets = ['/products/1?includeChildren=true', '/products/paged?includeChildren=true']
      for (const target of targets) expect((await answer(target)).status, target).to.equal(200)
      way.block()
      const started = performance.now()
      const [hanging, others] = await Promise.all([
        Promise.all(targets.map(answer)),
        Promise.all(['/products/1', '/products/paged?includeFKs=true'].map(answer))
      ])
      expect(performance.now() - started).to.be.below(9000)
      for (const [at, one] of hanging.entries()) {
        expectProblem(one, { status: 503, code: 'upstream.unavailable', base: stack.url })
        expect(one.headers['retry-after'], targets[at]).to.match(/^[1-9]\d*$/)
      }
      for (const one of others) expect(one.status).to.equal(200)
      way.open()
      for (const target of targets) expect((await answer(target)).status, target).to.equal(200)
    } finally {
      await way[Symbol.asyncDispose]()
      await database.dispose()
    }
  })
})
