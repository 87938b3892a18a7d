import { once, setMaxListeners } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { ApiStore } from '../api/api-store.js'
import { insertManyProducts } from '../api/fixture.js'
import { eachDatabase } from '../harness/database.js'
import { open, type HttpRequest } from '../harness/http.js'
import { outputRoot } from '../harness/package-root.js'
import type { ServiceProcess } from '../stack/service-process.js'
import { SECONDS } from './lengths.js'
import { openDescriptors, peakMemory } from './memory-of.js'

// In each run of the tests: test/api/export-streaming.test.ts and test/faults/ count descriptors; only a long run shows memory.

const READERS = 500
const EXPORTS = 100
const LOGINS = 100
/** Bytes a second of the readers that do read. */
const PACE = 10_000
/** Milliseconds before a client that was answered asks again. */
const RETURN_MS = 100
const ROWS = 20_000
/** Issue and contract: back within this many times of before. */
const MAX_RATIO = 1.3
/** MiB that a heap may grow by. */
const MAX_HEAP_GROWTH = 60
/** Descriptors that a process may have more: connections of pools, which stay. */
const MORE_DESCRIPTORS = 40
const MIB = 1024 * 1024

interface Memory {
  readonly rss: number
  readonly heapUsed: number
  readonly heapTotal: number
  readonly external: number
  readonly arrayBuffers: number
  readonly descriptors: number
  /** Milliseconds for which the event loop stood still since the last report. */
  readonly standstill: string
}

eachDatabase((kind) => {
  describe(`memory and descriptors after slow readers, exports and logins on ${kind}`, function () {
    this.timeout(300_000 + SECONDS * 3000)
    const store = new ApiStore(kind)

    before(async () => {
      const preload = pathToFileURL(join(outputRoot, 'test/soak/report-memory.js')).href
      await store.start({
        processes: true,
        env: () => ({ TRUSTED_PROXIES: '127.0.0.1', NODE_OPTIONS: `--import=${preload}` })
      })
      await insertManyProducts(store.databaseUrl, ROWS, 1000)
    })
    after(() => store.stop())

    it('come back to what they were', async () => {
      const { gateway, dataService } = store.processes
      const tokens = await Promise.all(
        ['clerk', 'admin', 'ada', 'ben'].map((account) => store.stack.token(`${account}@example.com`))
      )
      // What is made once, pools and compiled code, is no loss.
      await load(store, tokens, { seconds: Math.min(SECONDS, 3), readers: 10, exports: 8, logins: 8 })
      const before = [await memoryOf(gateway), await memoryOf(dataService)] as const
      const { served, longest } = await load(store, tokens, {
        seconds: SECONDS,
        readers: READERS,
        exports: EXPORTS,
        logins: LOGINS
      })
      const after = [
        await settled(gateway, before[0].descriptors + MORE_DESCRIPTORS),
        await settled(dataService, before[1].descriptors + MORE_DESCRIPTORS)
      ] as const
      process.stdout.write(
        `      gateway ${shown(before[0])}, peak ${peakMemory(gateway.pid) ?? '?'}, after ${shown(after[0])}\n` +
          `      data service ${shown(before[1])}, peak ${peakMemory(dataService.pid) ?? '?'}, after ${shown(after[1])}\n` +
          `      bystander: ${served} answers, longest ${longest.toFixed(0)} ms here, ${withinGateway(gateway)} ms in the gateway\n`
      )
      for (const [one, other] of [
        [before[0], after[0]],
        [before[1], after[1]]
      ] as const) {
        expect(other.descriptors - one.descriptors, 'more descriptors').to.be.at.most(MORE_DESCRIPTORS)
        expect((held(other) - held(one)) / MIB, 'MiB more on the heap').to.be.below(MAX_HEAP_GROWTH)
        expect(other.rss / one.rss, 'resident memory, times').to.be.below(MAX_RATIO)
      }
    })
  })
})

interface Load {
  readonly seconds: number
  readonly readers: number
  readonly exports: number
  readonly logins: number
}

