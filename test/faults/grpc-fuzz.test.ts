import { isSoak } from '../harness/in-soak.js'
import { FuzzedService } from './fuzzed-service.js'
import { KIND_NAMES } from './grpc-fuzzer.js'

/** Sequences of each kind, the same in each run. test/soak/fuzz-grpc.test.ts goes on with others for minutes. */
const OF_EACH_KIND = isSoak ? 2 : 1

describe('raw frames at the gRPC port', () => {
  let service: FuzzedService
  before(async () => {
    service = await FuzzedService.start()
  })
  after(() => service?.[Symbol.asyncDispose]())

  for (const kind of KIND_NAMES) {
    it(`do no harm: ${kind}`, async () => {
      await Promise.all(Array.from({ length: OF_EACH_KIND }, (_, seed) => service.send(kind, seed)))
    })
  }

  it('end no process, and leave no socket or file open', () => service.expectAsBefore())
})
