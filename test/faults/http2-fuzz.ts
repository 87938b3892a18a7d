import { once } from 'node:events'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTcp, type Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { expect } from 'chai'
import { Authority } from '../harness/certificates.js'
import { storeDatabase } from '../harness/store-database.js'
import { isSoak } from '../harness/in-soak.js'
import { openHttp2, overHttp1, overHttp2 } from '../harness/https.js'
import { type Stack, startProcesses } from '../harness/stack.js'
import type { ServiceProcess } from '../stack/service-process.js'
import { FLAG, frame as rawFrame, headerBlock, PREFACE, TYPE } from './http2-frames.js'

const DATA = TYPE.data
const HEADERS = TYPE.headers
const RST_STREAM = TYPE.reset
const SETTINGS = TYPE.settings
const PING = TYPE.ping
const WINDOW_UPDATE = TYPE.windowUpdate
const CONTINUATION = TYPE.continuation
const END_STREAM = FLAG.endStream
const END_HEADERS = FLAG.endHeaders

/** Megabytes that a process may keep after all, above what it had once it was warm. */
const KEPT = 150

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  return rawFrame({ type, flags, stream, payload })
}

function lines(headers: Readonly<Record<string, string>>): Buffer {
  return headerBlock(Object.entries(headers))
}

function get(stream: number, path: string, flags = END_STREAM | END_HEADERS): Buffer {
  const head = { ':method': 'GET', ':scheme': 'https', ':authority': 'x', ':path': path }
  return frame(HEADERS, flags, stream, lines(head))
}

function setting(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUInt16BE(id)
  bytes.writeUInt32BE(value >>> 0, 2)
  return bytes
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/** Numbers from 0 to below `below`, the same for the same seed (mulberry32). */
export function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * below)
  }
}

const PATHS = ['/products', '/products/1', '/products/export', '/docs', '/nope', '/auth/login', '*', '', '//', '/%zz']

/** Frames of any kind, some in order and some not. */
function anyFrame(random: (below: number) => number): Buffer {
  const stream = random(4) === 0 ? random(2 ** 31) : 1 + 2 * random(20)
  const bytes = Buffer.from(Array.from({ length: random(40) }, () => random(256)))
  switch (random(9)) {
    case 0:
      return get(stream, PATHS[random(PATHS.length)] ?? '/', random(256))
    case 1:
      return frame(DATA, random(256), stream, bytes)
    case 2:
      return frame(RST_STREAM, 0, stream, word(random(14)))
    case 3:
      return frame(SETTINGS, random(2), random(8) === 0 ? stream : 0, setting(random(8), random(2 ** 31) * 2))
    case 4:
      return frame(WINDOW_UPDATE, 0, random(2) * stream, word(random(3) === 0 ? 0 : random(2 ** 31)))
    case 5:
      return frame(PING, random(2), 0, Buffer.alloc(random(2) === 0 ? 8 : random(9)))
    case 6:
      return frame(CONTINUATION, random(256), stream, bytes)
    case 7:
      // The announced length is not that of what follows.
      return frame(random(12), random(256), stream, bytes).subarray(0, 9 + random(bytes.length + 1))
    default:
      return frame(random(256), random(256), stream, bytes)
  }
}

/** A gateway that serves HTTPS before a data service, and what it held once it was warm. */
export class FuzzedGateway implements AsyncDisposable {
  readonly #authority: Authority
  readonly #stack: Stack<ServiceProcess>
  readonly #cleanUp: () => Promise<void>
  readonly #below = new WeakMap<TLSSocket, Socket>()
  #sockets = 0
  #memory = 0

  private constructor(authority: Authority, stack: Stack<ServiceProcess>, cleanUp: () => Promise<void>) {
    this.#authority = authority
    this.#stack = stack
    this.#cleanUp = cleanUp
  }

  static async start(): Promise<FuzzedGateway> {
    const authority = await Authority.create()
    const database = await storeDatabase('sqlite', 'fixture')
    const { certFile, keyFile } = await authority.issueTo('http')
    // A flood makes the gateway late: what others get in that second is a rule of its own (test/gateway/server/admission).
    const env = {
      MAX_EVENT_LOOP_DELAY: '0s',
      HTTP_TLS_CERT_FILE: certFile,
      HTTP_TLS_KEY_FILE: keyFile,
      SAMPLE_DATA: 'false'
    }
    const stack = await startProcesses({ database, env })
    const gateway = new FuzzedGateway(authority, stack, () => database.dispose())
    await gateway.sequences(numbers(1), 50)
    await gateway.expectServes()
    gateway.#sockets = await gateway.#openSockets()
    gateway.#memory = await gateway.#resident()
    return gateway
  }

  /** Requests that it has logged for a path. */
  requests(path: string): number {
    return this.#stack.gateway.logs().filter((entry) => entry['msg'] === 'request' && entry['path'] === path).length
  }

