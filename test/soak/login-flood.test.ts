import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { ApiStore } from '../api/api-store.js'
import { call } from '../api/http-call.js'
import { eachDatabase } from '../harness/database.js'

/** `npm run soak` sets a minute; a run of all tests makes do with two seconds, and judges no times. */
const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 2)
const JUDGES_TIMES = process.env['SOAK_SECONDS'] !== undefined
const PER_SECOND = Number(process.env['SOAK_LOGINS'] ?? (JUDGES_TIMES ? 500 : 100))
/** Contract of the issue: a bystander's median stays within three times of what it was. */
const MOST_SLOWER = 3
const TICK_MS = 20
/** Log-ins beyond these wait in the flood's own process. */
const CONNECTIONS = 400

const FLOODS: readonly (readonly [name: string, client: (n: number) => string])[] = [
  ['one address', () => '198.51.100.1'],
  ['ever new addresses', (n) => `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`]
]

eachDatabase((kind) => {
  describe(`a flood of ${PER_SECOND} wrong log-ins a second on ${kind}`, function () {
    this.timeout(120_000 + SECONDS * 10_000)
    const store = new ApiStore(kind)
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
    before(() => store.start({ env: () => ({ TRUSTED_PROXIES: '127.0.0.1', SAMPLE_DATA: 'false' }) }))
    after(async () => {
      agent.destroy()
      await store.stop()
    })

    const login = (client: string, body: string): Promise<number> =>
      new Promise((resolve, reject) => {
        const headers = { 'content-type': 'application/json', 'x-forwarded-for': client }
        const outgoing = request(`${store.url}/auth/login`, { method: 'POST', headers, agent }, (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
        })
        outgoing.on('error', reject).end(body)
      })

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

    for (const [name, client] of FLOODS) {
      it(`from ${name} leaves reads answered`, async () => {
        const calmEnd = performance.now() + Math.min(SECONDS, 10) * 1000
        const before = await bystander(() => performance.now() > calmEnd)
        const statuses = new Map<number, number>()
        const end = performance.now() + SECONDS * 1000
        const sent: Promise<void>[] = []
        const flooding = (async () => {
          const begun = performance.now()
          for (let n = 0; performance.now() < end; await wait(TICK_MS)) {
            for (; n < ((performance.now() - begun) / 1000) * PER_SECOND; n++) {
              const body = JSON.stringify({ email: `x${n % 5000}@example.com`, password: 'wrong' })
              sent.push(
                login(client(n), body).then((status) => void statuses.set(status, (statuses.get(status) ?? 0) + 1))
              )
            }
          }
        })()
        const during = await bystander(() => performance.now() > end)
        await flooding
        await Promise.all(sent)
        expect([...statuses.keys()].filter((status) => ![401, 429].includes(status))).to.deep.equal([])
        expect(statuses.get(429)).to.be.greaterThan(0)
        const [calm, flooded] = [median(before), median(during)]
        const figures = `${calm.toFixed(1)} ms before, ${flooded.toFixed(1)} ms during, ${JSON.stringify([...statuses])}`
        if (JUDGES_TIMES) {
          process.stdout.write(`      from ${name}: ${figures}\n`)
          expect(flooded, figures).to.be.lessThan(MOST_SLOWER * calm)
        }
      })
    }
  })
})

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}
