import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Http2Server, Http2ServerRequest, Http2ServerResponse, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { DomainError, rejectionAt } from '../../shared/errors.js'
import type { Logger } from '../../shared/logger.js'
import { unlessReset } from '../../shared/transport/http2-streams.js'
import { type Problem, toProblem } from '../http/problem-details.js'
import type { PublicAddress } from '../http/public-address.js'
import { pathOfTarget } from '../http/query-string.js'
import { pathOfMalformedHead } from '../http/request-head.js'
import { safetyHeaders } from './requests.js'

/** An error of Node's parser. Fastify's type for it describes `rawPacket` wrongly, as the JSON of a Buffer. */
interface ParserError extends Error {
  readonly code?: string
  /** The last bytes that the parser received. */
  readonly rawPacket?: unknown
  /** How many of them were well-formed. */
  readonly bytesParsed?: unknown
}

/**
 * Milliseconds that a connection stays half open after its last response (RFC 9112 section 9.6). A reset while the client
 * still sends would discard the response before the client has read it.
 */
const LINGER_TIMEOUT = 10_000

/** Answers what never becomes a Fastify request: bytes that are not HTTP, heads far above the limit, CONNECT, and refused streams. */
export class MalformedHttp {
  readonly #address: PublicAddress
  readonly #log: Logger
  readonly #newRequestId: () => string
  readonly #safetyHeaders: Readonly<Record<string, string>>
  readonly #latest = new WeakMap<Socket, ServerResponse>()
  readonly #rejected = new WeakSet<Socket>()

  constructor(options: { address: PublicAddress; log: Logger; newRequestId: () => string; strictTransport: boolean }) {
    this.#address = options.address
    this.#log = options.log
    this.#newRequestId = options.newRequestId
    this.#safetyHeaders = safetyHeaders(options.strictTransport)
  }

