import { expect } from 'chai'
import { declareRaces, product } from '../api/writes/races.js'
import { etagOf, rowIn } from '../api/writes/send.js'
import { count } from '../api/writes/stored.js'
import { describeWriters, together, type Writers } from '../api/writes/writers.js'
import { ROUNDS, SECONDS } from './lengths.js'

// In each run of the tests: test/api/writes/races.test.ts.

const COUNTING_MS = SECONDS * 1000
/** Of each client, however short the time. */
const FEWEST_INCREMENTS = 5

describeWriters(
  `writes at the same time, ${ROUNDS} rounds,`,
  (writers) => {
    declareRaces(writers, ROUNDS)

    it('a counter of 8 clients holds every acknowledged increment', async function () {
      this.timeout(60_000 + COUNTING_MS)
      const body = { ...product('COUNTER'), weightGrams: 0 }
      const before = await count(writers, "ur_audit_entries WHERE action = 'update'")
      const path = `/products/${String(rowIn(await writers.send(0, 'clerk POST /products', { body }))['id'])}`
      const end = performance.now() + COUNTING_MS
      const counted = await together(8, async (n) => {
        let acknowledged = 0
        let lost = 0
        while (acknowledged < FEWEST_INCREMENTS || performance.now() < end) {
          if (await increment(writers, n + acknowledged, path)) acknowledged++
          else lost++
        }
        return { acknowledged, lost }
      })
      const acknowledged = counted.reduce((sum, one) => sum + one.acknowledged, 0)
      const lost = counted.reduce((sum, one) => sum + one.lost, 0)
      expect(rowIn(await writers.read(0, path))['weightGrams']).to.equal(acknowledged)
      expect(await count(writers, "ur_audit_entries WHERE action = 'update'")).to.equal(before + acknowledged)
      expect(lost, 'races lost: without any the clients took turns').to.be.above(0)
      process.stdout.write(`      ${acknowledged} increments, ${lost} races lost\n`)
    })
  },
  { processes: true }
)

/** Reads, adds one, writes if nobody else did meanwhile. */
async function increment(writers: Writers, n: number, path: string): Promise<boolean> {
  const read = await writers.read(n, path)
  const { displayName: _computed, weightGrams, ...row } = rowIn(read)
  const put = await writers.send(n + 1, `clerk PUT ${path}`, {
    body: { ...row, weightGrams: Number(weightGrams) + 1 },
    ifMatch: etagOf(read)
  })
  if (put.status === 200) return true
  writers.problem(put, { status: 412, code: 'conflict' })
  return false
}
