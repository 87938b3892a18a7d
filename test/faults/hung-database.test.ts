import { expect } from 'chai'
import { expectProblem } from '../api/expect-problem.js'
import { type Answer, call } from '../api/http-call.js'
import { startStack } from '../harness/stack.js'
import { storeDatabase } from '../harness/store-database.js'
import { wayTo } from '../harness/way-to-server.js'

/** Fewer than the connections of the pool, so that reads wait on connections of before and on new ones. */
const BEFORE = 3

describe('with databases that hang', () => {
  it('reads of the primary are 503, on connections of before and on new ones, and run again afterwards', async () => {
    const database = await storeDatabase('mysql', 'fixture')
    const way = await wayTo(database.url)
    try {
      await using stack = await startStack({
        database: { url: way.url, reviewsUrl: database.reviewsUrl },
        env: { SAMPLE_DATA: 'false' }
      })
      const answer = (target: string): Promise<Answer> => call(stack.url, target)
      const targets = [
        '/products/1',
        '/products/paged',
        '/products',
        '/products/lookup',
        '/categories/1',
        '/categories'
      ]
      await Promise.all(targets.slice(0, BEFORE).map(answer))
      way.block()
      const started = performance.now()
      const answers = await Promise.all(targets.map(answer))
      expect(performance.now() - started, 'milliseconds that reads wait for').to.be.above(4000)
      for (const [at, one] of answers.entries()) {
        expectProblem(one, { status: 503, code: 'upstream.unavailable', base: stack.url })
        expect(one.headers['retry-after'], targets[at]).to.match(/^[1-9]\d*$/)
      }
      way.open()
      for (const target of targets) expect((await answer(target)).status, target).to.equal(200)
    } finally {
      await way[Symbol.asyncDispose]()
      await database.dispose()
    }
  })

  it('reads that need the second store are 503, and all others are as before', async () => {
    const database = await storeDatabase('mysql', 'fixture')
    const way = await wayTo(database.reviewsUrl)
    try {
      await using stack = await startStack({
        database: { url: database.url, reviewsUrl: way.url },
        env: { SAMPLE_DATA: 'false' }
      })
      const answer = (target: string): Promise<Answer> => call(stack.url, target)
      const targets = ['/products/1?includeChildren=true', '/products/paged?includeChildren=true']
      for (const target of targets) expect((await answer(target)).status, target).to.equal(200)
      way.block()
      const [hanging, others] = await Promise.all([
        Promise.all(targets.map(answer)),
        Promise.all(['/products/1', '/products/paged?includeFKs=true'].map(answer))
      ])
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