  attach(server: Server): void {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#latest.set(request.socket, response)
    })
    // Node would answer 417 with no body. checkRequestHead rejects it, after the checks of every request.
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      server.emit('request', request, response)
    })
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      const latest = this.#latest.get(socket)
      // Node no longer manages the socket, so an unfinished response would wait forever for `drain`.
      if (latest !== undefined && !latest.writableFinished) socket.destroy()
      else this.#reject(socket, connectNotServed(), { path: '/' })
    })
  }

  /** The same for HTTP/2. Bytes that are not HTTP/2 at all are rejected by Node as RFC 9113 says. */
  attachHttp2(server: Http2Server): void {
    server.on('connect', (_request: Http2ServerRequest, response: Http2ServerResponse) => {
      unlessReset(response.stream, () => {
        const { status, headers, body } = this.#problem(connectNotServed(), '/')
        response.writeHead(status, headers).end(body)
      })
    })
  }

  /** Answers a stream of a trusted proxy whose client has too many requests open. Streams of other clients go on. */
  readonly refuseStream = (stream: ServerHttp2Stream, target: string): void => {
    const { status, headers, body } = this.#problem(tooManyOpen(), pathOfTarget(target), TOO_MANY_OPEN)
    stream.respond({ ':status': status, ...headers, 'content-length': body.length })
    stream.end(body)
    stream.resume()
  }

  /**
   * The same for HTTP/1.1. The connection ends with the answer: one that ended without would be a failure of this gateway to
   * the proxy, which takes it out of its list for everybody.
   */
  readonly refuseRequest = (socket: Socket, target: string): void => {
    this.#reject(socket, tooManyOpen(), { path: pathOfTarget(target), message: TOO_MANY_OPEN })
  }

  /** Fastify's `clientErrorHandler`. */
  readonly onClientError = (error: ParserError, socket: Socket): void => {
    // Bytes that follow a rejected request are an error each time. They must be read, or a reset discards the response.
    if (this.#rejected.has(socket) && error.code !== 'ECONNRESET') return
    // A client that has sent nothing could take the rejection for the response to the request that it sends just then.
    const isSilent = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0
    if (error.code === 'ECONNRESET' || !socket.writable || isSilent) {
      socket.destroy()
      return
    }
    this.#rejected.add(socket)
    const rejection = rejectionOf(error)
    const latest = this.#latest.get(socket)
    if (latest !== undefined && !latest.req.complete) this.#rejectBody(socket, rejection, latest)
    else {
      const path = pathOfMalformedHead(packetOf(error), bytesParsedOf(error))
      const reject = (): void => this.#reject(socket, rejection, { path })
      // Responses are sent in the order of their requests.
      if (latest === undefined || latest.writableFinished) reject()
      else latest.once('close', reject)
    }
  }

  /** The error is in the body of a request whose head was correct. */
  #rejectBody(socket: Socket, rejection: DomainError, response: ServerResponse): void {
    const { req, headersSent, writableFinished } = response
    // Node assigns the socket when it is this response's turn. Until then earlier responses use it.
    if (response.socket === null && !writableFinished) {
      response.once('socket', () => this.#rejectBody(socket, rejection, response))
    } else if (!headersSent) this.#reject(socket, rejection, { path: pathOfTarget(req.url ?? '/') })
    else if (writableFinished) endWithLinger(socket)
    else socket.destroy()
  }

  #reject(
    socket: Socket,
    error: DomainError,
    { path, message }: { readonly path: string; readonly message?: string }
  ): void {
    if (!socket.writable) return
    const { status, headers, body } = this.#problem(error, path, message)
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${body.length}`,
      'connection: close'
    ]
    endWithLinger(socket, Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]))
  }

  #problem(error: DomainError, path: string, message = 'malformed HTTP'): Problem {
    const requestId = this.#newRequestId()
    const problem = toProblem(error, { base: this.#address.base, path, requestId })
    this.#log.info({ requestId, status: problem.status, code: error.code }, message)
    return { ...problem, headers: { ...problem.headers, 'x-request-id': requestId, ...this.#safetyHeaders } }
  }
}

const TOO_MANY_OPEN = 'too many requests of a client are open'

function tooManyOpen(): DomainError {
  return new DomainError('upstream.unavailable', 'Too many requests of this client are open.', { retryAfter: 1 })
}

function connectNotServed(): DomainError {
  return new DomainError('request.malformed', 'CONNECT is not served here.')
}

function rejectionOf(error: ParserError): DomainError {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new DomainError('request.malformed', 'The request did not arrive in full in time.')
  }
  const parsed = packetOf(error).slice(0, bytesParsedOf(error))
  if (error.code === 'HPE_INVALID_HEADER_TOKEN' && /\nidempotency-key:[^\n]*$/i.test(parsed)) {
    const place = { in: 'header', name: 'Idempotency-Key' } as const
    const detail = 'The header Idempotency-Key must be 1 to 255 visible ASCII characters.'
    return rejectionAt('idempotency.key.invalid', detail, { place })
  }
  if (error.code !== 'HPE_HEADER_OVERFLOW') {
    return new DomainError('request.malformed', 'The request is not well-formed HTTP/1.1.')
  }
  return isInsideTarget(packetOf(error))
    ? new DomainError('uri.too-long', 'The request target is longer than 64 KiB.')
    : new DomainError('headers.too-large', 'The request line and headers are longer than 64 KiB together.')
}

/**
 * Whether the parser was still in the request target. Far above the limit it reports its last packet only; a packet
 * without a line end, a header or two spaces is the middle of a target.
 */
function isInsideTarget(packet: string): boolean {
  return !/[\r\n]| .* |: /.test(packet)
}

function packetOf({ rawPacket }: ParserError): string {
  return Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : ''
}

function bytesParsedOf({ bytesParsed }: ParserError): number {
  return typeof bytesParsed === 'number' ? bytesParsed : 0
}

function endWithLinger(socket: Socket, last: Buffer = Buffer.alloc(0)): void {
  socket.end(last)
  setTimeout(() => socket.destroy(), LINGER_TIMEOUT).unref()
}
