import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type ClientDuplexStream, credentials, Metadata } from '@grpc/grpc-js'
import { expect } from 'chai'
import type { ProtoGrpcType } from '../../shared/gen/entity_service.js'
import { CALL_STREAM } from '../../shared/transport/call-stream.js'
import { loadProto } from '../../shared/transport/wire.js'
import { insertManyProducts } from '../api/fixture.js'
import { Authority } from '../harness/certificates.js'
import { encodeRequest } from '../harness/call-stream-messages.js'
import { eachDatabase, type FreshDatabase } from '../harness/database.js'
import { overHttp1 } from '../harness/https.js'
import { type Stack, startProcesses } from '../harness/stack.js'
import { storeDatabase } from '../harness/store-database.js'
import { withTestDatabase } from '../oracle/test-database.js'
import type { ServiceProcess } from '../stack/service-process.js'
import { SECONDS } from './lengths.js'
import { peakOwnMemory } from './memory-of.js'
import type { OneClient } from './one-client-load.js'

// In each run of the tests: test/data-service/operations/fair-shares.test.ts, test/data-service/rpc/unread-answers.test.ts and
// test/gateway/server/unsent-answers.test.ts. Only whole processes show memory and the time of others.

/** What a container of 256 MiB leaves for values and Buffers: shared/memory-guard.ts. */
const HEAP_MIB = 192
const LIMIT_MIB = 256
/** Milliseconds that another client waits at most, for a row and for a log-in. */
const READ_MS = 1000
const LOGIN_MS = 2000
const ROWS = 100_000

const LISTS = '/products?includeChildren=true&includeFKs=true'
const CONDITIONS = Array.from(
  { length: 50 },
  (_, n) => `filters[description].operator=notContains&filters[description].value=z${n}`
)
const CART = { currency: 'EUR', items: Array.from({ length: 55 }, (_, n) => ({ productId: n + 1, quantity: 1 })) }
const carts = (count: number): string => JSON.stringify(Array.from({ length: count }, () => CART))

// What proto-loader made of the file that the types were generated from.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
const { EntityService } = entity.v1
/** Bytes of calls that a peer over gRPC sends without taking an answer. */
const UNREAD_BYTES = 2 ** 20
/** Streams of its own that it sends them on. */
const UNREAD_STREAMS = 8

/** The statuses are 200, 201 and 503 where nothing else is said. */
type Load = Partial<OneClient> & {
  readonly title: string
  readonly account?: string
  readonly statuses?: readonly number[]
}
const LOADS: readonly Load[] = [
  { title: '60 connections that ask for lists with all they refer to', path: LISTS, connections: 60 },
  { title: '300 connections that ask for such lists', path: LISTS, connections: 300 },
  { title: '300 connections that do not read such lists', path: LISTS, connections: 300, reads: false },
  { title: '3 connections of HTTP/2 that do not read', path: LISTS, connections: 3, protocol: 'h2', reads: false },
  { title: '8 connections that look for 50 texts in 100,000 rows', path: `/products/paged?${CONDITIONS.join('&')}` },
  {
    title: '4 connections that create carts, 35 with 55 items each at a time',
    path: '/shopping-carts/batch',
    connections: 4,
    method: 'POST',
    account: 'ben@example.com',
    body: carts(35)
  },
  {
    title: '4 connections that would create 500 carts with 55 items each at a time',
    path: '/shopping-carts/batch',
    connections: 4,
    method: 'POST',
    account: 'ben@example.com',
    body: carts(500),
    statuses: [400, 413, 503]
  }
]

