import { expect } from 'chai'
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
})
