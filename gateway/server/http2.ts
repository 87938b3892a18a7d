import type { RequestListener } from 'node:http'
import {
  constants,
  createServer,
  type Http2Server,
  Http2ServerRequest,
  Http2ServerResponse,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream
} from 'node:http2'
import { createServer as createTlsServer, type Server, type ServerOptions } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { throttledAddress } from '../../shared/ip-address.js'
import { Turns } from '../../shared/turns.js'
import type { TlsCertificates } from '../../shared/tls.js'
import { boundResets, unlessReset, bytesOfHead, type StreamArguments } from '../../shared/transport/http2-streams.js'
import { MAX_HEADER_LINES } from '../http/request-head.js'
import {
  acceptedBytes,
  connectionKey,
  RateCounter,
  StallCounter,
  unacknowledgedBytes,
  type UnacknowledgedBytes,
  writeQueueSize
} from './client-progress.js'
import {
  checkInterval,
  CONNECTION_TIMEOUTS,
  type ClientConnections,
  type ConnectionTimeouts,
  ignoreErrors,
  readTimeoutFactor
} from './connections.js'
import { forwardedFor, type TrustedProxies } from '../http/client-address.js'
import type { MalformedHttp } from './malformed-http.js'
import { countPieces, type OpenRequests } from './open-requests.js'
import { ConnectionBytes, UnexplainedBytes } from './unexplained-bytes.js'

/** Concurrent requests of one connection. */
const MAX_OPEN_STREAMS = 32

/** Requests of one address that begin in a turn of the event loop. Its connections may bring thousands in one. */
const STREAMS_BEGUN_IN_A_TURN = 16

/** How many more requests of one connection may end with a reset than with a whole answer. */
const MAX_VAIN_RESETS = 100

/** More lines than the contract allows, so that those above it still become a request that is answered 431. */
const MAX_PARSED_LINES = 2 * MAX_HEADER_LINES

/** Milliseconds that a connection without a request stays open, as Fastify has them for plain HTTP. */
const KEEP_ALIVE_TIMEOUT = 72_000

/**
 * The cipher suites of HTTPS: those of TLS 1.3, and of TLS 1.2 the ones that authenticate what they encrypt (AEAD) and whose
 * keys are made for each connection. Node also offers suites with CBC.
 */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305'
].join(':')

/** A `serverFactory` for Fastify: an HTTPS server that offers both versions of HTTP by ALPN (RFC 7301). */
export function httpsServerFactory(
  { current: { cert, key } }: TlsCertificates,
  options: ServerOptions
): (handler: RequestListener) => Server {
  const tls = {
    cert,
    key,
    ciphers: CIPHERS,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: CONNECTION_TIMEOUTS.head
  }
  const timeouts = { keepAliveTimeout: KEEP_ALIVE_TIMEOUT, requestTimeout: 0 }
  return (handler) => Object.assign(createTlsServer({ ...options, ...tls }, handler), timeouts)
}

interface Http2Connection {
  readonly socket: TLSSocket
  /** Counts the checks in which its write queue was full and moved too slowly. */
  readonly blocked: RateCounter
  /** Bytes that the operating system had accepted at the last check. */
  accepted: number
  /** Streams whose answers waited for the client at the last check. */
  waiting: number
}

interface WatchedStream {
  readonly stream: ServerHttp2Stream
  readonly connection: Http2Connection
  readonly upload: StallCounter
  readonly download: RateCounter
  /** Whether its client had closed it, and its answer had not left, at the last check. */
  wasCut: boolean
}

/**
 * Serves HTTP/2 on an HTTPS server to clients that choose it by ALPN. Its requests become `request` events of that
 * server, like those of HTTP/1.1, so that one application answers both. The server must be new: its listeners at this
 * moment are Node's own. New connections use changed certificates.
 */
export class Http2Listener {
  /** Emits `connect` as Node does. */
  readonly server: Http2Server
  readonly #timeouts: ConnectionTimeouts
  readonly #sessions = new Map<Http2Session, ConnectionBytes>()
  readonly #unexplained: UnexplainedBytes
  readonly #watched = new Set<WatchedStream>()
  #checking = false

