import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { eachDatabase } from '../harness/database.js'
import { expectOrderPerRow, OutboxService } from '../library/outbox-service.js'
import type { ServiceProcess } from '../stack/service-process.js'
import { ROUNDS } from './lengths.js'

// In each run of the tests: test/library/outbox.test.ts ends a process, and test/data-service/outbox/ has its leases.

/** Rows that are written at the same time. */
const ROWS = 20
const REPLICAS = 3

eachDatabase((kind) => {
  describe(`the outbox with ${REPLICAS} data services that are killed in turn, ${ROUNDS} rounds, on ${kind}`, () => {
    const service = new OutboxService()
    before(async () => {
      await service.startProcesses(kind, {
        OUTBOX_HANDLER_TIMEOUT: '2s',
        OUTBOX_MAX_ATTEMPTS: '1000',
        OUTBOX_POLL_INTERVAL: '20ms'
      })
    })
    after(async () => {
      await service.stop()
    })

    it('delivers every event of a committed write, in the order of its row, and nobody else at the same time', async function () {
      this.timeout(60_000 + ROUNDS * 30_000)
      const replicas: ServiceProcess[] = []
      for (let n = 0; n < REPLICAS; n++) replicas.push(await service.startReplica())
      const rows = []
      for (let n = 0; n < ROWS; n++) rows.push(await service.create('slow'))
      const tags = new Map(rows.map(({ id, etag }) => [id, etag]))
      for (let round = 0; round < ROUNDS; round++) {
        const writing = Promise.all(
          rows.map(async ({ id }) => {
            for (let n = 0; n < 10; n++) tags.set(id, await service.callBack(id, 'slow', tags.get(id) ?? ''))
          })
        )
        await sleep(200)
        await replicas.shift()?.kill()
        await writing
        replicas.push(await service.startReplica())
      }
      await service.settled(60_000 + ROUNDS * 5000)
      const outbox = await service.rows()
      expect(outbox).to.have.length(ROWS * (1 + 10 * ROUNDS))
      expect(outbox.filter((row) => row['delivered_at'] === null)).to.deep.equal([])
      // A killed process ended no line: its deliveries ended with it, and were made again when their lease was over.
      const killed = new Set(service.killed(replicas))
      const lines = service.handled()
      const ended = new Set(lines.filter(({ phase }) => phase === 'end').map(({ id }) => id))
      expect(ended.size).to.equal(outbox.length)
      expectOrderPerRow(lines, outbox, killed)
    })
  })
})
