import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { DomainError } from '../../../shared/errors.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

describe('requests of one address', () => {
  let gateway: GatewayFixture
  let begun = 0
  let time = 0
  beforeEach(async () => {
    time = 0
    gateway = await startGateway({}, undefined, { load: { clock: () => time } })
    const answer = (): never => {
      begun += 1
      throw new DomainError('not-found', 'No such row.')
    }
    Object.assign(gateway.data, { answerGet: answer, answerExport: answer })
  })
  afterEach(() => gateway.close())

  /** The most of forty requests that begin in a turn. */
  const mostInATurn = async (path = '/products/1'): Promise<number> => {
    begun = 0
    let most = 0
    const asked = Array.from({ length: 40 }, () => gateway.app.inject(path))
    while (begun < 40) {
      const before = begun
      await turn()
      most = Math.max(most, begun - before)
    }
    await Promise.all(asked)
    return most
  }

  it('begin eight in a turn of the event loop', async () => {
    expect(await mostInATurn()).to.equal(8)
  })

  it('begin one in a turn where they are exports, which may go away in hundreds', async () => {
    expect(await mostInATurn('/products/export')).to.equal(1)
  })

  it('begin two in a turn while connections come in', async () => {
    const { app } = gateway
    const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
    const opened = once(app.server, 'connection')
    const socket = connect(Number(port), '127.0.0.1')
    await opened
    expect(await mostInATurn()).to.equal(2)
    time += 1000
    expect(await mostInATurn()).to.be.at.least(8)
    socket.destroy()
  })
})
