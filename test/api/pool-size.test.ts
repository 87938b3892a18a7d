import { expect } from 'chai'
import type { FreshDatabase } from '../harness/database.js'
import { storeDatabase } from '../harness/store-database.js'
import { type Stack, startStack } from '../harness/stack.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { call } from './http-call.js'

const SIZE = 3
const AT_ONCE = 40

describe('DATABASE_POOL_SIZE', () => {
  let database: FreshDatabase
  let stack: Stack
  let server: TestDatabase
  before(async () => {
    database = await storeDatabase('mysql', 'sample')
    stack = await startStack({ database, env: { DATABASE_POOL_SIZE: String(SIZE) } })
    const url = new URL(database.url)
    url.pathname = '/information_schema'
    server = await openTestDatabase(url.href)
  })
  after(async () => {
    await server?.close()
    await stack?.stop()
    await database?.dispose()
  })

  /** The connections to one of the databases at the moment; those of a pool stay open for a while. */
  async function connectionsTo(url: string): Promise<number> {
    const [row] = await server.run('SELECT COUNT(*) AS n FROM information_schema.processlist WHERE db = ?', [
      new URL(url).pathname.slice(1)
    ])
    return Number(row?.['n'])
  }

  it('is the most connections of the pool of each database, however many requests come at once', async () => {
    const counted = { first: 0, second: 0 }
    let done = false
    const requests = Promise.all(
      Array.from({ length: AT_ONCE }, async (_, index) => {
        const filter = `filters[price].operator=gt&filters[price].value=${index}&pageSize=20`
        const { status } = await call(stack.url, `/products/paged?${filter}&includeChildren=true`, { alone: true })
        expect(status).to.equal(200)
      })
    ).finally(() => (done = true))
    while (!done) {
      counted.first = Math.max(counted.first, await connectionsTo(database.url))
      counted.second = Math.max(counted.second, await connectionsTo(database.reviewsUrl))
    }
    await requests
    // The pool, up to five connections for accounts and sessions, of which the start has used one, and one for health.
    expect(counted.first).to.be.within(SIZE, SIZE + 2)
    expect(counted.second).to.be.within(1, SIZE)
  })
})
