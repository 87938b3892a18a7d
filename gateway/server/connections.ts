import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer, type TLSSocket } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { isLoopback, throttledAddress } from '../../shared/ip-address.js'
import type { Logger } from '../../shared/logger.js'
import type { MemoryGuard } from '../../shared/memory-guard.js'
import { forwardedFor, type TrustedProxies } from '../http/client-address.js'
import { DownloadProgress, unacknowledgedBytes, type UnacknowledgedBytes, UploadProgress } from './client-progress.js'
import { announcesBody } from '../http/json-body.js'
import type { MalformedHttp } from './malformed-http.js'
import { countPieces, hasLargeHead, type OpenRequests } from './open-requests.js'
import { unsentBounds } from './unsent-answers.js'

/** How long a client may take, in milliseconds (contract.md section 2, Time). */
export interface ConnectionTimeouts {
  /** From the first byte of a request head, or from the start of a connection, to the end of the head. */
  readonly head: number
  /** Without a further byte of an incomplete request body. */
  readonly body: number
  /** With the client reading a response that waits for it more slowly than the lowest rate. */
  readonly response: number
}

export const CONNECTION_TIMEOUTS: ConnectionTimeouts = { head: 15_000, body: 30_000, response: 30_000 }

/** How often a connection is checked during the shortest of its timeouts. */
const CHECKS_PER_TIMEOUT = 10

/** Milliseconds between two checks. */
export function checkInterval({ head, body, response }: ConnectionTimeouts): number {
  return Math.max(1, Math.floor(Math.min(head, body, response) / CHECKS_PER_TIMEOUT))
}

/**
 * How many times longer a client may take to read if the operating system does not report what it still holds for it: a
 * few megabytes are in its buffers, and a client that reads 10 KB/s needs minutes for them.
 */
export const UNKNOWN_QUEUE_FACTOR = 10

/**
 * The same on the loopback interface. Linux reports progress there in large steps: a full receiver announces room only
 * once up to 330 KB of it is free, which takes a client of 10 KB/s 33 seconds. Over a network a step is a few packets.
 */
const LOOPBACK_FACTOR = 4 / 3

/** The factor by which the timeout for reading is longer for this client. */
export function readTimeoutFactor(socket: Socket, queues: UnacknowledgedBytes | undefined): number {
  if (queues === undefined) return UNKNOWN_QUEUE_FACTOR
  return isLoopback(`${socket.remoteAddress}`) ? LOOPBACK_FACTOR : 1
}

/** Pipelined requests of one connection that may wait before no more bytes are read from it. */
const MAX_QUEUED = 16

/** Milliseconds in which an address that has had too many requests open gets no connection. */
const CLOSED_TIME = 2000

/** Addresses that get no connection at a time. Beyond, the one that was seen least lately is forgotten. */
const MAX_CLOSED = 10_000

/** The part of all connections that one address may hold. */
const SHARE_OF_ADDRESS = 1 / 4

/** Bytes that Node may keep of a head that is not whole, with many lines or a long one. */
const HALF_HEAD = 128 * 1024

/** Bytes of a head that has begun, from which its connection is closed while the memory is full. */
const HELD_BACK = 1024

/** Milliseconds after a new connection in which others may wait for theirs: some turns of the event loop. */
const OPENING = 20

/** Milliseconds between two looks at the memory. */
const MEMORY_INTERVAL = 100

/** The code of Node's own error for a late head. */
const REQUEST_TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT'

interface QueuedRequest {
  readonly response: ServerResponse
  readonly start: () => void
}

interface ClientConnection {
  readonly socket: Socket
  /** Not the one below TLS, and not one of HTTP/2. */
  readonly isHttp1: boolean
  /** The request whose head came last. Only its body can be incomplete. */
  latest: IncomingMessage | undefined
  /** The response that is being sent. */
  current: ServerResponse | undefined
  readonly queue: QueuedRequest[]
  /** What is to be called when a request that counts has ended, by its response. */
  readonly counted: Map<ServerResponse, () => void>
  /** Checks since a head began to be late for a reason other than the client; undefined if there is none. */
  lateHeadChecks: number | undefined
  /** `bytesRead` of the socket when the last head had come. */
  bytesReadAtHead: number
  /** `bytesRead` of the socket when the connection was first seen idle after its last response. */
  bytesReadWhenIdle: number | undefined
  /** Set while nothing is read: the listener that pauses again, since Node resumes a socket when a body is read. */
  pauseAgain: (() => void) | undefined
  /** Whether reading was paused since the last head. */
  wasPaused: boolean
  readonly upload: UploadProgress
  readonly download: DownloadProgress
}

