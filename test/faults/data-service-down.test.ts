import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { describeApi } from '../api/api-store.js'
import { ids } from '../api/http-call.js'
import { STORE } from '../harness/stack.js'
import { listening, type ServiceProcess, startProcess } from '../stack/service-process.js'

describeApi(
  'with the data service down',
  (store) => {
    let again: ServiceProcess | undefined
    after(() => again?.stop())

    it('answers 503 with Retry-After, and recovers once it is back', async () => {
      expect((await store.call('/products/1')).status).to.equal(200)
      await store.processes.dataService.kill()
      for (const target of ['/products', '/products/paged', '/products/1', '/products/lookup', '/products/export']) {
        const answer = await store.call(target)
        store.problem(answer, { status: 503, code: 'upstream.unavailable' })
        expect(answer.headers['retry-after'], target).to.match(/^[1-9]\d*$/)
      }
      // What the gateway decides by itself it still does.
      store.problem(await store.call('/nope'), { status: 404, code: 'route.not-found' })
      store.problem(await store.call('/products', { method: 'PATCH' }), { status: 405, code: 'method.not-allowed' })

      again = startProcess(STORE, {
        DATABASE_URL: store.databaseUrl,
        REVIEWS_DATABASE_URL: store.database.reviewsUrl,
        DATA_DIR: store.dataDir,
        DATA_SERVICE_ADDRESS: store.stack.dataAddress,
        OWNER_BYPASS_ROLE: 'Admin'
      })
      await listening(again, 'address')
      const end = performance.now() + 20_000
      let answer = await store.call('/products/1')
      while (answer.status !== 200 && performance.now() < end) {
        store.problem(answer, { status: 503, code: 'upstream.unavailable' })
        await sleep(100)
        answer = await store.call('/products/1')
      }
      expect(answer.status).to.equal(200)
      expect(ids(await store.call('/products/paged?pageSize=2'))).to.deep.equal([1, 2])
    })
  },
  { processes: true }
)
