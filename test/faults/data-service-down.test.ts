import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { describeApi } from '../api/api-store.js'
import { ids } from '../api/http-call.js'
import { outputRoot } from '../harness/package-root.js'
import { startDataServiceHere } from '../stack/in-process.js'
import type { Server } from '../stack/server-log.js'

describeApi('with the data service down', (store) => {
  let again: Server | undefined
  after(() => again?.stop())

  it('answers 503 with Retry-After, and recovers once it is back', async () => {
    expect((await store.call('/products/1')).status).to.equal(200)
    await store.stack.dataService.stop()
    for (const target of ['/products', '/products/paged', '/products/1', '/products/lookup', '/products/export']) {
      const answer = await store.call(target)
      store.problem(answer, { status: 503, code: 'upstream.unavailable' })
      expect(answer.headers['retry-after'], target).to.match(/^[1-9]\d*$/)
    }
    // What the gateway decides by itself it still does.
    store.problem(await store.call('/nope'), { status: 404, code: 'route.not-found' })
    store.problem(await store.call('/products', { method: 'PATCH' }), { status: 405, code: 'method.not-allowed' })

    const { server } = await startDataServiceHere(join(outputRoot, 'examples/store'), {
      DATABASE_URL: store.databaseUrl,
      REVIEWS_DATABASE_URL: store.database.reviewsUrl,
      DATA_DIR: store.dataDir,
      DATA_SERVICE_ADDRESS: store.stack.dataAddress,
      OWNER_BYPASS_ROLE: 'Admin'
    })
    again = server
    let answer = await store.call('/products/1')
    while (answer.status !== 200) {
      store.problem(answer, { status: 503, code: 'upstream.unavailable' })
      await sleep(20)
      answer = await store.call('/products/1')
    }
    expect(ids(await store.call('/products/paged?pageSize=2'))).to.deep.equal([1, 2])
  })
})