/**
 * The client side of every connection. It makes sure that every socket always has an error listener, that requests of one
 * connection are answered one at a time, so that the memory for one client is bounded, and that a client which sends or
 * reads nothing for too long is disconnected.
 *
 * The queue of a connection is an array and not a p-queue: a request that has no one before it starts at once, without a
 * promise, and the queue has to stop reading from the socket when it is full.
 */
export class ClientConnections {
  readonly #timeouts: ConnectionTimeouts
  readonly #maxConnections: number
  /** Connections of one address. */
  readonly #share: number
  readonly #trustedProxies: Pick<TrustedProxies, 'trusts'>
  readonly #openRequests: OpenRequests
  readonly #refuseRequest: MalformedHttp['refuseRequest']
  readonly #memory: MemoryGuard
  readonly #log: Logger
  readonly #now: () => number
  readonly #open = new Map<Socket, ClientConnection>()
  /** How many each address has open. */
  readonly #ofAddress = new Map<string, number>()
  /** Addresses whose new connections are closed. */
  readonly #closed = new LRUCache<string, true>({ max: MAX_CLOSED, ttl: CLOSED_TIME })
  readonly #warnOfShare: (about: object) => void
  readonly #warnOfFlood: (about: object) => void
  #checking = false
  #lastOpened = -Infinity

  constructor(options: {
    timeouts: ConnectionTimeouts
    maxConnections: number
    trustedProxies: Pick<TrustedProxies, 'trusts'>
    openRequests: OpenRequests
    refuseRequest: MalformedHttp['refuseRequest']
    memory: MemoryGuard
    log: Logger
    /** Milliseconds, by a clock that only goes forward. */
    now?: (() => number) | undefined
  }) {
    this.#timeouts = options.timeouts
    this.#maxConnections = options.maxConnections
    const most = Math.min(options.maxConnections * SHARE_OF_ADDRESS, unsentBounds().process / HALF_HEAD)
    this.#share = Math.max(1, Math.floor(most))
    this.#trustedProxies = options.trustedProxies
    this.#openRequests = options.openRequests
    this.#refuseRequest = options.refuseRequest
    this.#memory = options.memory
    this.#log = options.log
    this.#now = options.now ?? (() => performance.now())
    this.#warnOfShare = this.#warnOnce('connections of an address are refused: it has its share of MAX_CONNECTIONS')
    this.#warnOfFlood = this.#warnOnce('connections of an address are closed: it has too many requests open')
  }

  /** Whether one was opened within the last turns of the event loop, so that others may wait to be. */
  get opensSome(): boolean {
    return this.#now() - this.#lastOpened < OPENING
  }

  /** Those that are open. */
  get count(): number {
    return this.#open.size
  }

