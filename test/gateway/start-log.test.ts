import { expect } from 'chai'
import { DomainError } from '../../shared/errors.js'
import { listen, startGateway } from './gateway-fixture.js'

describe('the log of the gateway', () => {
  it('is not told a second time by Fastify where it listens', async () => {
    const gateway = await startGateway()
    try {
      await listen(gateway)
      expect(gateway.lines.map(({ msg }) => msg)).to.not.satisfy((all: unknown[]) =>
        all.some((msg) => /listening/i.test(String(msg)))
      )
    } finally {
      await gateway.close()
    }
  })

  it('holds no failure for a probe that is told 503, and a failure for each request that is', async () => {
    const gateway = await startGateway()
    try {
      gateway.data.reachable = false
      gateway.data.answerGet = () => {
        throw new DomainError('upstream.unavailable', 'x')
      }
      for (const path of ['/health', '/health/ready', '/products/1']) {
        expect((await gateway.app.inject(path)).statusCode, path).to.equal(503)
      }
      const told = gateway.lines.filter(({ code, msg }) => code === 'upstream.unavailable' && msg !== 'request')
      expect(told.map(({ level, msg, err }) => [level, msg, err !== undefined])).to.deep.equal([
        ['debug', 'not ready', false],
        ['debug', 'not ready', false],
        ['warn', 'data service failure', true]
      ])
    } finally {
      await gateway.close()
    }
  })
})
