import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { ApiStore } from '../api/api-store.js'
import { call } from '../api/http-call.js'
import { eachDatabase } from '../harness/database.js'
import { SECONDS } from './lengths.js'
import type { WrongLogins } from './wrong-logins.js'

// In each run of the tests: test/api/auth/login-flood.test.ts and test/data-service/auth/login-throttle.test.ts.

const PER_SECOND = 500
/** A bystander's median stays within three times of what it was. */
const MAX_SLOWDOWN = 3

const FLOODS = [
  { name: 'one address', everNewAddresses: false },
  { name: 'ever new addresses', everNewAddresses: true }
] as const

eachDatabase((kind) => {
  describe(`a flood of ${PER_SECOND} wrong logins a second on ${kind}`, function () {
    this.timeout(120_000 + SECONDS * 10_000)
    const store = new ApiStore(kind)
    before(() => store.start({ processes: true, env: () => ({ TRUSTED_PROXIES: '127.0.0.1', SAMPLE_DATA: 'false' }) }))
    after(() => store.stop())

    /** Milliseconds of each answer, until the signal and at least twenty. */
    const bystander = async (until: () => boolean): Promise<number[]> => {
      const times: number[] = []
      while (!until() || times.length < 20) {
        const start = performance.now()
        const answer = await call(store.url, '/products/1')
        times.push(performance.now() - start)
        expect(answer.status, answer.text).to.equal(200)
        await wait(2)
      }
      return times
    }

    for (const { name, everNewAddresses } of FLOODS) {
      it(`from ${name} leaves reads answered`, async () => {
        const calmEnd = performance.now() + Math.min(SECONDS, 10) * 1000
        const before = await bystander(() => performance.now() > calmEnd)
        const workerData: WrongLogins = { url: store.url, perSecond: PER_SECOND, seconds: SECONDS, everNewAddresses }
        const flood = new Worker(new URL('./wrong-logins.js', import.meta.url), { workerData })
        const flooded: Promise<[ReadonlyMap<number, number>]> = once(flood, 'message') as never // what the worker posts
        const end = performance.now() + SECONDS * 1000
        const during = await bystander(() => performance.now() > end)
        const [statuses] = await flooded
        expect([...statuses.keys()].filter((status) => ![401, 429].includes(status))).to.deep.equal([])
        // Ever new addresses are rejected by nothing but a full queue.
        if (!everNewAddresses) expect(statuses.get(429)).to.be.greaterThan(0)
        const [calm, slower] = [median(before), median(during)]
        const figures = `${calm.toFixed(1)} ms before, ${slower.toFixed(1)} ms during, ${JSON.stringify([...statuses])}`
        process.stdout.write(`      from ${name}: ${figures}\n`)
        expect(slower, figures).to.be.lessThan(MAX_SLOWDOWN * calm)
      })
    }
  })
})

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}
