import { expect } from 'chai'
import { isSoak } from '../harness/in-soak.js'
import { FLOODS, FuzzedGateway, numbers } from './http2-fuzz.js'

/** Random sequences, the same in each run. test/soak/fuzz-http2.test.ts goes on with others for minutes. */
const SEQUENCES = isSoak ? 40 : 16
const SEED = 1
/** Of one connection before it is ended. */
const MAX_RESETS = 200

describe('raw frames of HTTP/2', () => {
  let gateway: FuzzedGateway
  before(async () => {
    gateway = await FuzzedGateway.start()
  })
  after(() => gateway?.[Symbol.asyncDispose]())

  it('of any kind and in any order end no process', async () => {
    await gateway.sequences(numbers(SEED), SEQUENCES)
    await gateway.expectServes()
  })

  for (const { what, pieces, most, ends, reads } of FLOODS) {
    it(`${what} cost a connection and not the gateway`, async () => {
      const socket = await gateway.connect({ reads })
      await gateway.flood(socket, pieces, most)
      if (ends) await gateway.ends(socket)
      socket.destroy()
      await gateway.expectServes()
    })
  }

  it('few of the streams that are reset become requests: those whose reset comes in later bytes', () => {
    expect(gateway.requests('/rapid-reset')).to.be.at.most(MAX_RESETS)
  })

  // Last, since a connection that never sends a whole head is closed after its 15 seconds.
  it('leave no socket, no memory and no error behind', () => gateway.expectAsBefore())
})