/** Everything at once for some seconds. Answers what a bystander saw of it: every answer has to be 200. */
async function load(
  store: ApiStore,
  tokens: readonly string[],
  { seconds, readers, exports, logins }: Load
): Promise<{ served: number; longest: number }> {
  const ending = new AbortController()
  setMaxListeners(0, ending.signal)
  const until = async (work: (n: number) => Promise<unknown>): Promise<void> => {
    // Not a flood of requests, which is not the matter here: who is rejected comes back a little later.
    for (let n = 0; !ending.signal.aborted; n++) {
      await work(n).catch(() => undefined)
      await wait(RETURN_MS)
    }
  }
  const many = (count: number, work: (n: number) => Promise<unknown>): Promise<void>[] =>
    Array.from({ length: count }, (_, index) => until((n) => work(index + n * count)))
  const drained = async (target: string, request: HttpRequest): Promise<void> => {
    const response = await open(`${store.url}${target}`, { ...request, signal: ending.signal })
    await once(response.resume(), 'close')
  }
  const authorization = (n: number): Record<string, string> => {
    const token = tokens[n % (tokens.length + 1)]
    return { 'x-forwarded-for': address(n), ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
  }
  const running = [
    ...many(readers, (n) =>
      readSlowly(store.url, authorization(n), { pace: n % 2 === 0 ? 0 : PACE, ending: ending.signal })
    ),
    ...many(exports, (n) => drained('/products/export', { headers: authorization(n) })),
    ...many(logins, (n) =>
      drained('/auth/login', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address(n) },
        body: JSON.stringify({ email: `nobody${n}@example.com`, password: 'wrong' })
      })
    )
  ]
  let served = 0
  let longest = 0
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) {
    const start = performance.now()
    const { status } = await store.call('/products/1', { alone: true })
    expect(status, 'what a bystander got').to.equal(200)
    longest = Math.max(longest, performance.now() - start)
    served++
    await wait(5)
  }
  ending.abort()
  await Promise.all(running)
  return { served, longest }
}

/** Another client address each time. */
function address(n: number): string {
  return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`
}

/** Asks for an export and reads so many bytes a second of it, 0 for none, until that is whole or the load ends. */
async function readSlowly(
  url: string,
  headers: Readonly<Record<string, string>>,
  { pace, ending }: { readonly pace: number; readonly ending: AbortSignal }
): Promise<void> {
  const { hostname, port } = new URL(url)
  const socket: Socket = connect({ host: hostname, port: Number(port) })
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const closed = once(socket, 'close')
  socket.on('error', () => undefined)
  socket.pause()
  socket.write(`GET /products/export HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.join('')}\r\n`)
  const tick = setInterval(() => {
    if (pace > 0) socket.read(Math.min(pace / 10, socket.readableLength))
  }, 100)
  try {
    await Promise.race([closed, once(ending, 'abort')])
  } finally {
    clearInterval(tick)
    socket.destroy()
  }
}

async function memoryOf(service: ServiceProcess): Promise<Memory> {
  const reports = (): number => service.logs().filter(({ msg }) => msg === 'memory').length
  const before = reports()
  process.kill(service.pid, 'SIGUSR2')
  while (reports() === before) await wait(10)
  const report = service.logs().findLast(({ msg }) => msg === 'memory') ?? {}
  const bytes = (name: string): number => Number(report[name])
  return {
    rss: bytes('rss'),
    heapUsed: bytes('heapUsed'),
    heapTotal: bytes('heapTotal'),
    external: bytes('external'),
    arrayBuffers: bytes('arrayBuffers'),
    descriptors: await openDescriptors(service.pid),
    standstill: ['p50', 'p99', 'max'].map((name) => bytes(name).toFixed(0)).join('/')
  }
}

/** Once what was under way has ended: after the time that a client which reads nothing has, at the latest. */
async function settled(service: ServiceProcess, descriptors: number): Promise<Memory> {
  for (let tries = 0; tries < 120 && (await openDescriptors(service.pid)) > descriptors; tries++) await wait(500)
  // The collector gives pages back when a process has been quiet for a while.
  for (let looks = 0; looks < 4; looks++) {
    await wait(5000)
    await memoryOf(service)
  }
  return memoryOf(service)
}

/** Milliseconds that the longest of the bystander's requests took from its head to the end of its answer. */
function withinGateway(gateway: ServiceProcess): string {
  const times = gateway.logs().flatMap(({ path, durationMs }) => (path === '/products/1' ? [Number(durationMs)] : []))
  return Math.max(0, ...times).toFixed(0)
}

function held({ heapUsed, external }: Memory): number {
  return heapUsed + external
}

function shown({ rss, heapUsed, heapTotal, external, arrayBuffers, descriptors, standstill }: Memory): string {
  const [resident, heap, total, outside, buffers] = [rss, heapUsed, heapTotal, external, arrayBuffers].map((bytes) =>
    Math.round(bytes / MIB)
  )
  return `${resident} MiB (heap ${heap} of ${total}, external ${outside}, buffers ${buffers}, ${descriptors} descriptors, loop ${standstill} ms)`
}
