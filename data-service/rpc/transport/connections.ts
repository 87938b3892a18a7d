import { constants, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { type Metadata, type Server, status } from '@grpc/grpc-js'
import { BrokenSockets } from '../../../shared/transport/broken-sockets.js'
import { throttledAddress } from '../../../shared/ip-address.js'
import { CALL_STREAM } from '../../../shared/transport/call-stream.js'
import {
  boundResets,
  type ResetLimits,
  unlessReset,
  bytesOfHead,
  type StreamArguments
} from '../../../shared/transport/http2-streams.js'
import { http2ServersOf } from './grpc-inner.js'
import { MAX_CALL_TIME } from './interceptors.js'
import { hasTooMuchMetadata, isCompressed, UnfinishedRequests } from './unfinished-requests.js'

/** Connections of one address. A gateway has one, and its watch of the health shares it. */
const MAX_CONNECTIONS_OF_ADDRESS = 128

/** Connections in all, of each address that the server listens at. One that is idle takes some 50 KB. */
const MAX_CONNECTIONS = 1024

/**
 * HTTP/2 streams of a connection at a time. A gateway has one connection for its stream of calls, the watch of the health
 * and its exports, of which 80 run or wait.
 */
export const MAX_STREAMS = 100

/** How many more calls of one connection may be reset before they begin than begin. */
const MAX_RESETS = 100

/** Milliseconds after which a call with one answer is broken off, although its answer has not been taken. */
const MAX_STREAM_TIME = MAX_CALL_TIME + 5000

/** Bytes of the header lines of a call: four times those of the largest access token. */
const MAX_HEAD = 32 * 1024

/** Names the HTTP/2 stream of a stream of calls. What a peer sends under this name is replaced. */
const STREAM_METADATA = 'x-transport-stream'

/**
 * What grpc-js leaves open of a server's connections: how many an address may have, the header lines of a call, calls that are
 * reset at once or not sent to the end, and an end of HTTP/2 streams whose peer takes nothing. A status waits behind what was sent before it.
 */
export class Connections {
  readonly #isUnary: (path: string) => boolean
  readonly #byAddress = new Map<string, number>()
  /** HTTP/2 streams of streams of calls. */
  readonly #streams = new Map<string, ServerHttp2Stream>()
  readonly #unfinished = new UnfinishedRequests()
  readonly #broken = new BrokenSockets()
  #lastStream = 0

  /** `isUnary`: whether the rpc of a path has one request and one answer. */
  constructor(isUnary: (path: string) => boolean) {
    this.#isUnary = isUnary
  }

  /** To be called when the server listens, before a call can have arrived. */
  watch(server: Server): void {
    for (const http2Server of http2ServersOf(server)) {
      http2Server.maxConnections = MAX_CONNECTIONS
      http2Server.prependListener('connection', (socket: Socket) => this.#countConnection(socket))
      this.#boundCalls(http2Server)
    }
  }

  #boundCalls(http2Server: Http2Server): void {
    const begun = new WeakSet<ServerHttp2Stream>()
    const limits: ResetLimits = { resets: MAX_RESETS, streams: MAX_STREAMS, isVain: (stream) => !begun.has(stream) }
    let latest: Socket | undefined
    const isOverTls = http2Server instanceof TlsServer
    http2Server.prependListener(isOverTls ? 'secureConnection' : 'connection', (socket: Socket) => (latest = socket))
    // Node makes it synchronously in a listener after this one, but not for a client that agrees on no HTTP/2.
    http2Server.on('session', (session) => {
      if (latest === undefined) return
      boundResets(session, latest, limits)
      this.#broken.watch(session, latest)
    })
    const listeners = http2Server.listeners('stream')
    http2Server.removeAllListeners('stream')
    http2Server.on('stream', (...args: StreamArguments) => {
      const [stream, headers, , lines] = args
      if (bytesOfHead(lines) > MAX_HEAD) return endOf(stream)
      unlessReset(stream, () => {
        // It counts as one that has not begun.
        if (hasTooMuchMetadata(headers)) return stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
        begun.add(stream)
        // gRPC has RESOURCE_EXHAUSTED for the caller.
        if (!this.#unfinished.admits(stream)) return stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM)
        if (isCompressed(headers)) return refuseCompressed(stream)
        repeatAuthorization(headers, lines)
        this.#boundStream(stream, headers)
        for (const listener of listeners) listener.apply(http2Server, args)
        this.#unfinished.bound(stream, headers)
        // Of a call without a message Node has emitted it before grpc-js listened.
        if (stream.readableEnded) stream.emit('end')
      })
    })
  }

  /** Ends the HTTP/2 stream of a stream of calls. What waits to be sent on it is dropped. */
  breakOff(call: StreamOfCalls): void {
    this.#streamOf(call)?.close(constants.NGHTTP2_CANCEL)
  }

  /** A message of a stream of calls has been read: what is held for it is counted by its calls. */
  arrived(call: StreamOfCalls, bytes: number): void {
    const stream = this.#streamOf(call)
    if (stream !== undefined) this.#unfinished.arrived(stream, bytes)
  }

  #streamOf({ metadata }: StreamOfCalls): ServerHttp2Stream | undefined {
    const [number] = metadata.get(STREAM_METADATA)
    return this.#streams.get(String(number))
  }

  #countConnection(socket: Socket): void {
    // Without an address it is a Unix socket, or it is closed already.
    const { remoteAddress } = socket
    if (remoteAddress === undefined) return
    const address = throttledAddress(remoteAddress)
    const count = (this.#byAddress.get(address) ?? 0) + 1
    this.#byAddress.set(address, count)
    socket.once('close', () => {
      const left = (this.#byAddress.get(address) ?? 1) - 1
      if (left === 0) this.#byAddress.delete(address)
      else this.#byAddress.set(address, left)
    })
    // The listeners after this one make a session of the socket, which has to be whole for that.
    if (count > MAX_CONNECTIONS_OF_ADDRESS) process.nextTick(() => socket.destroy())
  }

  #boundStream(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const path = String(headers[':path'])
    if (path === CALL_STREAM.path) {
      const number = String(++this.#lastStream)
      headers[STREAM_METADATA] = number
      this.#streams.set(number, stream)
      stream.once('close', () => this.#streams.delete(number))
    } else if (this.#isUnary(path)) {
      const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), MAX_STREAM_TIME).unref()
      stream.once('close', () => clearTimeout(timer))
    }
  }
}

/**
 * Ends the connection of a call whose head is too large. A byte of it may stand for kilobytes (RFC 7541 section 2.3), so such
 * calls cost their sender nothing, and more would follow.
 */
function endOf(stream: ServerHttp2Stream): void {
  stream.on('error', () => undefined)
  stream.session?.destroy()
}

interface StreamOfCalls {
  readonly metadata: Metadata
}

/** As gRPC has it for a coding that a server does not take. */
function refuseCompressed(stream: ServerHttp2Stream): void {
  const trailers = {
    ':status': 200,
    'content-type': 'application/grpc',
    'grpc-accept-encoding': 'identity',
    'grpc-status': String(status.UNIMPLEMENTED),
    'grpc-message': 'Requests are taken without compression.'
  }
  stream.respond(trailers, { endStream: true })
  stream.close(constants.NGHTTP2_NO_ERROR)
}

/**
 * Shows every `authorization` of a call in its metadata. Node keeps the first of several in HTTP/2, so that a caller with
 * two tokens would be whoever the first one says.
 */
function repeatAuthorization(headers: Record<string, unknown>, lines: readonly string[]): void {
  const values = lines.filter((_, index) => index % 2 === 1 && lines[index - 1] === 'authorization')
  if (values.length > 1) headers['authorization'] = values
}
