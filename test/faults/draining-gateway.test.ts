import { expect } from 'chai'
import { startStack } from '../harness/stack.js'
import { request } from '../harness/http.js'
import { freshDatabase } from '../harness/database.js'

const DRAIN_TIME_MS = 1500

describe('a gateway that is told to end', function () {
  this.timeout(60_000)

  it('goes on to accept and serve requests for DRAIN_TIME, while it says that it is not ready', async () => {
    const database = await freshDatabase('sqlite')
    const stack = await startStack({ database, env: { DRAIN_TIME: `${DRAIN_TIME_MS}ms`, SAMPLE_DATA: 'false' } })
    try {
      // Each of these opens a connection of its own.
      const statuses = async (): Promise<readonly number[]> => {
        const paths = ['/health/ready', '/health/live', '/products/paged']
        const answers = await Promise.all(paths.map((path) => request(`${stack.url}${path}`)))
        return answers.map(({ status }) => status)
      }
      expect(await statuses()).to.deep.equal([200, 200, 200])

      const began = performance.now()
      const ended = stack.gateway.stop()
      await stack.gateway.logged(({ msg }) => msg === 'draining')
      expect(await statuses()).to.deep.equal([503, 200, 200])
      await stack.gateway.logged(({ msg }) => msg === 'closing')
      expect(performance.now() - began).to.be.greaterThan(DRAIN_TIME_MS - 50)
      expect(await ended).to.equal(0)
    } finally {
      await stack.stop()
      await database.dispose()
    }
  })
})
