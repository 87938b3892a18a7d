import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import type { HttpContext } from '../../gateway/data/calls.js'
import { type DataClient, grpcDataClient } from '../../gateway/data/data-client.js'
import { ReplicaPool } from '../../gateway/data/replica-pool.js'
import { DomainError } from '../../shared/errors.js'
import { type RunningService, runService } from '../data-service/rpc/running-service.js'
import { listenLocally } from '../harness/local-server.js'

/** A way to the data service that breaks when a test says so, within a message as well as between two. */
async function breakableWay(port: number) {
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      open.add(from)
      from.on('data', (bytes) => void to.write(bytes))
      from.on('error', () => undefined)
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
    }
  })
  const address = `127.0.0.1:${await listenLocally(server)}`
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  return {
    address,
    cut,
    close: () => {
      cut()
      server.close()
    }
  }
}

const TITLES = Array.from({ length: 50 }, (_, id) => `${id} ${'x'.repeat((id * 997) % 9000)}`)

describe('a connection that is cut at random moments', () => {
  let service: RunningService
  let way: Awaited<ReturnType<typeof breakableWay>>
  let pool: ReplicaPool
  let data: DataClient
  beforeEach(async () => {
    service = await runService()
    service.store.rows = TITLES.map((title, id) => ({ id, title, rowVersion: Buffer.alloc(8, id) }))
    service.store.before = () => delay(Math.random() * 5)
    way = await breakableWay(service.port)
    pool = new ReplicaPool({ addresses: [way.address] })
    data = grpcDataClient(pool)
  })
  afterEach(async () => {
    pool.close()
    way.close()
    await service.stop()
  })

  const call = (): HttpContext => ({
    authorization: undefined,
    requestId: 'r',
    traceparent: undefined,
    signal: AbortSignal.timeout(120_000)
  })

  it('costs no caller a wrong or a torn answer, and no caller waits for ever', async () => {
    const outcomes = { answered: 0, failed: 0 }
    let isOver = false
    const read = async (id: number): Promise<void> => {
      const shape = { fields: 'id,title' }
      const isLarge = id % 10 === 0
      const json = isLarge
        ? (await data.list(call(), { resource: 'things', shape, asArray: true })).json
        : (await data.get(call(), { resource: 'things', id: String(id), shape })).record?.json
      const expected = TITLES.map((title, at) => ({ id: at, title }))
      expect(JSON.parse(json?.toString() ?? ''), `row ${id}`).to.deep.equal(isLarge ? expected : expected[id])
    }
    const worker = async (number: number): Promise<void> => {
      for (let n = number; !isOver; n += 7) {
        await read(n % TITLES.length).then(
          () => (outcomes.answered += 1),
          async (error: unknown) => {
            if (!(error instanceof DomainError)) throw error
            expect(error.code).to.equal('upstream.unavailable')
            outcomes.failed += 1
            // While there is no connection, calls fail at once, and a loop without a pause would keep it from coming back.
            await delay(5)
          }
        )
      }
    }
    const workers = Array.from({ length: 20 }, (_, number) => worker(number))
    for (let cuts = 0; cuts < 8 || outcomes.answered < 200; cuts++) {
      const { answered } = outcomes
      await delay(50 + Math.random() * 250)
      // On a slow machine the connection comes back later than that.
      while (outcomes.answered === answered) await delay(20)
      way.cut()
    }
    await delay(300)
    isOver = true
    await Promise.all(workers)
    while (!data.isReachable()) await delay(20)
    await read(0)
    await read(1)
  })
})
