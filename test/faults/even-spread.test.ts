import { Agent } from 'node:http'
import { expect } from 'chai'
import { call } from '../api/http-call.js'
import type { FreshDatabase } from '../harness/database.js'
import { isSoak } from '../harness/in-soak.js'
import { type Mesh, startMesh } from '../harness/mesh.js'
import { storeDatabase } from '../harness/store-database.js'

const CONNECTIONS = 32
/** In all. */
const REQUESTS = 320
/** For a round that is even. One takes a second or two. */
const MAX_WAIT_MS = 90_000

// `npm run soak` has one gateway too.
for (const gateways of isSoak ? [1, 2] : [2]) {
  describe(`two data services behind ${gateways === 1 ? 'one gateway' : 'two gateways'}`, () => {
    let database: FreshDatabase
    let mesh: Mesh
    before(async () => {
      database = await storeDatabase('mysql', 'fixture')
      mesh = await startMesh({ database, gateways, services: 2 })
    })
    after(async () => {
      await mesh?.[Symbol.asyncDispose]()
      await database?.dispose()
    })

    /** The share of each data service in what the gateways sent while clients read by id: all of these calls are as long. */
    async function shares(): Promise<number[]> {
      const before = mesh.services.map(({ way }) => way.sent)
      const client = async (number: number): Promise<void> => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        for (let n = 0; n < REQUESTS / CONNECTIONS; n++) {
          const id = 1 + ((number + n) % 9)
          const answer = await call(mesh.urls[number % gateways] ?? '', `/products/${id}`, { agent })
          expect(answer.status, answer.text).to.equal(200)
        }
        agent.destroy()
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, (_, number) => client(number)))
      const sent = mesh.services.map(({ way }, at) => way.sent - (before[at] ?? 0))
      const all = sent.reduce((sum, one) => sum + one, 0)
      // Fewer bytes than calls would be a count of something else.
      expect(all).to.be.above(REQUESTS * 20)
      return sent.map((one) => one / all)
    }

    /**
     * Resolves after a round in which both got about as many. One that is slow for a moment, such as while it opens its
     * connections to the database, gets fewer, and rightly: that round is no answer.
     */
    async function expectEven(when: string): Promise<void> {
      const rounds: number[][] = []
      const end = performance.now() + MAX_WAIT_MS
      while (performance.now() < end) {
        const round = await shares()
        if (round.every((share) => share > 0.35 && share < 0.65)) return
        rounds.push(round)
      }
      expect.fail(`no round was even ${when}: ${JSON.stringify(rounds)}`)
    }

    it('get as many calls each, before and after one was restarted', async () => {
      await expectEven('before the restart')
      await mesh.services[0]?.restart()
      await mesh.connected()
      await expectEven('after the restart')
    })
  })
}
