import { expect } from 'chai'
import { join } from 'node:path'
import { outputRoot } from '../harness/package-root.js'
import { call } from '../stack/http-call.js'
import { request } from '../harness/http.js'
import { storeDatabase } from '../harness/store-database.js'
import { inProcesses, inThisProcess, startPair } from '../stack/pair.js'

/** Long enough for four requests on a machine that stops for some seconds. */
const DRAIN_TIME_MS = 8000

describe('a gateway that is told to end', () => {
  it('goes on to accept and serve requests for DRAIN_TIME, while it says that it is not ready', async () => {
    const database = await storeDatabase('sqlite', 'none')
    const app = join(outputRoot, 'examples/store')
    const env = { DATABASE_URL: database.url, REVIEWS_DATABASE_URL: database.reviewsUrl, SAMPLE_DATA: 'false' }
    const stack = await startPair({
      launcher: { dataService: inThisProcess(app).dataService, gateway: inProcesses(app).gateway },
      settings: (dataDir) =>
        Promise.resolve({ ...env, DATA_DIR: dataDir, COOKIE_SECURE: 'false', DRAIN_TIME: `${DRAIN_TIME_MS}ms` })
    })
    try {
      // Each of these opens a connection of its own.
      const statuses = async (): Promise<readonly number[]> => {
        const paths = ['/health/ready', '/health/live', '/products/paged']
        const answers = await Promise.all(paths.map((path) => request(`${stack.url}${path}`)))
        return answers.map(({ status }) => status)
      }
      expect(await statuses()).to.deep.equal([200, 200, 200])

      const kept = await call(stack.url, '/health/live')
      expect(kept.headers.connection).to.equal('keep-alive')

      const began = performance.now()
      const ended = stack.gateway.stop()
      await stack.gateway.logged(({ msg }) => msg === 'draining')
      expect(await statuses()).to.deep.equal([503, 200, 200])
      // A client that keeps its connection would otherwise send a request while the gateway closes it.
      const last = await call(stack.url, '/health/live')
      expect([last.status, last.headers.connection]).to.deep.equal([200, 'close'])
      await stack.gateway.logged(({ msg }) => msg === 'closing')
      expect(performance.now() - began).to.be.greaterThan(DRAIN_TIME_MS - 50)
      expect(await ended).to.equal(0)
    } finally {
      await stack.stop()
      await database.dispose()
    }
  })
})