eachDatabase((kind) => {
  describe(`one client of processes with ${LIMIT_MIB} MiB on ${kind}`, function () {
    this.timeout(600_000 + SECONDS * 3000)
    let database: FreshDatabase
    let authority: Authority
    let stack: Stack<ServiceProcess>
    before(async () => {
      authority = await Authority.create()
      database = await storeDatabase(kind, 'sample')
      await insertManyProducts(database.url, ROWS, 100)
      await withTestDatabase(database.url, ({ run }) =>
        run(`UPDATE products SET is_active = 1 WHERE id <= ${CART.items.length}`)
      )
    })
    afterEach(() => stack.stop())
    after(async () => {
      await database.dispose()
      await authority[Symbol.asyncDispose]()
    })

    /** Answers the longest time of each kind that another client waited while the load went on. */
    const bystand = async (until: () => boolean): Promise<{ read: number; login: number }> => {
      const headers = { 'x-forwarded-for': '10.9.9.9', 'content-type': 'application/json' }
      const body = JSON.stringify({ email: 'ada@example.com', password: 'demo-password' })
      const longest = { read: 0, login: 0 }
      const timed = async (what: 'read' | 'login'): Promise<void> => {
        const start = performance.now()
        const { status, body: text } =
          what === 'read'
            ? await overHttp1(stack.url, authority.cert, { path: '/products/1', headers })
            : await overHttp1(stack.url, authority.cert, { path: '/auth/login', method: 'POST', headers, body })
        longest[what] = Math.max(longest[what], performance.now() - start)
        expect(status, `${what}: ${text}`).to.equal(200)
      }
      for (let n = 0; !until(); n++) {
        await timed(n % 20 === 0 ? 'login' : 'read')
        await wait(50)
      }
      return longest
    }

    /** What a service that has just begun has not compiled yet takes long, whoever asks. */
    const warmUp = async (): Promise<void> => {
      const headers = { 'x-forwarded-for': '10.9.9.8' }
      for (let n = 0; n < 150; n++) {
        await overHttp1(stack.url, authority.cert, { path: n % 15 === 0 ? LISTS : '/products/1', headers })
      }
    }

    for (const { title, account, statuses: allowed = [200, 201, 503], ...load } of LOADS) {
      it(title, async () => {
        stack = await startProcesses({
          database,
          env: {
            TRUSTED_PROXIES: '127.0.0.1',
            NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}`,
            ...(load.protocol === 'h2' ? await encrypted() : {})
          }
        })
        await warmUp()
        const token = account === undefined ? {} : { authorization: `Bearer ${await stack.token(account)}` }
        const workerData: OneClient = {
          url: stack.url,
          ca: authority.cert,
          seconds: SECONDS,
          connections: 8,
          protocol: 'http/1.1',
          reads: true,
          method: 'GET',
          path: LISTS,
          headers: { 'x-forwarded-for': '10.1.1.1', 'content-type': 'application/json', ...token },
          body: '',
          ...load
        }
        const client = new Worker(new URL('./one-client-load.js', import.meta.url), { workerData })
        let isOver = false
        const ended = once(client, 'message').then((posted) => {
          isOver = true
          const [statuses] = posted as [ReadonlyMap<number, number>] // of one-client-load.ts
          return [...statuses]
        })
        const longest = await bystand(() => isOver)
        const statuses = await ended
        const [first, second] = [peakOwnMemory(stack.gateway.pid), peakOwnMemory(stack.dataService.pid)]
        process.stdout.write(
          `      ${title}: ${JSON.stringify(statuses)}; peaks ${first} and ${second} MiB; ` +
            `others waited ${longest.read.toFixed(0)} ms, for a log-in ${longest.login.toFixed(0)} ms\n`
        )
        // 0: given up by the client, as what scans many rows is when the load ends.
        expect(statuses.map(([status]) => status).filter((one) => ![0, ...allowed].includes(one))).to.deep.equal([])
        expect(longest.read, 'milliseconds of a row').to.be.below(READ_MS)
        expect(longest.login, 'milliseconds of a log-in').to.be.below(LOGIN_MS)
        expect(Math.max(first ?? 0, second ?? 0), 'MiB').to.be.below(LIMIT_MIB)
      })
    }

    it(`a peer over gRPC that sends 1 MiB of calls on each of ${UNREAD_STREAMS} streams and takes no answer`, async () => {
      stack = await startProcesses({
        database,
        env: { TRUSTED_PROXIES: '127.0.0.1', NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` }
      })
      await warmUp()
      const client = new EntityService(stack.dataAddress, credentials.createInsecure())
      const request = EntityService.service.Get.requestSerialize({
        resource: 'products',
        id: '1',
        shape: { includeChildren: 'true' }
      })
      let bytes = 0
      const send = (stream: ClientDuplexStream<Buffer, Buffer>): void => {
        for (let id = 1, sent = 0; sent < UNREAD_BYTES; id++) {
          const call = { id, method: EntityService.service.Get.path, timeoutMs: 60_000, request }
          const frame = encodeRequest({ call })
          stream.write(frame)
          sent += frame.length
          bytes += frame.length
        }
      }
      const streams = Array.from({ length: UNREAD_STREAMS }, () => {
        const { path, requestSerialize, responseDeserialize } = CALL_STREAM
        const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, new Metadata())
        stream.on('error', () => undefined).pause()
        send(stream)
        return stream
      })
      const end = performance.now() + SECONDS * 1000
      const longest = await bystand(() => performance.now() > end)
      const peak = peakOwnMemory(stack.dataService.pid)
      process.stdout.write(
        `      gRPC that is not read: ${bytes} bytes of calls; peak ${peak} MiB; ` +
          `others waited ${longest.read.toFixed(0)} ms, for a log-in ${longest.login.toFixed(0)} ms\n`
      )
      for (const stream of streams) stream.cancel()
      client.close()
      expect(longest.read, 'milliseconds of a row').to.be.below(READ_MS)
      expect(longest.login, 'milliseconds of a log-in').to.be.below(LOGIN_MS)
      expect(peak, 'MiB').to.be.below(LIMIT_MIB)
    })

    const encrypted = async (): Promise<Readonly<Record<string, string>>> => {
      const { certFile, keyFile } = await authority.issueTo('http')
      return { HTTP_TLS_CERT_FILE: certFile, HTTP_TLS_KEY_FILE: keyFile }
    }
  })
})
