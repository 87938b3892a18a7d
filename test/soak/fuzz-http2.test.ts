import { FLOODS, FuzzedGateway, numbers } from '../faults/http2-fuzz.js'
import { FUZZED_SECONDS, SEED } from './lengths.js'

// In each run of the tests: test/faults/http2-fuzz.test.ts.

describe(`raw frames of HTTP/2 for ${FUZZED_SECONDS} seconds (TEST_SEED=${SEED})`, function () {
  this.timeout((FUZZED_SECONDS + 120) * 1000)

  it('end no process and leave nothing behind', async () => {
    const random = numbers(SEED)
    await using gateway = await FuzzedGateway.start()
    const end = performance.now() + FUZZED_SECONDS * 1000
    let [connections, floods] = [0, 0]
    for (; performance.now() < end; connections += 100, floods += 1) {
      await gateway.sequences(random, 100)
      const flood = FLOODS[floods % FLOODS.length]
      if (flood === undefined) continue
      const socket = await gateway.connect(flood)
      await gateway.flood(socket, flood.pieces, flood.most)
      socket.destroy()
    }
    process.stdout.write(`      ${connections} connections, ${floods} floods\n`)
    await gateway.expectAsBefore()
  })
})
