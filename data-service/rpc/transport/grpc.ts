import { isIP } from 'node:net'
import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  Metadata,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServiceDefinition,
  type ServerWritableStream
} from '@grpc/grpc-js'
import type protobuf from 'protobufjs'
import { TIMES_METADATA } from '../../../shared/transport/call-frames.js'
import { DomainError } from '../../../shared/errors.js'
import { toRpcStatus } from '../../../shared/transport/rpc-status.js'
import { MESSAGE_OPTIONS } from '../../../shared/transport/wire.js'
import { CLIENT_ADDRESS_METADATA, GATEWAY_SECRET_METADATA } from '../../../shared/tls.js'
import { Turns } from '../../../shared/turns.js'
import { Stopwatch } from '../../observe/call-scope.js'
import { BoundedReader } from './bounded-reader.js'
import {
  callerGone,
  type Connection,
  type IncomingCall,
  type Intercepted,
  MAX_CALL_TIME,
  timeOut,
  UndecodableRequest
} from './interceptors.js'
import { type PeerBytes, untakenAnswers } from './peer-bytes.js'

type GrpcCall = ServerUnaryCall<unknown, unknown> | ServerWritableStream<unknown, unknown>

export function connectionOf(call: GrpcCall | ServerDuplexStream<unknown, unknown>): Connection {
  return {
    peerAddress: addressOf(call.getPeer()),
    gatewaySecrets: metadataTexts(call.metadata, GATEWAY_SECRET_METADATA),
    // grpc-js returns only a certificate that it has verified.
    peerCertificate: () => call.getAuthContext().sslPeerCertificate?.raw
  }
}

/** A grpc-js call in the form that the interceptors take. `abort` stops the call; after `settled` nothing is stopped any more. */
function incomingCall(
  call: GrpcCall,
  deadline = Number(call.getDeadline())
): {
  readonly incoming: IncomingCall
  abort(reason: Error): void
  settled(): void
} {
  const controller = new AbortController()
  const onTaken: (() => void)[] = []
  let running = true
  let isTaken = false
  const abort = (reason: () => Error): void => {
    if (running) controller.abort(reason())
    running = false
  }
  // grpc-js emits this when a client cancels or goes away and when the deadline passes, but also after every normal end,
  // which is when the client has taken the answer.
  call.on('cancelled', () => {
    abort(Date.now() >= deadline ? timeOut : callerGone)
    isTaken = true
    for (const listener of onTaken.splice(0)) listener()
  })
  return {
    incoming: {
      authorization: metadataTexts(call.metadata, 'authorization'),
      requestId: metadataTexts(call.metadata, 'x-request-id')[0],
      ...connectionOf(call),
      clientAddress: metadataTexts(call.metadata, CLIENT_ADDRESS_METADATA)[0],
      traceparent: metadataTexts(call.metadata, 'traceparent')[0],
      stopwatch: metadataTexts(call.metadata, TIMES_METADATA)[0] === '1' ? new Stopwatch() : undefined,
      deadline,
      signal: controller.signal,
      cancellation: controller.signal,
      onTaken: (listener) => {
        if (isTaken) listener()
        else onTaken.push(listener)
      }
    },
    abort: (reason) => {
      abort(() => reason)
    },
    settled: () => {
      running = false
    }
  }
}

/** Of `127.0.0.1:1234` or `[::1]:1234`. */
export function addressOf(peer: string): string | undefined {
  const host = peer.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
  return isIP(host) === 0 ? undefined : host
}

function metadataTexts(metadata: Metadata, name: string): string[] {
  return metadata.get(name).map(String)
}

/** Fields of a request of a generic service, which has up to 50 filters and writes rows as JSON. */
const MAX_GENERIC_FIELDS = 5000

/** Decodes the requests of a service by the names of their rpcs. */
type RequestDecoders = Readonly<Record<string, (bytes: Buffer) => unknown>>

/** Those of a service such as `entity.v1.EntityService`. They throw for a request with too many fields. */
export function boundedDecoders(root: protobuf.Root, service: string): RequestDecoders {
  return Object.fromEntries(
    root.lookupService(service).methodsArray.map(({ name, parent, requestType }) => {
      const type = (parent ?? root).lookupType(requestType)
      return [
        name,
        (bytes) => type.toObject(type.decode(new BoundedReader(bytes, MAX_GENERIC_FIELDS)), MESSAGE_OPTIONS)
      ]
    })
  )
}

/**
 * The service with requests that cannot be decoded as UndecodableRequests, since grpc-js has INTERNAL without details for
 * them, and with answers that may be bytes already. A service without decoders bounds the fields of its requests itself.
 */
