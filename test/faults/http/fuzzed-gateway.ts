import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { storeDatabase } from '../../harness/store-database.js'
import { request } from '../../harness/http.js'
import type { LogEntry } from '../../stack/server-log.js'
import { type Stack, startProcesses } from '../../harness/stack.js'
import type { ServiceProcess } from '../../stack/service-process.js'
import { descriptors, type Fuzz, holdsNoMore, type Random } from '../fuzz.js'
import { sequence } from './requests.js'
import { closeLocally, listenLocally } from '../../harness/local-server.js'

/** Sequences that are sent at the same time. */
export const AT_ONCE = 40

/** The gateway as `npm start` sets it up, a simple renderer behind it, and a client that speaks raw TCP. */
export class FuzzedGateway {
  readonly #stack: Stack<ServiceProcess>
  readonly #dispose: () => Promise<void>
  readonly port: number
  /** Targets that the renderer was asked for and that no client should have got through to it. */
  readonly smuggled: string[]
  #before = new Map<number, ReadonlyMap<string, number>>()

  private constructor(stack: Stack<ServiceProcess>, smuggled: string[], dispose: () => Promise<void>) {
    this.#stack = stack
    this.#dispose = dispose
    this.smuggled = smuggled
    this.port = Number(new URL(stack.url).port)
  }

  static async start(): Promise<FuzzedGateway> {
    const database = await storeDatabase('sqlite', 'fixture')
    const dataDir = await mkdtemp(join(tmpdir(), 'data-'))
    const smuggled: string[] = []
    const renderer = await startRenderer(smuggled)
    const stack = await startProcesses({
      database,
      env: {
        DATA_DIR: dataDir,
        SAMPLE_DATA: 'false',
        // A flood makes the gateway late.
        MAX_EVENT_LOOP_DELAY: '0s',
        DATA_PROTECTION_BLOB_STORAGE_URI: pathToFileURL(join(dataDir, 'key-ring.json')).href,
        RENDERER_URL: renderer.url
      }
    })
    return new FuzzedGateway(stack, smuggled, async () => {
      await stack.stop()
      await renderer.close()
      await database.dispose()
      await rm(dataDir, { recursive: true, force: true })
    })
  }

  /** Everything is used once, so that what is opened once for all is not taken for a leak. */
  async warmUp(): Promise<void> {
    for (const path of ['/products/paged', '/products/export', '/cart', '/openapi.json', '/auth/antiforgery']) {
      // The data service's pools are full then. A document is megabytes, and opens nothing for each request.
      const count = path === '/openapi.json' ? 4 : 40
      await Promise.all(Array.from({ length: count }, () => request(this.#stack.url + path)))
    }
    for (const { pid } of this.#processes) this.#before.set(pid, descriptors(pid))
  }

  get #processes(): readonly { readonly pid: number; readonly forget: () => readonly LogEntry[] }[] {
    return [this.#stack.gateway, this.#stack.dataService]
  }

  /** Throws unless both processes still run and serve, and nothing that they logged was unforeseen. */
  async mustServe(): Promise<void> {
    for (const path of ['/products/1', '/cart']) {
      const { status } = await request(this.#stack.url + path)
      if (status !== 200) throw new Error(`${path} is answered ${status}`)
    }
    for (const service of this.#processes) {
      const bad = service.forget().filter(({ level, msg, text: raw }) => raw !== undefined || isBad(level, msg))
      if (bad.length > 0) throw new Error(`Logged: ${JSON.stringify(bad.slice(0, 5), undefined, 1)}`)
    }
  }

  async mustHoldNoMore(): Promise<void> {
    for (const [pid, before] of this.#before) await holdsNoMore(pid, before)
  }

  /** Resident memory of the gateway in MiB. */
  async memory(): Promise<number> {
    const status = await readFile(`/proc/${this.#stack.gateway.pid}/status`, 'utf8')
    return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024)
  }

  async dial(): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port: this.port, allowHalfOpen: true })
    socket.on('error', () => {})
    await once(socket, 'connect').catch(() => undefined)
    return socket
  }

  /** What is answered to these bytes until the gateway closes the connection, or has said nothing for a while. */
  async answer(bytes: string): Promise<string> {
    const socket = await this.dial()
    let answer = ''
    socket.on('data', (piece: Buffer) => (answer += piece.toString('latin1')))
    const ended = new Promise((resolve) => socket.once('end', resolve).once('close', resolve))
    socket.write(Buffer.from(bytes, 'latin1'))
    for (let length = -1; answer === '' || answer.length > length;) {
      length = answer.length
      if ((await Promise.race([ended, delay(150, 'silent')])) !== 'silent') break
    }
    socket.destroy()
    return answer
  }

  /** Sends the bytes in pieces, and ends the connection in one of many ways. Answers which. */
  async send(bytes: Buffer, random: Random): Promise<string> {
    const socket = await this.dial()
    if (random.percent(10)) socket.pause()
    else socket.resume()
    const pieces = random.percent(60) ? 1 : 1 + random.below(5)
    for (let n = 0, from = 0; n < pieces; n++) {
      const to = n === pieces - 1 ? bytes.length : Math.min(bytes.length, from + random.below(bytes.length + 1))
      socket.write(bytes.subarray(from, to))
      from = to
      if (pieces > 1) await delay(random.below(4))
    }
    const ending = random.pick(ENDINGS)
    if (ending !== 'reset at once') await delay(random.below(40))
    if (ending === 'half-closed') {
      socket.end()
      await delay(random.below(40))
    }
    if (ending === 'closed') socket.destroy()
    else socket.resetAndDestroy()
    return ending
  }

  /** Sends random sequences at the same time, the first of them number `from`. Throws, and names them, if the gateway suffers. */
  async sequences(fuzz: Fuzz, from: number): Promise<void> {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async (_, n) => {
        const random = fuzz.random(from + n)
        fuzz.count(await this.send(sequence(random), random))
      })
    )
    await this.mustServe().catch((error: unknown) => {
      const which = `Sequences ${from} to ${from + AT_ONCE - 1} of seed ${fuzz.seed}`
      throw new Error(`${which}: ${String(error)}`, { cause: error })
    })
  }

  stop(): Promise<void> {
    return this.#dispose()
  }
}

const ENDINGS = ['reset at once', 'reset', 'half-closed', 'closed'] as const

function isBad(level: unknown, msg: unknown): boolean {
  return level === 'error' || level === 'fatal' || msg === 'unforeseen failure'
}

async function startRenderer(smuggled: string[]): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((incoming, response) => {
    const { url = '' } = incoming
    if (url.includes('smuggled')) smuggled.push(url)
    incoming.on('error', () => {}).resume()
    if (url === '/broken') incoming.socket.destroy()
    else if (url === '/large') response.end(Buffer.alloc(600_000, 'x'))
    else if (url === '/slow') setTimeout(() => response.end('slow'), 60)
    else incoming.on('end', () => response.setHeader('content-type', 'text/html').end('<p>page</p>'))
  })
  const port = await listenLocally(server)
  return { url: `http://127.0.0.1:${port}`, close: () => closeLocally(server) }
}
