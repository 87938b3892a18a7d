import { FLOODS, FuzzedGateway, numbers } from '../faults/http2-fuzz.js'

const SECONDS = Number(process.env['SOAK_SECONDS'] ?? 1)

describe('raw frames of HTTP/2 for a long time', function () {
  this.timeout((SECONDS + 120) * 1000)

  it(`end no process within ${SECONDS} s`, async () => {
    const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 2 ** 31)
    const random = numbers(seed)
    await using gateway = await FuzzedGateway.start()
    const end = performance.now() + SECONDS * 1000
    let [connections, floods] = [0, 0]
    for (; performance.now() < end; connections += 100, floods += 1) {
      await gateway.sequences(random, 100)
      const flood = FLOODS[floods % FLOODS.length]
      if (flood === undefined) continue
      const socket = await gateway.connect(flood)
      await gateway.flood(socket, flood.pieces, flood.most)
      socket.destroy()
    }
    process.stdout.write(`      ${connections} connections, ${floods} floods, seed ${seed}\n`)
    await gateway.expectAsBefore()
  })
})
