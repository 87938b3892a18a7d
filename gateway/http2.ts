import {
  constants,
  createServer,
  Http2ServerRequest,
  Http2ServerResponse,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream
} from 'node:http2'
import type { RequestListener } from 'node:http'
import { createServer as createTlsServer, type Server, type ServerOptions } from 'node:https'
import type { TLSSocket } from 'node:tls'
import type { TlsCertificates } from '../shared/tls-certificates.js'
import { CONNECTION_TIMES, type ConnectionTimes } from './connections.js'

/** Requests of one connection under way at a time. */
const MAX_STREAMS = 100

/** Requests of one connection that may be reset, by either side, over those that were not: each is work for nothing. */
const MAX_RESETS = 200

/** Far above what 64 KiB can hold, as HTTP/1.1 has no limit of its own: the size decides (plugins/request-limits.ts). */
const MAX_HEADER_LINES = 16_384

/** Milliseconds that a connection without a request is kept, as Fastify keeps those of plain HTTP. */
const IDLE = 72_000

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
    server.once('close', stop)
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
      this.#watch(stream)
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

  /** Resets a stream whose client does nothing that it is waited for. Node counts each part that is sent as progress. */
  #watch(stream: ServerHttp2Stream): void {
    const { body, answer } = this.#times
    const silence = Math.max(body, answer)
    const isWhole = (): boolean => stream.endAfterHeaders || stream.readableEnded
    const look = (): void => {
      const awaitsBody = !isWhole() && !stream.isPaused() && stream.readableLength === 0
      if (stream.writableLength > 0 || awaitsBody) stream.close(constants.NGHTTP2_CANCEL)
      else stream.setTimeout(silence)
    }
    stream.setTimeout(silence)
    stream.on('timeout', look)
    // An answer that comes before the whole of the body: the rest of it is not wanted (RFC 9113 section 8.1).
    stream.once('finish', () => {
      if (!isWhole()) setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR))
    })
  }
}

/** Unless it has closed by then; `patience` in milliseconds. */
function destroyIn(patience: number, socket: TLSSocket): void {
  if (socket.destroyed) return
  const timer = setTimeout(() => socket.destroy(), patience).unref()
  socket.once('close', () => clearTimeout(timer))
}

/**
 * A request of HTTP/2 with the headers that it would have had in HTTP/1.1, which is what everything behind it reads: a
 * `Host` (RFC 9113 section 8.3.1), and the announcement of a body of unknown length, which frames announce here.
 */
class Request extends Http2ServerRequest {
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

/** An answer over HTTP/2 with what those of HTTP/1.1 have and Node's lack. */
class Response extends Http2ServerResponse {
  constructor(stream: ServerHttp2Stream) {
    super(stream)
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
}