  /** A connection of HTTP/2 whose preface is sent. What it answers is dropped, unless the connection is not read. */
  async connect({ reads = true, settings = true } = {}): Promise<TLSSocket> {
    const { hostname, port } = new URL(this.#stack.url)
    const below = connectTcp({ host: hostname, port: Number(port) })
    below.on('error', () => {})
    const socket = connect({ socket: below, host: hostname, ca: this.#authority.cert, ALPNProtocols: ['h2'] })
    socket.on('error', () => {})
    this.#below.set(socket, below)
    await once(socket, 'secureConnect')
    if (reads) socket.resume()
    socket.write(settings ? Buffer.concat([PREFACE, frame(SETTINGS, 0, 0)]) : PREFACE)
    return socket
  }

  /** `count` connections, one after the other, each with frames of any kind and ended in any way. */
  async sequences(random: (below: number) => number, count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      const socket = await this.connect({ reads: random(8) > 0, settings: random(10) > 0 })
      const frames = Array.from({ length: 1 + random(30) }, () => anyFrame(random))
      const bytes = Buffer.concat(frames)
      // Truncated anywhere, in one piece or in several.
      const sent = bytes.subarray(0, random(3) === 0 ? random(bytes.length + 1) : bytes.length)
      const cut = random(sent.length + 1)
      socket.write(sent.subarray(0, cut))
      if (random(2) === 0) await new Promise((resolve) => setImmediate(resolve))
      await written(socket, sent.subarray(cut))
      // TLS itself knows no reset.
      if (random(2) === 0) this.#below.get(socket)?.resetAndDestroy()
      else socket.destroy()
    }
  }

  /** Writes pieces, at most `most`, while the gateway keeps the connection. */
  async flood(socket: TLSSocket, piece: (turn: number) => Buffer, most: number): Promise<void> {
    for (let turn = 0; turn < most && open(socket); turn++) await written(socket, piece(turn))
  }

  /** Resolves when the gateway has ended the connection. The kernel may take a whole flood before the end arrives here. */
  async ends(socket: TLSSocket): Promise<void> {
    // Only a reader sees the end.
    socket.resume()
    while (open(socket)) await pause(20)
  }

  async expectServes(): Promise<void> {
    const { url } = this.#stack
    const session = await openHttp2(url, this.#authority.cert)
    expect((await overHttp2(session, { path: '/products/paged?pageSize=1' })).status).to.equal(200)
    session.destroy()
    expect((await overHttp1(url, this.#authority.cert, { path: '/health' })).status).to.equal(200)
  }

  /** The same process, with the sockets that it had, and not much more memory. */
  async expectAsBefore(): Promise<void> {
    await this.expectServes()
    while ((await this.#openSockets()) > this.#sockets) await pause(20)
    expect(((await this.#resident()) - this.#memory) / 2 ** 20, 'MiB kept').to.be.below(KEPT)
    const errors = this.#stack.logs().filter(({ level }) => level === 'error' || level === 'fatal')
    expect(errors).to.deep.equal([])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.stop()
    await this.#cleanUp()
    await this.#authority[Symbol.asyncDispose]()
  }

  async #openSockets(): Promise<number> {
    const folder = `/proc/${this.#stack.gateway.pid}/fd`
    const links = await Promise.all((await readdir(folder)).map((fd) => readlink(`${folder}/${fd}`).catch(() => '')))
    return links.filter((link) => link.startsWith('socket:')).length
  }

  /** Bytes. */
  async #resident(): Promise<number> {
    const status = await readFile(`/proc/${this.#stack.gateway.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
  }
}

const open = (socket: TLSSocket): boolean => !socket.destroyed && socket.writable

/** Resolves when the bytes are out, or can never be. */
async function written(socket: TLSSocket, bytes: Buffer): Promise<void> {
  if (!open(socket)) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      socket.off('close', done)
      resolve()
    }
    socket.once('close', done)
    socket.write(bytes, done)
  })
}

/** Floods of one kind each, of `most` pieces. `ends`: the gateway ends the connection. */
export const FLOODS: readonly {
  readonly what: string
  readonly pieces: (turn: number) => Buffer
  readonly most: number
  readonly ends: boolean
  readonly reads: boolean
}[] = [
  {
    what: 'streams that are reset as soon as they are open',
    pieces: (turn) => Buffer.concat([get(2 * turn + 1, '/rapid-reset'), frame(RST_STREAM, 0, 2 * turn + 1, word(8))]),
    most: 20_000,
    ends: true,
    reads: true
  },
  {
    what: 'a header list without an end',
    pieces: (turn) =>
      turn === 0 ? get(1, '/products', END_STREAM) : frame(CONTINUATION, 0, 1, lines({ 'x-a': 'a'.repeat(4000) })),
    most: 2000,
    ends: true,
    reads: true
  },
  {
    what: 'empty CONTINUATION frames',
    pieces: (turn) => (turn === 0 ? get(1, '/products', END_STREAM) : frame(CONTINUATION, 0, 1)),
    most: 50_000,
    ends: true,
    reads: true
  },
  {
    what: 'SETTINGS whose acknowledgements nobody reads',
    pieces: () => Buffer.concat(Array.from({ length: 100 }, () => frame(SETTINGS, 0, 0, setting(4, 65_535)))),
    most: 5000,
    ends: true,
    reads: false
  },
  {
    what: 'PINGs whose answers nobody reads',
    pieces: () => Buffer.concat(Array.from({ length: 100 }, () => frame(PING, 0, 0, Buffer.alloc(8)))),
    most: 5000,
    ends: true,
    reads: false
  },
  {
    what: 'requests whose answers have no window',
    pieces: (turn) =>
      turn === 0 ? frame(SETTINGS, 0, 0, setting(4, 0)) : get(2 * turn - 1, turn % 2 ? '/docs' : '/products/export'),
    // Each takes the gateway some work, whoever reads its answer.
    most: isSoak ? 1000 : 300,
    ends: false,
    reads: true
  },
  {
    what: 'a window that overflows',
    pieces: () => frame(WINDOW_UPDATE, 0, 0, word(2 ** 31 - 1)),
    most: 1000,
    ends: true,
    reads: true
  }
]
