import type { RequestListener } from 'node:http'
import {
  constants,
  createServer,
  type Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream
} from 'node:http2'
import { createServer as createTlsServer, type Server, type ServerOptions } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { TlsCertificates } from '../../shared/tls.js'
import {
  LENIENCE,
  lenienceOf,
  SilentLooks,
  type UnacknowledgedBytes,
  unacknowledgedBytes,
  writeQueueSize
} from './client-progress.js'
import { CONNECTION_TIMES, type ConnectionTimes, lookInterval } from './connections.js'

/** Requests of one connection under way at a time. */
const MAX_STREAMS = 100

/** Requests of one connection that may be reset, by either side, over those that were not: each is work for nothing. */
const MAX_RESETS = 200

/** Far above what 64 KiB can hold, as HTTP/1.1 has no limit of its own: the size decides (plugins/request-limits.ts). */
const MAX_HEADER_LINES = 16_384

/** Milliseconds that a connection without a request is kept, as Fastify keeps those of plain HTTP. */
const IDLE = 72_000

interface Watched {
  readonly stream: ServerHttp2Stream
  readonly connection: Http2Connection
  readonly sending: SilentLooks
  readonly reading: SilentLooks
}

interface Http2Connection {
  readonly socket: TLSSocket
  /** For how many looks it was full and nothing left it. */
  readonly full: SilentLooks
}

/** Makes a server of HTTPS for Fastify, which offers both versions of HTTP by ALPN (RFC 7301). */
export function overTls({ current }: TlsCertificates, options: ServerOptions): (handler: RequestListener) => Server {
  const { cert, key } = current
  const tls = { cert, key, ALPNProtocols: ['h2', 'http/1.1'], handshakeTimeout: CONNECTION_TIMES.head }
  const times = { keepAliveTimeout: IDLE, requestTimeout: 0 }
  return (handler) => Object.assign(createTlsServer({ ...options, ...tls }, handler), times)
}

/**
 * Serves HTTP/2 on a server of HTTPS, to clients that choose it by ALPN; what they send becomes a `request` event of the
 * server as HTTP/1.1's requests do, so one application answers both. The server has to be new: its listeners at this
 * moment are Node's own. New connections get changed certificates.
 */
export class Http2Listener {
  /** Emits `connect` and `checkExpectation` as Node does. */
  readonly server: Http2Server
  readonly #times: ConnectionTimes
  readonly #sessions = new Map<ServerHttp2Session, TLSSocket>()
  readonly #watched = new Set<Watched>()
  #looking = false

  constructor(
    server: Server,
    options: { certificates: TlsCertificates; maxHeaderBytes: number; times: ConnectionTimes }
  ) {
    this.#times = options.times
    this.server = createServer({
      Http2ServerRequest: Request,
      Http2ServerResponse: Response,
      maxHeaderListPairs: MAX_HEADER_LINES,
      settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: options.maxHeaderBytes }
    })
    this.server.on('request', (request, response) => server.emit('request', request, response))
    const http1 = server.listeners('secureConnection')
    server.removeAllListeners('secureConnection')
    server.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol === 'h2') {
        this.server.once('session', (session) => this.#opened(session, socket))
        // Node makes the session at once.
        this.server.emit('connection', socket)
      } else for (const listener of http1) listener.call(server, socket)
    })
    // Node would have bytes that are no TLS answered as malformed HTTP/1.1, in plain text.
    server.removeAllListeners('tlsClientError')
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    const stop = options.certificates.onChange(({ cert, key }) => server.setSecureContext({ cert, key }))
    const timer = setInterval(() => void this.#look(), lookInterval(this.#times)).unref()
    server.once('close', () => {
      stop()
      clearInterval(timer)
    })
  }

  /** Takes no further request, and lets those under way end (RFC 9113 section 6.8) within `patience` milliseconds. */
  close(patience: number): void {
    for (const [session, socket] of this.#sessions) {
      session.close()
      destroyIn(patience, socket)
    }
  }

  #opened(session: ServerHttp2Session, socket: TLSSocket): void {
    const { head } = this.#times
    const connection: Http2Connection = { socket, full: new SilentLooks() }
    let running = 0
    let resets = 0
    // Once a session has ended, Node waits for the client to close the connection: only destroying it is sure.
    let timer = setTimeout(() => socket.destroy(), head).unref()
    this.#sessions.set(session, socket)
    socket.once('close', () => {
      clearTimeout(timer)
      this.#sessions.delete(session)
    })
    const rest = (): void => {
      session.close()
      destroyIn(head, socket)
    }
    session.on('stream', (stream) => {
      running += 1
      clearTimeout(timer)
      this.#watch(stream, connection)
      stream.once('close', () => {
        running -= 1
        resets = Math.max(0, resets + (stream.rstCode === constants.NGHTTP2_NO_ERROR ? -1 : 1))
        if (resets > MAX_RESETS) session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM)
        else if (running > 0) return
        // A PING is no request, and neither is half a head.
        else if (session.closed) rest()
        else timer = setTimeout(rest, IDLE).unref()
      })
    })
  }

  /** Node's own timeout of a stream begins anew with whatever comes on its connection, a PING for one. */
  #watch(stream: ServerHttp2Stream, connection: Http2Connection): void {
    const watched: Watched = { stream, connection, sending: new SilentLooks(), reading: new SilentLooks() }
    this.#watched.add(watched)
    stream.once('close', () => this.#watched.delete(watched))
    // An answer that comes before the whole of the body: the rest of it is not wanted (RFC 9113 section 8.1).
    stream.once('finish', () => {
      if (!isWhole(stream)) setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR))
    })
  }

  /** Resets streams whose clients do nothing that they are waited for. Never rejects. */
  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    const { body, answer } = this.#times
    const interval = lookInterval(this.#times)
    const full = new Set<Http2Connection>()
    const unread: Watched[] = []
    for (const watched of this.#watched) {
      const { stream, connection, sending, reading } = watched
      const awaitsBody = !isWhole(stream) && !stream.isPaused() && stream.readableLength === 0
      const hasSentNothing = sending.look(String(stream.state.localWindowSize), !awaitsBody)
      const hasReadNothing = reading.look(String(bytesLeft(stream)), stream.writableLength === 0)
      if (hasSentNothing * interval >= body) stream.close(constants.NGHTTP2_CANCEL)
      else if (hasReadNothing > 0) {
        unread.push(watched)
        if (writeQueueSize(connection.socket) > 0) full.add(connection)
      }
    }
    const queues = full.size === 0 ? undefined : await unacknowledgedBytes()
    for (const connection of full) {
      if (fullFor(connection, queues) * interval >= answer) connection.socket.destroy()
    }
    for (const { stream, connection, reading } of unread) {
      // The streams of a full connection that moves wait for each other.
      const patience = full.has(connection) ? answer * LENIENCE : answer
      if (reading.count * interval >= patience) stream.close(constants.NGHTTP2_CANCEL)
    }
    this.#looking = false
  }
}