export function withUndecodable<Service extends ServiceDefinition>(
  service: Service,
  decoders: RequestDecoders = {}
): Service {
  const entries = Object.entries(service).map(([name, rpc]) => {
    const decode = decoders[name] ?? rpc.requestDeserialize
    const requestDeserialize = (bytes: Buffer): unknown => {
      try {
        return decode(bytes) as unknown
      } catch (error) {
        return new UndecodableRequest(error)
      }
    }
    const responseSerialize = (message: unknown): Buffer =>
      Buffer.isBuffer(message) ? message : rpc.responseSerialize(message)
    return [name, { ...rpc, requestDeserialize, responseSerialize }] as const
  })
  // The rpcs are those of the service.
  return Object.fromEntries(entries) as unknown as Service
}

/**
 * The same service for grpc-js, which hands over the bytes of requests: a handler decodes its own when it begins. What
 * waits for the end of its call would take many times as much as a message.
 */
export function withBytes(service: ServiceDefinition): ServiceDefinition {
  return Object.fromEntries(
    Object.entries(service).map(([name, rpc]) => [name, { ...rpc, requestDeserialize: (bytes: Buffer) => bytes }])
  )
}

/** Whether an rpc has one request and one answer. */
export function isUnary({ requestStream, responseStream }: ServiceDefinition[string]): boolean {
  return !requestStream && !responseStream
}

/** Bytes that a unary call takes beside its request and its answer: its objects and those of its HTTP/2 stream. */
export const CALL_OVERHEAD = 8 * 1024

/** A call and whose bytes its own are counted with. */
interface CountedCall {
  readonly incoming: IncomingCall
  readonly peer: string
  readonly untaken: PeerBytes
}

/** Counts bytes of a call for its peer until the call has ended and its answer has been taken. */
function countUntilTaken(bytes: number, { incoming, peer, untaken }: CountedCall): void {
  untaken.count(peer, bytes)
  incoming.onTaken(() => untaken.count(peer, -bytes))
}

/**
 * Bytes from which a request is the only one of its peer in a turn. Two bytes can be a row, which costs microseconds before
 * anybody looks who its caller is: a request of a few kilobytes may take tens of milliseconds.
 */
const LARGE_REQUEST = 256

const largeRequests = new Turns(1)

/** A peer that opens a hundred calls on each of a hundred connections has thousands that come in one turn. */
const smallRequests = new Turns(4)

/** Begins a request in its turn. The calls that wait are counted by their bytes, which bounds them. Rejects if the caller goes before, and lets its request go. */
function inTurn<Result>(
  { request }: { readonly request: Buffer },
  { incoming, peer }: CountedCall,
  begin: () => Promise<Result>
): Promise<Result> {
  const isLarge = request.length > LARGE_REQUEST
  if (!isLarge && smallRequests.beginsNow(peer)) return begin()
  const turns = isLarge ? largeRequests : smallRequests
  return new Promise((resolve, reject) => {
    const leave = turns.enter(peer, () => void begin().then(resolve, reject))
    incoming.onTaken(() => {
      if (leave()) reject(callerGone())
    })
  })
}

/** The codecs of an rpc, of a service that is one of `withUndecodable`. */
interface Codecs<Request, Response> {
  readonly requestDeserialize: (bytes: Buffer) => Request
  readonly responseSerialize: (response: Response) => Buffer
}

/**
 * An intercepted handler as a unary grpc-js method of a service that is one of `withBytes`. The call is counted until its
 * answer has been taken.
 */
export function unaryCall<Request, Response>(
  handler: Intercepted<Request, Response>,
  { codecs, untaken }: { readonly codecs: Codecs<Request, Response>; readonly untaken: PeerBytes }
): handleUnaryCall<Buffer, Response | Buffer> {
  return (call, callback) => {
    const latest = Date.now() + MAX_CALL_TIME
    const given = Number(call.getDeadline())
    const isLonger = given > latest && given < Infinity
    const { incoming, abort, settled } = incomingCall(call, isLonger ? latest : given)
    const timer = isLonger ? setTimeout(() => abort(timeOut()), MAX_CALL_TIME) : undefined
    const end = (): void => {
      clearTimeout(timer)
      settled()
    }
    const counted = { incoming, peer: untaken.peerOf(incoming), untaken }
    if (untaken.isFull(counted.peer)) {
      end()
      return callback(statusOf(untakenAnswers(), incoming))
    }
    countUntilTaken(CALL_OVERHEAD + call.request.length, counted)
    const begin = (): Promise<Response> => handler(incoming, codecs.requestDeserialize(call.request))
    inTurn(call, counted, begin)
      .then((response) => codecs.responseSerialize(response))
      .then(
        (answer) => {
          end()
          if (!call.cancelled) countUntilTaken(answer.length, counted)
          callback(null, answer, metadataOfTimes(incoming))
        },
        (error: unknown) => {
          end()
          callback(statusOf(error, incoming))
        }
      )
  }
}

