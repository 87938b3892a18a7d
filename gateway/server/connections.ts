import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from '../../shared/logger.js'
import { LENIENCE, lenienceOf, ReadingClient, SendingClient, unacknowledgedBytes } from './client-progress.js'

/** What a client may take, in milliseconds (contract.md section 2, Time). */
export interface ConnectionTimes {
  /** From the first byte of a request's head, or from the start of a connection, to the end of the head. */
  readonly head: number
  /** Without a byte of a body that is not whole. */
  readonly body: number
  /** Without the client reading of an answer that waits for it. */
  readonly answer: number
}

export const CONNECTION_TIMES: ConnectionTimes = { head: 15_000, body: 30_000, answer: 30_000 }

/** Pipelined requests of one connection that may wait for their turn before no more bytes are read from it. */
const MAX_WAITING = 16

/** How often a connection is looked at while the shortest of its times passes. */
const LOOKS = 10

/** Milliseconds between two looks. */
export function lookInterval({ head, body, answer }: ConnectionTimes): number {
  return Math.max(1, Math.floor(Math.min(head, body, answer) / LOOKS))
}

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT'

interface Waiting {
  readonly response: ServerResponse
  readonly begin: () => void
}

interface Connection {
  readonly socket: Socket
  /** The request whose head came last: only its body can be incomplete. */
  latest: IncomingMessage | undefined
  answering: ServerResponse | undefined
  readonly waiting: Waiting[]
  /** Looks since a head was late that was not the client's to send; undefined while none was. */
  lateHead: number | undefined
  /** Bytes that had been read of it when it was first seen idle after its last answer. */
  readWhenIdle: number | undefined
  /** While nothing is read from it: what stops Node, which resumes a socket whenever a body is read. */
  pausing: (() => void) | undefined
  /** Since the last head. */
  wasPaused: boolean
  readonly sending: SendingClient
  readonly reading: ReadingClient
}

/**
 * The client's side of every connection. It holds what can be held for all of them at once: a socket always has an
 * error listener, whoever it is handed to; requests of one connection are answered one at a time, so that what waits for
 * a client is bounded; who sends or reads nothing for too long is disconnected.
 */
export class Connections {
  readonly #times: ConnectionTimes
  readonly #maxConnections: number
  readonly #log: Logger
  readonly #open = new Map<Socket, Connection>()
  #looking = false

  constructor(options: { times: ConnectionTimes; maxConnections: number; log: Logger }) {
    this.#times = options.times
    this.#maxConnections = options.maxConnections
    this.#log = options.log
  }

  /** Node's own options of a server: it times the heads, which only its parser sees. */
  get serverOptions(): { readonly headersTimeout: number; readonly connectionsCheckingInterval: number } {
    return { headersTimeout: this.#times.head, connectionsCheckingInterval: this.#interval }
  }

  /** Before any other listener. For a server of TLS too: there `connection` is the bare socket, with an error listener. */
  attach(server: Server): void {
    server.maxConnections = this.#maxConnections
    server.prependListener('connection', (socket: Socket) => this.#opened(socket))
    server.prependListener('secureConnection', (socket: Socket) => this.#opened(socket))
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      keepFromFailing(request)
      keepFromFailing(response)
      const connection = this.#open.get(request.socket)
      if (connection !== undefined)
        Object.assign(connection, { latest: request, lateHead: undefined, readWhenIdle: undefined, wasPaused: false })
    })
    this.#warnOfDropped(server)
    server.once('listening', () => {
      const timer = setInterval(() => void this.#look(server), this.#interval).unref()
      server.once('close', () => clearInterval(timer))
    })
  }

  /**
   * Begins a request when those before it on its connection are answered (RFC 9112 section 9.3.2 allows more only where
   * all methods are safe). One whose connection closes meanwhile never begins.
   */
  inTurn(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
    const connection = this.#open.get(request.socket)
    // The streams of HTTP/2 have no order among them.
    if (connection === undefined || request.httpVersionMajor > 1) begin()
    else if (connection.answering === undefined) this.#begin(connection, { response, begin })
    else {
      connection.waiting.push({ response, begin })
      if (connection.waiting.length >= MAX_WAITING && connection.pausing === undefined) pause(connection)
    }
  }

  /**
   * Whether a timeout of Node's is not the client's fault: the rest of a head is not read while an answer before it is
   * under way. Its time begins anew after that.
   */
  excuses(error: Error, socket: Socket): boolean {
    const connection = this.#open.get(socket)
    if (!isTimeout(error) || connection === undefined || connection.latest?.complete !== true) return false
    if (connection.answering === undefined && !connection.wasPaused) return false
    connection.lateHead = 0
    connection.wasPaused = false
    return true
  }

  #begin(connection: Connection, { response, begin }: Waiting): void {
    connection.answering = response
    response.once('close', () => {
      connection.answering = undefined
      const next = connection.waiting.shift()
      if (next !== undefined) this.#begin(connection, next)
      if (connection.pausing !== undefined && connection.waiting.length < MAX_WAITING / 2) {
        resume(connection)
      }
    })
    begin()
  }

  #opened(socket: Socket): void {
    keepFromFailing(socket)
    const connection: Connection = {
      socket,
      latest: undefined,
      answering: undefined,
      waiting: [],
      lateHead: undefined,
      readWhenIdle: undefined,
      pausing: undefined,
      wasPaused: false,
      sending: new SendingClient(socket),
      reading: new ReadingClient(socket)
    }
    this.#open.set(socket, connection)
    socket.once('close', () => {
      this.#open.delete(socket)
      connection.waiting.length = 0
    })
  }

