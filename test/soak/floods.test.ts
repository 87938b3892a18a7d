import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import type { ProtoGrpcType } from '../../shared/gen/entity_service.js'
import { loadProto } from '../../shared/transport/wire.js'
import { Authority } from '../harness/certificates.js'
import type { FreshDatabase } from '../harness/database.js'
import { overHttp1 } from '../harness/https.js'
import { startProcesses } from '../harness/stack.js'
import { storeDatabase } from '../harness/store-database.js'
import type { Flood } from './flood-load.js'
import { SECONDS } from './lengths.js'
import { peakOwnMemory } from './memory-of.js'

// In each run of the tests: test/gateway/server/open-requests.test.ts and test/data-service/rpc/unfinished-requests.test.ts.
// Only whole processes show memory and the time of others. What is flooded is ahead of the database, so one kind is enough.

const HEAP_MIB = 192
const LIMIT_MIB = 384
/** Milliseconds that another client waits at most for a row, beside a sender that takes a processor. */
const READ_MS = 5000

// What proto-loader made of the file that the types were generated from.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
const message = entity.v1.EntityService.service.Get.requestSerialize({ resource: 'products', id: '1' })

const FLOODS: readonly (Pick<Flood, 'kind' | 'connections' | 'requests'> & { readonly title: string })[] = [
  { title: '250 connections with 1600 pipelined requests each', kind: 'pipelined', connections: 250, requests: 1600 },
  { title: '600 connections of HTTP/2 with 32 requests each', kind: 'h2', connections: 600, requests: 32 },
  { title: '120 connections of gRPC with 100 calls each', kind: 'grpc', connections: 120, requests: 100 }
]

describe('one address that sends thousands of requests at once', function () {
  this.timeout(120_000 + SECONDS * 3000)
  let database: FreshDatabase & { readonly reviewsUrl: string }
  let authority: Authority
  before(async () => {
    authority = await Authority.create()
    database = await storeDatabase('sqlite', 'sample')
  })
  after(async () => {
    await database.dispose()
    await authority[Symbol.asyncDispose]()
  })

  for (const { title, ...flood } of FLOODS) {
    it(`leaves both processes alive, and other clients are served within seconds: ${title}`, async () => {
      const { certFile, keyFile } = await authority.issueTo('http')
      const files = flood.kind === 'h2' ? { HTTP_TLS_CERT_FILE: certFile, HTTP_TLS_KEY_FILE: keyFile } : {}
      const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`, ...files }
      await using stack = await startProcesses({ database, env })
      const address = flood.kind === 'grpc' ? `http://${stack.dataAddress}` : stack.url
      const workerData: Flood = { ...flood, port: Number(new URL(address).port), seconds: SECONDS, message }
      const client = new Worker(new URL('./flood-load.js', import.meta.url), { workerData })
      let isOver = false
      const ended = once(client, 'message').finally(() => (isOver = true))
      let longest = 0
      const statuses = new Map<number, number>()
      while (!isOver) {
        const start = performance.now()
        const { status } = await overHttp1(stack.url, authority.cert, { path: '/products/1' })
        longest = Math.max(longest, performance.now() - start)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        await wait(50)
      }
      const [opened] = (await ended) as [number]
      const peaks = [peakOwnMemory(stack.gateway.pid), peakOwnMemory(stack.dataService.pid)]
      const answers = JSON.stringify([...statuses])
      process.stdout.write(
        `      ${title}: ${opened} opened; peaks ${peaks.join(' and ')} MiB; others ${answers}, at most ${longest.toFixed(0)} ms\n`
      )
      expect((await overHttp1(stack.url, authority.cert, { path: '/products/1' })).status).to.equal(200)
      expect(longest, 'milliseconds of a row').to.be.below(READ_MS)
      expect(Math.max(...peaks.map((peak) => peak ?? 0)), 'MiB').to.be.below(LIMIT_MIB)
    })
  }
})
