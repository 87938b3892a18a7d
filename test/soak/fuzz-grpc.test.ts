import { expect } from 'chai'
import { FuzzedService } from '../faults/fuzzed-service.js'
import { KIND_NAMES } from '../faults/grpc-fuzzer.js'
import { randomNumbers } from '../runner/random.js'
import { FUZZED_SECONDS, SEED } from './lengths.js'
import { peakMemory } from './memory-of.js'

// In each run of the tests: test/faults/grpc-fuzz.test.ts.

const AT_ONCE = 8

describe(`raw frames at the gRPC port for ${FUZZED_SECONDS} seconds (TEST_SEED=${SEED})`, function () {
  // What was sent at last waits behind all that was sent before.
  this.timeout(600_000 + FUZZED_SECONDS * 1000)
  let service: FuzzedService
  before(async () => {
    service = await FuzzedService.start()
  })
  after(() => service?.[Symbol.asyncDispose]())

  it('end no process, and leave no socket or file open', async () => {
    const counts = new Map(KIND_NAMES.map((name) => [name, 0]))
    const random = randomNumbers(SEED)
    let sent = 0
    const end = performance.now() + FUZZED_SECONDS * 1000
    const sending = async (): Promise<void> => {
      while (performance.now() < end) {
        const kind = KIND_NAMES[Math.floor(random() * KIND_NAMES.length)] ?? ''
        counts.set(kind, (counts.get(kind) ?? 0) + 1)
        // Each sequence has a seed of its own, so that one alone can be repeated.
        await service.send(kind, (SEED + sent++) | 0)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, sending))
    process.stdout.write(
      `      ${sent} sequences, peak of the data service ${peakMemory(service.pid)} MiB\n` +
        [...counts].map(([name, count]) => `      ${count} ${name}\n`).join('')
    )
    await service.expectAsBefore()
    expect([...counts.values()].every((count) => count > 0)).to.equal(true)
  })
})
