import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Http2Server, Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'
import { DomainError } from '../../shared/errors.js'
import type { Logger } from '../../shared/logger.js'
import { type Problem, toProblem } from '../http/problem-details.js'
import type { PublicAddress } from '../http/public-address.js'
import { pathOf } from '../http/query-string.js'
import { pathOfMalformedHead } from '../http/request-head.js'
import { STRICT_TRANSPORT } from './requests.js'

/** Node's parser errors; Fastify's type for them describes `rawPacket` as its JSON. */
interface ParserError extends Error {
  readonly code?: string
  readonly rawPacket?: unknown
  /** Bytes of it that were well-formed. */
  readonly bytesParsed?: unknown
}

/** Milliseconds a refused connection may stay half open, so that its sender can read the answer before a reset. */
const LINGER = 10_000

/** Answers what never becomes a request: bytes that are no HTTP, heads far too long, expectations, CONNECT. */
export class MalformedHttp {
  readonly #address: PublicAddress
  readonly #log: Logger
  readonly #newRequestId: () => string
  readonly #latest = new WeakMap<Socket, ServerResponse>()
  readonly #rejected = new WeakSet<Socket>()
  readonly #strictTransport: boolean

  constructor(tools: { address: PublicAddress; log: Logger; newRequestId: () => string; strictTransport: boolean }) {
    this.#address = tools.address
    this.#strictTransport = tools.strictTransport
    this.#log = tools.log
    this.#newRequestId = tools.newRequestId
  }

  attach(server: Server): void {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#latest.set(request.socket, response)
    })
    server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      const error = unknownExpectation()
      const problem = this.#problem(error, pathOf(request.url ?? '/'))
      response.writeHead(problem.status, { ...problem.headers, connection: 'close' }).end(problem.body)
    })
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      const running = this.#latest.get(socket)
      // Node has left the socket: an answer under way on it would wait for ever to be told of room for more.
      if (running !== undefined && !running.writableFinished) socket.destroy()
      else this.#reject(socket, new DomainError('request.malformed', 'CONNECT is not served here.'), '/')
    })
  }

  /** The same for HTTP/2, whose requests are streams: what is no HTTP/2 at all Node refuses as RFC 9113 says. */
  attachHttp2(server: Http2Server): void {
    const refuse = (response: Http2ServerResponse, error: DomainError, path: string): void => {
      const { status, headers, body } = this.#problem(error, path)
      response.writeHead(status, headers).end(body)
    }
    server.on('checkExpectation', (request: Http2ServerRequest, response: Http2ServerResponse) => {
      refuse(response, unknownExpectation(), pathOf(request.url))
    })
    server.on('connect', (_request: Http2ServerRequest, response: Http2ServerResponse) => {
      refuse(response, new DomainError('request.malformed', 'CONNECT is not served here.'), '/')
    })
  }

  /** Fastify's `clientErrorHandler`. */
  readonly onClientError = (error: ParserError, socket: Socket): void => {
    // What is still on its way behind a rejection is a fault each time it comes, and has to come, or the rejection is lost.
    if (this.#rejected.has(socket) && error.code !== 'ECONNRESET') return
    // Who has sent nothing must not take a rejection for the answer to what they send just then.
    const isSilent = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket.bytesRead === 0
    if (error.code === 'ECONNRESET' || !socket.writable || isSilent) {
      socket.destroy()
      return
    }
    this.#rejected.add(socket)
    const rejection = rejectionOf(error)
    const running = this.#latest.get(socket)
    if (running !== undefined && !running.req.complete) this.#rejectRunning(socket, rejection, running)
    else {
      const path = pathOfMalformedHead(packetOf(error), bytesParsedOf(error))
      this.#afterRunning(socket, () => this.#reject(socket, rejection, path))
    }
  }

  /** Answers come in the order of their requests. */
  #afterRunning(socket: Socket, refuse: () => void): void {
    const running = this.#latest.get(socket)
    if (running === undefined || running.writableFinished) refuse()
    else running.once('close', refuse)
  }

  /** The fault is in the body of a request whose head was in order. */
  #rejectRunning(socket: Socket, rejection: DomainError, running: ServerResponse): void {
    const { req, headersSent, writableFinished } = running
    // Others are to be answered before it.
    if (running.socket === null && !writableFinished) {
      running.once('socket', () => this.#rejectRunning(socket, rejection, running))
    } else if (!headersSent) this.#reject(socket, rejection, pathOf(req.url ?? '/'))
    else if (writableFinished) endGently(socket)
    else socket.destroy()
  }

  #reject(socket: Socket, error: DomainError, path: string): void {
    if (!socket.writable) return
    const { status, headers, body } = this.#problem(error, path)
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `content-length: ${body.length}`,
      'connection: close'
    ]
    endGently(socket, Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]))
  }

  #problem(error: DomainError, path: string): Problem {
    const requestId = this.#newRequestId()
    const problem = toProblem(error, { base: this.#address.base, path, requestId })
    this.#log.info({ requestId, status: problem.status, code: error.code }, 'malformed HTTP')
    const strict = this.#strictTransport ? { 'strict-transport-security': STRICT_TRANSPORT } : {}
    return { ...problem, headers: { ...problem.headers, 'x-request-id': requestId, ...strict } }
  }
}

function unknownExpectation(): DomainError {
  return new DomainError('request.malformed', 'The header Expect may only say 100-continue.')
}

function rejectionOf(error: ParserError): DomainError {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new DomainError('request.malformed', 'The request did not arrive in full in time.')
  }
  if (error.code === 'HPE_INVALID_HEADER_TOKEN' && /\nidempotency-key:[^\n]*$/i.test(parsedOf(error))) {
    return new DomainError(
      'idempotency.key.invalid',
      'The header Idempotency-Key must be 1 to 255 visible ASCII characters.'
    )
  }
  if (error.code !== 'HPE_HEADER_OVERFLOW') {
    return new DomainError('request.malformed', 'The request is not well-formed HTTP/1.1.')
  }
  return stillInTarget(packetOf(error))
    ? new DomainError('uri.too-long', 'The request target is longer than 64 KiB.')
    : new DomainError('headers.too-large', 'The request line and headers are longer than 64 KiB together.')
}

/** Far past the limit the parser tells only its last packet: one without a line end or a space is a target going on. */
function stillInTarget(packet: string): boolean {
  return !/[\r\n]| .* |: /.test(packet)
}

function packetOf({ rawPacket }: ParserError): string {
  return Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1') : ''
}

/** What came before the fault. */
function parsedOf(error: ParserError): string {
  return packetOf(error).slice(0, bytesParsedOf(error))
}

function bytesParsedOf({ bytesParsed }: ParserError): number {
  return typeof bytesParsed === 'number' ? bytesParsed : 0
}

/** Ends a connection in a way that lets the other side read what was sent to it. */
function endGently(socket: Socket, last: Buffer = Buffer.alloc(0)): void {
  socket.end(last)
  setTimeout(() => socket.destroy(), LINGER).unref()
}