/** The metadata that tell the times of a call until now; undefined if it does not ask for them. */
function metadataOfTimes({ stopwatch }: IncomingCall): Metadata | undefined {
  if (stopwatch === undefined) return undefined
  const { data, sql } = stopwatch.times()
  const metadata = new Metadata()
  metadata.set(TIMES_METADATA, `${data} ${sql}`)
  return metadata
}

/** The status of a call that failed, with its times if it asks for them. */
function statusOf(error: unknown, incoming: IncomingCall): ReturnType<typeof toRpcStatus> {
  const failure = toRpcStatus(asDomainError(error))
  const times = metadataOfTimes(incoming)
  if (times !== undefined) failure.metadata.merge(times)
  return failure
}

/** Intercepted handlers reject only with DomainErrors. This makes sure of it. */
export function asDomainError(error: unknown): DomainError {
  return error instanceof DomainError ? error : new DomainError('internal', 'Something went wrong in the data service.')
}

/** Milliseconds after which a stream is aborted; undefined for never. */
export interface StreamTimes {
  /** While no message is ready to be sent. */
  readonly idle: number | undefined
  /** While the peer has not taken the message before. */
  readonly reader: number | undefined
}

const NO_TIMES: StreamTimes = { idle: undefined, reader: undefined }

/**
 * An intercepted streaming handler as a grpc-js method of a service that is one of `withBytes`. Its request is counted until
 * the call has ended. The next message is asked for when the last but one has been sent, so a slow reader slows down the reading from the database. Each message restarts both times. A call that asks for
 * its times is told those until its first message, in the initial metadata.
 */
export function streamCall<Request, Response>(
  handler: Intercepted<Request, AsyncIterable<Response>>,
  {
    codecs,
    untaken,
    timesOf
  }: {
    readonly codecs: Codecs<Request, Response>
    readonly untaken: PeerBytes
    readonly timesOf: (request: Request) => StreamTimes
  }
): handleServerStreamingCall<Buffer, Response> {
  return (call) => {
    const { incoming, abort, settled } = incomingCall(call)
    const counted = { incoming, peer: untaken.peerOf(incoming), untaken }
    if (untaken.isFull(counted.peer)) {
      settled()
      return void call.emit('error', statusOf(untakenAnswers(), incoming))
    }
    countUntilTaken(CALL_OVERHEAD + call.request.length, counted)
    let timer: NodeJS.Timeout | undefined
    const giveUpAfter = (time: number | undefined): void => {
      clearTimeout(timer)
      if (time !== undefined) timer = setTimeout(() => abort(timeOut()), time)
    }
    const sending = async (): Promise<void> => {
      const request: Request | UndecodableRequest = codecs.requestDeserialize(call.request)
      const { idle, reader } = request instanceof UndecodableRequest ? NO_TIMES : timesOf(request)
      giveUpAfter(idle)
      // One message is being sent while the next one is made. More would only take up memory.
      let sent = Promise.resolve()
      let isFirst = true
      for await (const message of await handler(incoming, request)) {
        giveUpAfter(reader)
        const times = isFirst ? metadataOfTimes(incoming) : undefined
        if (times !== undefined) call.sendMetadata(times)
        isFirst = false
        await sent
        sent = send(call, message, incoming.signal)
        giveUpAfter(idle)
      }
      giveUpAfter(reader)
      await sent
    }
    inTurn(call, counted, sending)
      .then(
        () => call.end(),
        (error: unknown) => {
          // grpc-js takes the status of a stream from an error event.
          if (!call.cancelled) call.emit('error', statusOf(error, incoming))
        }
      )
      .finally(() => {
        clearTimeout(timer)
        settled()
      })
      .catch(() => call.destroy())
  }
}

/** Resolves once the message has been sent, which waits for the peer to read (HTTP/2 flow control). */
function send<Response>(
  call: ServerWritableStream<Buffer, Response>,
  message: Response,
  signal: AbortSignal
): Promise<void> {
  const sent = new Promise<void>((resolve, reject) => {
    // grpc-js does not call back for messages of a cancelled call.
    const gone = (): void => reject(signal.reason)
    if (signal.aborted) return gone()
    signal.addEventListener('abort', gone, { once: true })
    call.write(message, (error: Error | null | undefined) => {
      signal.removeEventListener('abort', gone)
      if (error === null || error === undefined) resolve()
      else reject(error)
    })
  })
  // It can fail while the next message is being made, before anybody awaits it. This prevents an unhandled rejection.
  sent.catch(() => undefined)
  return sent
}