  get #interval(): number {
    return lookInterval(this.#times)
  }

  #warnOfDropped(server: Server): void {
    let dropped = 0
    server.on('drop', () => {
      dropped += 1
      if (dropped > 1) return
      this.#log.warn({ maxConnections: this.#maxConnections }, 'connections are refused: MAX_CONNECTIONS is reached')
      setTimeout(() => {
        if (dropped > 1) this.#log.warn({ refused: dropped }, 'connections were refused within a minute')
        dropped = 0
      }, 60_000).unref()
    })
  }

  /** Never rejects. */
  async #look(server: Server): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    const { body, answer } = this.#times
    const silent: Connection[] = []
    for (const connection of this.#open.values()) {
      const { sending, reading, latest, waiting } = connection
      const late = sending.look(latest, waiting.length > 0) * this.#interval - body
      // Once it is answered as Node answers late heads, and where that did not end it, it ends here.
      if (late >= this.#interval) this.#close(connection, 'sent no more of a body')
      else if (late >= 0 || this.#sendsNoHead(connection)) server.emit('clientError', timeout(), connection.socket)
      // From early on: a step that came before the first comparison is not seen.
      else if (reading.look() * this.#interval >= answer / LOOKS) silent.push(connection)
    }
    const queues = silent.length === 0 ? undefined : await unacknowledgedBytes()
    for (const connection of silent) {
      const { reading } = connection
      const looks = queues === undefined ? reading.looks / LENIENCE : reading.compare(queues) / lenienceOf(connection)
      if (looks * this.#interval >= answer) this.#close(connection, 'read no more of an answer')
    }
    this.#looking = false
  }

  /**
   * Node's parser passes over the blank lines before a head without a timeout of its own, and each of them begins the
   * time of an idle connection anew (RFC 9112 section 2.2 has them ignored): here they are the start of a head.
   */
  #sendsNoHead(connection: Connection): boolean {
    const { latest, answering, socket } = connection
    if (latest?.complete === true && answering === undefined) {
      connection.readWhenIdle ??= socket.bytesRead
      if (socket.bytesRead > connection.readWhenIdle) connection.lateHead ??= 0
    }
    if (connection.lateHead === undefined) return false
    connection.lateHead = connection.answering === undefined ? connection.lateHead + 1 : 0
    return connection.lateHead * this.#interval >= this.#times.head
  }

  #close({ socket }: Connection, why: string): void {
    this.#log.info({ remoteAddress: socket.remoteAddress, why }, 'connection closed: its client is too slow')
    socket.destroy()
  }
}

/** Without a listener an `error` would end the process, and Node takes its own off what it hands to others. */
export function keepFromFailing<Stream extends NodeJS.EventEmitter>(stream: Stream): Stream {
  return stream.on('error', () => {})
}

function pause(connection: Connection): void {
  connection.pausing = () => connection.socket.pause()
  // Behind Node's own listener, which it has to revoke.
  connection.socket.on('resume', connection.pausing).pause()
}

function resume(connection: Connection): void {
  if (connection.pausing !== undefined) connection.socket.off('resume', connection.pausing).resume()
  connection.pausing = undefined
  connection.wasPaused = true
}

/** As Node tells it. */
function timeout(): Error {
  return Object.assign(new Error('A request came no further.'), { code: TIMEOUT })
}

function isTimeout(error: Error): boolean {
  return 'code' in error && error.code === TIMEOUT
}