function isWhole(stream: ServerHttp2Stream): boolean {
  return stream.endAfterHeaders || stream.readableEnded
}

/** Looks for which nothing has left a full connection, less what a reader is granted (connections.ts). */
function fullFor({ socket, full }: Http2Connection, queues: UnacknowledgedBytes | undefined): number {
  const queued = queues?.get(`${socket.localPort} ${socket.remotePort}`)
  const looks = full.look(`${writeQueueSize(socket)} ${socket.bytesWritten} ${queued}`, false)
  return looks / (queues === undefined ? LENIENCE : lenienceOf({ socket }))
}

/** Unless it has closed by then; `patience` in milliseconds. */
function destroyIn(patience: number, socket: TLSSocket): void {
  if (socket.destroyed) return
  const timer = setTimeout(() => socket.destroy(), patience).unref()
  socket.once('close', () => clearTimeout(timer))
}

/** Bytes of an answer that are handed to Node at a time, a frame of usual size: Node tells of a whole part that it left. */
const PIECE = 16 * 1024

/**
 * A request of HTTP/2 with the headers that it would have had in HTTP/1.1, which is what everything behind it reads: a
 * `Host` (RFC 9113 section 8.3.1), and the announcement of a body of unknown length, which frames announce here.
 */
export class Request extends Http2ServerRequest {
  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    ...[options, rawHeaders]: [options: object, rawHeaders: readonly string[]]
  ) {
    const { ':authority': authority, host, 'content-length': length } = headers
    const lines = rawHeaders.filter((_, index) => !(rawHeaders[index - (index % 2)] ?? '').startsWith(':'))
    // Two that differ are two hosts, and refused as those are.
    if (authority !== undefined && authority !== host) lines.unshift('host', authority)
    headers.host ??= authority
    if (!stream.endAfterHeaders && length === undefined) headers['transfer-encoding'] = 'chunked'
    super(stream, headers, options, lines)
  }
}

/** Bytes of the answer's body that were handed to the stream. */
const passed = new WeakMap<ServerHttp2Stream, number>()

/** Bytes of an answer that the connection has taken. */
export function bytesLeft(stream: ServerHttp2Stream): number {
  return (passed.get(stream) ?? 0) - stream.writableLength
}

/** An answer over HTTP/2 with what those of HTTP/1.1 have and Node's lack. */
export class Response extends Http2ServerResponse {
  constructor(stream: ServerHttp2Stream) {
    super(stream)
    // Node would hand over all that waits as one part.
    Object.defineProperty(stream, '_writev', { value: undefined })
    Object.defineProperties(this, {
      destroyed: { get: () => stream.destroyed || stream.closed },
      // Node ends the writing side of a stream that was reset, which then counts as finished.
      writableFinished: {
        get: () => stream.writableFinished && !stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR
      }
    })
  }

  /** An answer that is broken off must not look as if it were whole: Node would reset its stream without an error. */
  override destroy(error?: Error): this {
    if (!this.stream.closed) this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    void error
    return this
  }

  /** In pieces, so that each of them is seen to leave; `end` writes through this too. */
  override write(chunk: string | Uint8Array, ...rest: unknown[]): boolean {
    const callback = rest.find((one): one is (error?: Error) => void => typeof one === 'function')
    const encoding = typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8'
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
    passed.set(this.stream, (passed.get(this.stream) ?? 0) + bytes.length)
    let from = 0
    for (; bytes.length - from > PIECE; from += PIECE) super.write(bytes.subarray(from, from + PIECE))
    const last = bytes.subarray(from)
    return callback === undefined ? super.write(last) : super.write(last, callback)
  }
}
