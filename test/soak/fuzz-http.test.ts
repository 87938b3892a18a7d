import { Fuzz } from '../faults/fuzz.js'
import { AT_ONCE, FuzzedGateway } from '../faults/http/fuzzed-gateway.js'
import { FUZZED_SECONDS, SEED } from './lengths.js'

// In each run of the tests: test/faults/http/http-fuzz.test.ts.

describe(`a gateway under raw TCP for ${FUZZED_SECONDS} seconds (TEST_SEED=${SEED})`, function () {
  this.timeout(120_000 + FUZZED_SECONDS * 1000)
  let gateway: FuzzedGateway
  before(async () => {
    gateway = await FuzzedGateway.start()
    await gateway.warmUp()
  })
  after(() => gateway?.stop())

  it('outlives random sequences, and then holds no socket and no file of clients that have gone', async () => {
    const fuzz = new Fuzz(SEED)
    const memory = await gateway.memory()
    const end = performance.now() + FUZZED_SECONDS * 1000
    for (let from = 0; performance.now() < end; from += AT_ONCE) await gateway.sequences(fuzz, from)
    process.stdout.write(`      ${fuzz.counts}; gateway from ${memory} to ${await gateway.memory()} MiB\n`)
    await gateway.mustHoldNoMore()
  })
})