  constructor(
    server: Server,
    options: {
      certificates: TlsCertificates
      maxHeaderBytes: number
      timeouts: ConnectionTimeouts
      openRequests: OpenRequests
      connections: Pick<ClientConnections, 'closeAllOf'>
      trustedProxies: Pick<TrustedProxies, 'trusts'>
      refuseStream: MalformedHttp['refuseStream']
    }
  ) {
    this.#timeouts = options.timeouts
    this.server = createServer({
      Http2ServerRequest: Http2Request,
      Http2ServerResponse: Http2Response,
      maxHeaderListPairs: MAX_PARSED_LINES,
      settings: { maxConcurrentStreams: MAX_OPEN_STREAMS, maxHeaderListSize: options.maxHeaderBytes }
    })
    const turns = new Turns(STREAMS_BEGUN_IN_A_TURN)
    for (const event of ['request', 'checkExpectation']) {
      this.server.on(event, (request: Http2Request, response: Http2Response) => {
        const { stream } = request
        const begin = (): void => {
          if (!stream.closed && !stream.destroyed) server.emit('request', request, response)
        }
        unlessReset(stream, () => turns.begin(peerAddressOf(stream), begin))
      })
    }
    this.#unexplained = new UnexplainedBytes(
      () => this.#sessions.values(),
      (socket) => options.connections.closeAllOf(socket)
    )
    // Node makes requests of streams in a listener that it adds with the first one of `request`.
    this.#admitStreams(options)
    const http1Listeners = server.listeners('secureConnection')
    server.removeAllListeners('secureConnection')
    server.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol === 'h2') {
        this.server.once('session', (session) => this.#onSession(session, socket))
        // Node creates the session synchronously.
        this.server.emit('connection', socket)
      } else for (const listener of http1Listeners) listener.call(server, socket)
    })
    // Node's own listener would answer bytes that are not TLS with plain HTTP/1.1.
    server.removeAllListeners('tlsClientError')
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    const stopFollowing = options.certificates.onChange(({ cert, key }) =>
      server.setSecureContext({ cert, key, ciphers: CIPHERS })
    )
    const timer = setInterval(() => void this.#check(), checkInterval(this.#timeouts)).unref()
    server.once('close', () => {
      stopFollowing()
      clearInterval(timer)
      this.#unexplained.stop()
    })
  }

  /** Accepts no further request (GOAWAY, RFC 9113 section 6.8). Running ones get `timeout` milliseconds to end. */
  close(timeout: number): void {
    for (const [session, { socket }] of this.#sessions) {
      session.close()
      destroyAfter(timeout, socket)
    }
  }

  /**
   * Closes the connections of an address with too many streams, before Node makes requests and responses of them. Of a
   * trusted proxy only the stream is refused: its connection brings those of other clients too.
   */
  #admitStreams({
    openRequests,
    connections,
    trustedProxies,
    refuseStream,
    maxHeaderBytes
  }: {
    readonly openRequests: OpenRequests
    readonly connections: Pick<ClientConnections, 'closeAllOf'>
    readonly trustedProxies: Pick<TrustedProxies, 'trusts'>
    readonly refuseStream: MalformedHttp['refuseStream']
    readonly maxHeaderBytes: number
  }): void {
    const listeners = this.server.listeners('stream')
    this.server.removeAllListeners('stream')
    this.server.on('stream', (...args: StreamArguments) => {
      const [stream, headers, , rawHeaders] = args
      const bytes = stream.session === undefined ? undefined : this.#sessions.get(stream.session)
      // A stream that is not served ends with its connection, and may emit an error then.
      if (bytes === undefined || bytes.socket.destroyed) return void ignoreErrors(stream)
      const { socket } = bytes
      const { remoteAddress } = socket
      const isProxy = trustedProxies.trusts(remoteAddress)
      const headBytes = bytesOfHead(rawHeaders)
      bytes.explainStream(headBytes, stream.endAfterHeaders)
      // Node applies the SETTINGS only once the client has acknowledged them. A byte of such a head may stand for kilobytes
      // of it (RFC 7541 section 2.3).
      if (headBytes > maxHeaderBytes) {
        ignoreErrors(stream)
        return isProxy ? stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM) : void socket.destroy()
      }
      const open = openRequests.admit({ remoteAddress, forwardedFor: forwardedFor(headers) }, rawHeaders)
      if (open === undefined) {
        ignoreErrors(stream)
        return isProxy ? refuseStream(stream, headers[':path'] ?? '/') : connections.closeAllOf(socket)
      }
      stream.once('close', open.end)
      if (!stream.endAfterHeaders) {
        const receivePiece = (piece: unknown): boolean => {
          bytes.explainPiece(piece)
          return open.receivePiece()
        }
        const refuse = (): void => {
          if (isProxy) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
          else connections.closeAllOf(socket)
        }
        countPieces(stream, { receivePiece, forgetPieces: open.forgetPieces, refuse })
        stream.on('trailers', forgetTrailers)
      }
      for (const listener of listeners) listener.apply(this.server, args)
    })
  }

  #onSession(session: ServerHttp2Session, socket: TLSSocket): void {
    const { head } = this.#timeouts
    const connection: Http2Connection = {
      socket,
      blocked: new RateCounter(checkInterval(this.#timeouts)),
      accepted: 0,
      waiting: 0
    }
    let running = 0
    // After the end of a session Node waits until the client closes the connection. Only destroying it is certain.
    let timer = setTimeout(() => socket.destroy(), head).unref()
    this.#sessions.set(session, new ConnectionBytes(socket))
    socket.once('close', () => {
      clearTimeout(timer)
      this.#sessions.delete(session)
    })
    const closeSession = (): void => {
      session.close()
      destroyAfter(head, socket)
    }
    boundResets(session, socket, { resets: MAX_VAIN_RESETS, streams: MAX_OPEN_STREAMS, isVain: isUnanswered })
    session.on('stream', (stream) => {
      running += 1
      clearTimeout(timer)
      this.#watch(stream, connection)
      stream.once('close', () => {
        running -= 1
        if (session.destroyed || running > 0) return
        if (session.closed) closeSession()
        // A PING or an incomplete head does not restart this timer, only a request does.
        else timer = setTimeout(closeSession, KEEP_ALIVE_TIMEOUT).unref()
      })
    })
  }

  /** Node's own stream timeout restarts with anything that arrives on the connection, such as a PING. */
  #watch(stream: ServerHttp2Stream, connection: Http2Connection): void {
    const download = new RateCounter(checkInterval(this.#timeouts))
    const watched: WatchedStream = { stream, connection, upload: new StallCounter(), download, wasCut: false }
    this.#watched.add(watched)
    stream.once('close', () => this.#watched.delete(watched))
    // A response that ends before the request body does: the client need not send the rest (RFC 9113 section 8.1).
    stream.once('finish', () => {
      if (!isRequestComplete(stream)) setImmediate(() => stream.close(constants.NGHTTP2_NO_ERROR))
    })
  }

  /** Resets streams, and destroys connections, whose clients have passed a timeout. Never rejects. */
  async #check(): Promise<void> {
    if (this.#checking) return
    this.#checking = true
    const { body, response } = this.#timeouts
    const interval = checkInterval(this.#timeouts)
    const full = new Set<Http2Connection>()
    const unread: WatchedStream[] = []
    for (const { connection } of this.#watched) connection.waiting = 0
    for (const { stream, connection } of this.#watched) if (stream.writableLength > 0) connection.waiting += 1
    for (const watched of this.#watched) {
      const { stream, connection, upload, download, wasCut } = watched
      // A reset with NO_ERROR after the end of the answer: Node waits for bytes that nghttp2 no longer sends.
      watched.wasCut = stream.closed && !stream.writableFinished && writeQueueSize(connection.socket) === 0
      if (watched.wasCut && wasCut) {
        stream.destroy()
        continue
      }
      const awaitsBody = !isRequestComplete(stream) && !stream.isPaused() && stream.readableLength === 0
      const stalledUpload = upload.check(String(stream.state.localWindowSize), !awaitsBody)
      const checksBehind = download.check(bytesTaken(stream), stream.writableLength === 0, connection.waiting)
      if (stalledUpload * interval >= body) stream.close(constants.NGHTTP2_CANCEL)
      else if (checksBehind > 0) {
        unread.push(watched)
        if (writeQueueSize(connection.socket) > 0) {
          full.add(connection)
          connection.accepted = acceptedBytes(connection.socket)
        }
      }
    }
    const queues = full.size === 0 ? undefined : await unacknowledgedBytes()
    for (const connection of full) {
      if (blockedChecks(connection, queues) * interval >= response) connection.socket.destroy()
    }
    for (const { stream, connection, download } of unread) {
      // The streams of a full connection that moves wait for each other: the lowest rate is that of the connection.
      if (full.has(connection)) download.count = 0
      else if (download.count * interval >= response) stream.close(constants.NGHTTP2_CANCEL)
    }
    this.#checking = false
  }
}

/** Empties the trailers of a request, which nothing reads, before Node's request keeps them until its answer is taken. */
function forgetTrailers(trailers: Record<string, unknown>, _flags: number, lines: unknown[]): void {
  lines.length = 0
  for (const name of Object.keys(trailers)) delete trailers[name]
}

/** Of the peer. The socket of a session that has ended has none. */
function peerAddressOf({ session }: ServerHttp2Stream): string {
  return throttledAddress(session?.socket.remoteAddress ?? '')
}

/** An answer that ended before its request's body is reset too, by the server. */
function isUnanswered(stream: ServerHttp2Stream): boolean {
  return !stream.writableFinished || stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR
}

function isRequestComplete(stream: ServerHttp2Stream): boolean {
  return stream.endAfterHeaders || stream.readableEnded
}

/** Checks by which a full connection is too slow, corrected by what its client is granted. */
function blockedChecks(
  { socket, blocked, accepted }: Http2Connection,
  queues: UnacknowledgedBytes | undefined
): number {
  // The system's list may lack a connection while others come and go. On other systems there is none.
  const unacknowledged = queues === undefined ? 0 : queues.get(connectionKey(socket))
  const checks = unacknowledged === undefined ? blocked.count : blocked.check(accepted - unacknowledged, false)
  return checks / readTimeoutFactor(socket, queues)
}

/** Destroys the socket after `timeout` milliseconds unless it is closed by then. */
function destroyAfter(timeout: number, socket: TLSSocket): void {
  if (socket.destroyed) return
  const timer = setTimeout(() => socket.destroy(), timeout).unref()
  socket.once('close', () => clearTimeout(timer))
}

/**
 * A request of HTTP/2 with the headers that it would have in HTTP/1.1, which the rest of the gateway reads: a `Host` from
 * `:authority` (RFC 9113 section 8.3.1), and `Transfer-Encoding` for a body of unknown length, which frames announce here.
 */
class Http2Request extends Http2ServerRequest {
  constructor(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    ...[options, rawHeaders]: [options: object, rawHeaders: readonly string[]]
  ) {
    const { ':authority': authority, host, 'content-length': length } = headers
    const lines = rawHeaders.filter((_, index) => !(rawHeaders[index - (index % 2)] ?? '').startsWith(':'))
    // An authority that differs from the Host becomes a second Host line, which checkRequestHead rejects.
    if (authority !== undefined && authority !== host) lines.unshift('host', authority)
    headers.host ??= authority
    if (!stream.endAfterHeaders && length === undefined) headers['transfer-encoding'] = 'chunked'
    super(stream, headers, options, lines)
  }
}

/** Bytes of a response that are written to Node at a time. Node reports progress only when a whole chunk has left. */
const CHUNK_BYTES = 16 * 1024

/** Bytes of the response body that were written to the stream. */
const bytesWritten = new WeakMap<ServerHttp2Stream, number>()

/** Bytes of the response body that the connection has taken. */
function bytesTaken(stream: ServerHttp2Stream): number {
  return (bytesWritten.get(stream) ?? 0) - stream.writableLength
}

/** A response over HTTP/2 with those properties of an HTTP/1.1 response that Node's class lacks. */
class Http2Response extends Http2ServerResponse {
  constructor(stream: ServerHttp2Stream) {
    super(stream)
    // With `_writev` Node would join all waiting chunks to one.
    Object.defineProperty(stream, '_writev', { value: undefined })
    Object.defineProperties(this, {
      destroyed: { get: () => stream.destroyed || stream.closed },
      // Node ends the writable side of a reset stream, which then looks finished.
      writableFinished: {
        get: () => stream.writableFinished && !stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR
      }
    })
  }

  /** A response that breaks off must not look complete. Node would reset its stream with the code NO_ERROR. */
  override destroy(error?: Error): this {
    if (!this.stream.closed) this.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    void error
    return this
  }

  /** Writes in chunks, so that progress is visible. `end` calls this as well. */
  override write(data: string | Uint8Array, ...rest: unknown[]): boolean {
    const callback = rest.find((one): one is (error?: Error) => void => typeof one === 'function')
    const encoding = typeof rest[0] === 'string' ? (rest[0] as BufferEncoding) : 'utf8'
    const bytes = typeof data === 'string' ? Buffer.from(data, encoding) : data
    bytesWritten.set(this.stream, (bytesWritten.get(this.stream) ?? 0) + bytes.length)
    let from = 0
    for (; bytes.length - from > CHUNK_BYTES; from += CHUNK_BYTES) {
      super.write(bytes.subarray(from, from + CHUNK_BYTES))
    }
    const last = bytes.subarray(from)
    return callback === undefined ? super.write(last) : super.write(last, callback)
  }
}
