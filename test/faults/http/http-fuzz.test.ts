import { expect } from 'chai'
import { isSoak } from '../../harness/in-soak.js'
import { Fuzz } from '../fuzz.js'
import { AT_ONCE, FuzzedGateway } from './fuzzed-gateway.js'
import { ODD_FRAMING, REQUESTS } from './requests.js'

/** Random sequences, the same in each run. test/soak/fuzz-http.test.ts goes on with others for minutes. */
const SEQUENCES = isSoak ? 120 : 40
/** Bytes between two cuts of a request, of the next request others. */
const STEP = isSoak ? 1 : 11
/** Resets of each kind, at once. */
const RESETS = isSoak ? 50 : 10
const SEED = 1
const SLOW = 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'

describe('a gateway under raw TCP', () => {
  let gateway: FuzzedGateway
  const fuzz = new Fuzz(SEED)
  before(async () => {
    gateway = await FuzzedGateway.start()
    await gateway.warmUp()
  })
  after(() => gateway.stop())

  it('outlives CONNECT and upgrades followed by a reset', async () => {
    for (const head of ['CONNECT x:1 HTTP/1.1', 'GET /live HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket']) {
      for (let count = 0; count < RESETS; count++) {
        const socket = await gateway.dial()
        socket.write(`${head}\r\nHost: x\r\n\r\n`)
        await new Promise((resolve) => setImmediate(resolve))
        socket.resetAndDestroy()
      }
      await gateway.mustServe()
    }
  })

  it('outlives a body that breaks off behind a slow request', async () => {
    for (const end of ['destroy', 'resetAndDestroy', 'end'] as const) {
      for (let count = 0; count < 10; count++) {
        const socket = await gateway.dial()
        socket.write(`${SLOW}POST /x HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 90\r\n\r\nabc`)
        await new Promise((resolve) => setTimeout(resolve, count))
        socket[end]()
        socket.once('end', () => socket.destroy()).resume()
      }
      await gateway.mustServe()
    }
  })

  it('outlives requests that are cut off in the middle', async () => {
    const cuts = REQUESTS.flatMap((request, which) =>
      Array.from(request, (_, at) => request.slice(0, at + 1)).filter((_, at) => (at + which) % STEP === 0)
    )
    for (let from = 0; from < cuts.length; from += AT_ONCE) {
      const some = cuts.slice(from, from + AT_ONCE)
      await Promise.all(
        some.map(async (cut, n) => {
          fuzz.count(`cut, ${await gateway.send(Buffer.from(cut, 'latin1'), fuzz.random(from + n))}`)
        })
      )
    }
    await gateway.mustServe()
  })

  for (const [why, bytes] of ODD_FRAMING) {
    it(`takes nothing for a second request: ${why.slice(0, 60)}`, async () => {
      const answer = await gateway.answer(bytes)
      const statuses = Array.from(answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm), ([, status = '']) => Number(status))
      expect(statuses.length, answer).to.be.above(0)
      for (const status of statuses) expect(status, answer).to.be.oneOf([100, 200, 400, 403, 404, 413, 415, 431])
      expect(gateway.smuggled).to.deep.equal([])
    })
  }

  it('outlives random sequences', async () => {
    for (let from = 0; from < SEQUENCES; from += AT_ONCE) await gateway.sequences(fuzz, from)
  })

  it('holds no socket and no file of clients that have gone', () => gateway.mustHoldNoMore())
})