  /** Options for Node's server, which measures the time of heads itself: only its parser sees them. */
  get serverOptions(): { readonly headersTimeout: number; readonly connectionsCheckingInterval: number } {
    return { headersTimeout: this.#timeouts.head, connectionsCheckingInterval: this.#interval }
  }

  /**
   * Has to be called before any other listener is added. On a TLS server `connection` brings the raw socket, which needs
   * an error listener as well, and `secureConnection` the one that is used.
   */
  attach(server: Server): void {
    server.maxConnections = this.#maxConnections
    server.prependListener('connection', (socket: Socket) => {
      this.#lastOpened = this.#now()
      this.#onOpen(socket, !(server instanceof TlsServer))
      if (!this.#isClosed(socket)) this.#countOfAddress(socket)
    })
    server.prependListener('secureConnection', (socket: TLSSocket) => {
      this.#onOpen(socket, socket.alpnProtocol !== 'h2')
    })
    const handlers = server.listeners('request')
    server.removeAllListeners('request')
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      ignoreErrors(request)
      ignoreErrors(response)
      const connection = this.#open.get(request.socket)
      // The answer before it was the last one of its connection.
      if (request.socket.writableEnded) return
      if (connection !== undefined) {
        connection.latest = request
        connection.lateHeadChecks = undefined
        connection.bytesReadAtHead = request.socket.bytesRead
        connection.bytesReadWhenIdle = undefined
        connection.wasPaused = false
        const isCounted = connection.current !== undefined || hasLargeHead(request) || announcesBody(request.headers)
        if (isCounted && !this.#isAdmitted(connection, request, response)) return
      }
      for (const handler of handlers) handler.call(server, request, response)
    })
    const warnOfDropped = this.#warnOnce('connections are refused: MAX_CONNECTIONS is reached')
    server.on('drop', () => warnOfDropped({ maxConnections: this.#maxConnections }))
    server.once('listening', () => {
      const timer = setInterval(() => void this.#check(server), this.#interval).unref()
      const memoryTimer = setInterval(() => {
        if (this.#memory.isFull()) this.#closeHalfHeads()
      }, MEMORY_INTERVAL).unref()
      server.once('close', () => {
        clearInterval(timer)
        clearInterval(memoryTimer)
      })
    })
  }

  /**
   * Starts a request when the requests before it on its connection are answered. RFC 9112 section 9.3.2 allows servers to
   * process pipelined requests in parallel only if all of them are safe. A request never starts if its connection closes
   * first.
   */
  startInOrder(request: IncomingMessage, response: ServerResponse, start: () => void): void {
    const connection = this.#open.get(request.socket)
    // The streams of an HTTP/2 connection are independent of each other.
    if (connection === undefined || request.httpVersionMajor > 1) start()
    else if (connection.current === undefined) this.#start(connection, { response, start })
    else {
      connection.queue.push({ response, start })
      if (connection.queue.length >= MAX_QUEUED && connection.pauseAgain === undefined) pauseReading(connection)
    }
  }

  /**
   * Whether to ignore Node's timeout error because the client is not the cause: the rest of a head is not read while an
   * earlier response is being sent. The client then gets the full time again.
   */
  ignoresTimeout(error: Error, socket: Socket): boolean {
    const connection = this.#open.get(socket)
    const isTimeout = 'code' in error && error.code === REQUEST_TIMEOUT
    if (!isTimeout || connection === undefined || connection.latest?.complete !== true) return false
    if (connection.current === undefined && !connection.wasPaused) return false
    connection.lateHeadChecks = 0
    connection.wasPaused = false
    return true
  }

  /**
   * Called when the server is about to close, which ends the connections that have been answered: ends those that never sent
   * anything, and the others after the last answer that they wait for. Otherwise they would be open, and the server with
   * them, for the time that clients may keep an idle connection.
   */
  endAfterAnswers(server: Server): void {
    for (const { socket, latest, current, queue } of this.#open.values()) {
      if (latest === undefined && socket.bytesRead === 0) socket.destroy()
      const last = queue.at(-1)?.response ?? current
      if (last === undefined) continue
      // Where the head is sent already, the client does not learn it from the answer.
      last.shouldKeepAlive = false
      last.once('close', () => setImmediate(() => server.closeIdleConnections()))
    }
  }

  /** Whether a request that is pipelined, or has a large head or a body, may go on. If not, it is refused. */
  #isAdmitted(connection: ClientConnection, request: IncomingMessage, response: ServerResponse): boolean {
    const { socket, counted } = connection
    // Node emits all requests of what it has read of a connection, whatever becomes of it.
    if (socket.destroyed) return false
    const { remoteAddress } = socket
    const { headers, rawHeaders } = request
    const open = this.#openRequests.admit({ remoteAddress, forwardedFor: forwardedFor(headers) }, rawHeaders)
    if (open === undefined) {
      this.#refuse(connection, response)
      return false
    }
    counted.set(response, open.end)
    const end = (): void => {
      open.end()
      counted.delete(response)
    }
    if (!announcesBody(headers)) {
      response.once('close', end)
      return true
    }
    // The rest of a body may come after its answer.
    response.once('close', () => {
      if (request.complete) end()
    })
    countPieces(request, {
      receivePiece: open.receivePiece,
      forgetPieces: open.forgetPieces,
      refuse: () => this.#refuse(connection, response),
      complete: () => {
        if (response.closed) end()
      }
    })
    return true
  }

  /** Answers a trusted proxy where that is possible; otherwise `closeAllOf` is called. */
  #refuse({ socket, current }: ClientConnection, response: ServerResponse): void {
    const isNext = current === undefined || current === response
    if (!isNext || response.headersSent || !this.#trustedProxies.trusts(socket.remoteAddress ?? '')) {
      this.closeAllOf(socket)
      return
    }
    this.#warnOfFlood({ remoteAddress: socket.remoteAddress })
    this.#refuseRequest(socket, response.req.url ?? '/')
  }

  /**
   * Closes the connections of an address that has more requests open than it may have, and for a while new ones: what has
   * come on them would take tens of milliseconds each to be parsed. Of a trusted proxy only this connection is closed. RFC
   * 9112 section 9.3.2 lets a server close a connection before it has answered.
   */
  closeAllOf(socket: Socket): void {
    const { remoteAddress = '' } = socket
    this.#warnOfFlood({ remoteAddress })
    socket.destroy()
    if (this.#trustedProxies.trusts(remoteAddress)) return
    const address = throttledAddress(remoteAddress)
    this.#closed.set(address, true)
    for (const other of this.#open.keys()) {
      if (throttledAddress(other.remoteAddress ?? '') === address) other.destroy()
    }
  }

  /**
   * Closes the connections with half a head while the memory is full. Only the parser knows how much it keeps of them, and
   * their share of an address does not bound what many addresses hold together.
   */
  #closeHalfHeads(): void {
    for (const { socket, isHttp1, latest, current, bytesReadAtHead, bytesReadWhenIdle } of this.#open.values()) {
      const isWithinHead = isHttp1 && current === undefined && latest?.complete !== false
      if (isWithinHead && socket.bytesRead - (bytesReadWhenIdle ?? bytesReadAtHead) > HELD_BACK) socket.destroy()
    }
  }

  #start(connection: ClientConnection, { response, start }: QueuedRequest): void {
    connection.current = response
    // A response emits it once. `once` would make a second function for each request.
    response.on('close', () => {
      connection.current = undefined
      const next = connection.queue.shift()
      if (next !== undefined) this.#start(connection, next)
      if (connection.pauseAgain !== undefined && connection.queue.length < MAX_QUEUED / 2) {
        resumeReading(connection)
      }
    })
    start()
  }

  #onOpen(socket: Socket, isHttp1: boolean): void {
    ignoreErrors(socket)
    const connection: ClientConnection = {
      socket,
      isHttp1,
      latest: undefined,
      current: undefined,
      queue: [],
      counted: new Map(),
      lateHeadChecks: undefined,
      bytesReadAtHead: 0,
      bytesReadWhenIdle: undefined,
      pauseAgain: undefined,
      wasPaused: false,
      upload: new UploadProgress(socket),
      download: new DownloadProgress(socket, this.#interval)
    }
    this.#open.set(socket, connection)
    socket.once('close', () => {
      this.#open.delete(socket)
      connection.queue.length = 0
      // Node does not close a response that was never sent.
      for (const end of connection.counted.values()) end()
      connection.counted.clear()
    })
  }

  get #interval(): number {
    return checkInterval(this.#timeouts)
  }

  /** Closes a connection of an address that gets none. */
  #isClosed(socket: Socket): boolean {
    if (this.#closed.size === 0 || !this.#closed.has(throttledAddress(socket.remoteAddress ?? ''))) return false
    closeUnread(socket)
    return true
  }

  /** Closes a connection beyond the share of its address. This machine and trusted proxies connect for many clients. */
  #countOfAddress(socket: Socket): void {
    const { remoteAddress } = socket
    if (remoteAddress === undefined || isLoopback(remoteAddress) || this.#trustedProxies.trusts(remoteAddress)) return
    const address = throttledAddress(remoteAddress)
    const count = this.#ofAddress.get(address) ?? 0
    if (count >= this.#share) {
      this.#warnOfShare({ remoteAddress, share: this.#share })
      closeUnread(socket)
      return
    }
    this.#ofAddress.set(address, count + 1)
    socket.once('close', () => {
      const left = (this.#ofAddress.get(address) ?? 1) - 1
      if (left === 0) this.#ofAddress.delete(address)
      else this.#ofAddress.set(address, left)
    })
  }

  /** Logs the first of many refusals, and a minute later how many they were. */
  #warnOnce(message: string): (about: object) => void {
    let refused = 0
    return (about) => {
      refused += 1
      if (refused > 1) return
      this.#log.warn(about, message)
      setTimeout(() => {
        if (refused > 1) this.#log.warn({ refused }, 'connections were refused within a minute')
        refused = 0
      }, 60_000).unref()
    }
  }

  /** Disconnects clients that have passed a timeout. Never rejects. */
  async #check(server: Server): Promise<void> {
    if (this.#checking) return
    this.#checking = true
    const { body, response } = this.#timeouts
    const unread: ClientConnection[] = []
    for (const connection of this.#open.values()) {
      const { upload, download, latest, queue } = connection
      const overdue = upload.check(latest, queue.length > 0) * this.#interval - body
      // A late body is first answered like a late head. If that has not closed the connection, this does.
      if (overdue >= this.#interval) this.#close(connection, 'sent no more of a body')
      else if (overdue >= 0 || this.#isHeadLate(connection)) {
        server.emit('clientError', requestTimeout(), connection.socket)
      }
      // The comparison with the system's queues starts early, since it cannot see progress before its first value.
      else if (download.check() * this.#interval >= response / CHECKS_PER_TIMEOUT) unread.push(connection)
    }
    const queues = unread.length === 0 ? undefined : await unacknowledgedBytes()
    for (const connection of unread) {
      const { download, socket } = connection
      const behind = queues === undefined ? download.checksBehind : download.correct(queues)
      if ((behind / readTimeoutFactor(socket, queues)) * this.#interval >= response) {
        this.#close(connection, 'read an answer too slowly')
      }
    }
    this.#checking = false
  }

  /**
   * Node's parser skips blank lines before a head (RFC 9112 section 2.2) without starting its timeout, and each of them
   * restarts the timeout of an idle connection. Here they count as the start of a head.
   */
  #isHeadLate(connection: ClientConnection): boolean {
    const { latest, current, socket } = connection
    if (latest?.complete === true && current === undefined) {
      connection.bytesReadWhenIdle ??= socket.bytesRead
      if (socket.bytesRead > connection.bytesReadWhenIdle) connection.lateHeadChecks ??= 0
    }
    if (connection.lateHeadChecks === undefined) return false
    connection.lateHeadChecks = connection.current === undefined ? connection.lateHeadChecks + 1 : 0
    return connection.lateHeadChecks * this.#interval >= this.#timeouts.head
  }

  #close({ socket }: ClientConnection, why: string): void {
    this.#log.info({ remoteAddress: socket.remoteAddress, why }, 'connection closed: its client is too slow')
    socket.destroy()
  }
}

/**
 * Adds an `error` listener that does nothing. Without any listener an `error` would end the process, and Node removes its
 * own listener from a socket that it hands to others.
 */
export function ignoreErrors<Stream extends NodeJS.EventEmitter>(stream: Stream): Stream {
  return stream.on('error', doNothing)
}

function doNothing(): void {}

/** Closes a new connection before anything is read from it, and after the listeners of Node have taken it. */
function closeUnread(socket: Socket): void {
  process.nextTick(() => socket.destroy())
}

function pauseReading(connection: ClientConnection): void {
  connection.pauseAgain = () => connection.socket.pause()
  // This listener runs after Node's own one and undoes what that did.
  connection.socket.on('resume', connection.pauseAgain).pause()
}

function resumeReading(connection: ClientConnection): void {
  if (connection.pauseAgain !== undefined) connection.socket.off('resume', connection.pauseAgain).resume()
  connection.pauseAgain = undefined
  connection.wasPaused = true
}

/** An error like Node's own for a late head. */
function requestTimeout(): Error {
  return Object.assign(new Error('A request came no further.'), { code: REQUEST_TIMEOUT })
}
