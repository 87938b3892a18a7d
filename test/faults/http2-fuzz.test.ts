import { expect } from 'chai'
import { FLOODS, FuzzedGateway, numbers } from './http2-fuzz.js'

const SEQUENCES = 400
/** Of one connection before it is ended: the gateway takes 200, and the frames that it had read by then. */
const MAX_RESETS = 1000

describe('raw frames of HTTP/2', function () {
  this.timeout(120_000)
  let gateway: FuzzedGateway
  before(async () => {
    gateway = await FuzzedGateway.start()
  })
  after(() => gateway[Symbol.asyncDispose]())

  const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 2 ** 31)
  it(`of any kind and in any order end no process and leave nothing behind (TEST_SEED=${seed})`, async () => {
    await gateway.sequences(numbers(seed), SEQUENCES)
    await gateway.expectAsBefore()
  })

  for (const { what, pieces, most, ends, reads } of FLOODS) {
    it(`${what} cost a connection and nothing else`, async () => {
      const socket = await gateway.connect({ reads })
      await gateway.flood(socket, pieces, most)
      if (ends) expect(await gateway.ends(socket)).to.equal(true)
      socket.destroy()
      await gateway.expectAsBefore()
    })
  }

  it('few of the streams that are reset become requests', () => {
    expect(gateway.requests('/rapid-reset')).to.be.within(1, MAX_RESETS)
  })
})
