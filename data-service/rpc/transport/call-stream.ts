import {
  type handleBidiStreamingCall,
  Metadata,
  type MethodDefinition,
  type ServerDuplexStream,
  type ServiceDefinition,
  status
} from '@grpc/grpc-js'
import {
  type CallId,
  type CredentialSlot,
  FailureFrame,
  type FramedCall,
  MalformedFrames,
  MAX_CALLS,
  readRequestFrames,
  type RequestFrames,
  TimesFrame,
  UnprocessedFrame
} from '../../../shared/transport/call-frames.js'
import { CallTable, Deadlines, type Expiring, FrameSender } from '../../../shared/transport/call-stream.js'
import { type Cancellation, CancellationSource } from '../../../shared/transport/cancellation.js'
import { toStatusBytes, transportStatusBytes } from '../../../shared/transport/rpc-status.js'
import { Stopwatch } from '../../observe/call-scope.js'
import { asDomainError, type Connection, connectionOf } from './grpc.js'
import { callerGone, type IncomingCall, type Intercepted, timeOut } from './interceptors.js'

// The data service's end of CallStreamService (proto/transport/v1/call_stream.proto).

/** A unary rpc from and to the bytes of its messages. Rejects with a DomainError. */
export type FramedMethod = (call: IncomingCall, request: Buffer) => Promise<Buffer>

/** The handlers of a service by the names of their rpcs, where the tie of each to the messages of its rpc is lost. */
export type UntypedHandlers = Readonly<Record<string, Intercepted<object, object>>>

/** The handlers as they are called from a stream, by the full names of their rpcs. `service` is one of `withUndecodable`. */
export function framedMethods(service: ServiceDefinition, handlers: UntypedHandlers): [string, FramedMethod][] {
  return Object.entries(handlers).map(([name, handler]) => {
    // The definition has lost the types of the messages, which the handlers tell.
    const rpc = service[name] as MethodDefinition<object, object> | undefined
    if (rpc === undefined) throw new TypeError(`The service has no rpc ${name}`)
    const { path, requestDeserialize, responseSerialize } = rpc
    return [path, async (call, bytes) => responseSerialize(await handler(call, requestDeserialize(bytes)))]
  })
}

/** Streams of one connection. A gateway has one, and for a moment two while one replaces the other. */
const MAX_STREAMS = 4

/** Bytes of answers that wait to be sent, beyond which a stream takes no further frames. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024

/** The open streams of the process. */
export class CallStreams {
  readonly #methods: ReadonlyMap<string, FramedMethod>
  readonly #streams = new Set<ServedStream>()
  #isDraining = false

  constructor(methods: ReadonlyMap<string, FramedMethod>) {
    this.#methods = methods
  }

  get count(): number {
    return this.#streams.size
  }

  /** The rpc Open. */
  readonly open: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
    const peer = call.getPeer()
    const ofPeer = Array.from(this.#streams).filter((one) => one.peer === peer)
    if (this.#isDraining || ofPeer.length >= MAX_STREAMS) {
      const code = this.#isDraining ? status.UNAVAILABLE : status.RESOURCE_EXHAUSTED
      call.emit('error', { code, details: 'This process opens no further stream.' })
      return
    }
    const stream = new ServedStream(call, this.#methods, () => this.#streams.delete(stream))
    this.#streams.add(stream)
  }

  /** Begins no further call. Each stream ends when its calls have been answered. */
  drain(): void {
    this.#isDraining = true
    for (const stream of this.#streams) stream.drain()
  }
}

/** One stream and its calls. */
class ServedStream implements RequestFrames {
  readonly peer: string
  readonly #stream: ServerDuplexStream<Buffer, Buffer>
  readonly #methods: ReadonlyMap<string, FramedMethod>
  readonly #connection: Connection
  readonly #sender: FrameSender
  readonly #credentials = new Map<CredentialSlot, readonly string[]>()
  /** Calls that have no answer yet, or whose answer has not been sent. */
  readonly #calls = new CallTable<ServedCall>()
  readonly #deadlines = new Deadlines(
    () => this.#calls.values(),
    (call: ServedCall) => call.abort(timeOut())
  )
  /** Handlers that have not ended, those of cancelled calls included. */
  #running = 0
  #unsentBytes = 0
  #isDraining = false
  #ended = false

  constructor(
    stream: ServerDuplexStream<Buffer, Buffer>,
    methods: ReadonlyMap<string, FramedMethod>,
    onEnd: () => void
  ) {
    this.peer = stream.getPeer()
    this.#stream = stream
    this.#methods = methods
    this.#connection = connectionOf(stream)
    this.#sender = new FrameSender((message, sent) => stream.write(message, sent))
    const end = (): void => {
      if (this.#ended) return
      this.#ended = true
      onEnd()
      this.#stop()
    }
    stream.on('data', (message: Buffer) => this.#read(message))
    // The caller begins no further call.
    stream.on('end', () => this.drain())
    stream.on('error', () => undefined)
    // grpc-js emits this however the stream ends.
    stream.on('cancelled', end)
    stream.on('close', end)
    // It tells the caller that the stream is open.
    stream.sendMetadata(new Metadata())
  }

  /** Begins no further call, and ends when the others have been answered. */
  drain(): void {
    this.#isDraining = true
    this.#endIfDone()
  }

  credential(slot: CredentialSlot, authorization: string): void {
    this.#credentials.set(slot, [authorization])
  }

  call(frame: FramedCall): void {
    if (this.#calls.get(frame.id) !== undefined) throw new MalformedFrames('Two calls have the same id.')
    const authorization = frame.credential === undefined ? NO_TOKEN : this.#credentials.get(frame.credential)
    if (authorization === undefined) throw new MalformedFrames('A call names a credential that was not sent.')
    // Handlers of cancelled calls may take a moment to end. This limits those of a caller that cancels all its calls.
    const isFull = this.#calls.size >= MAX_CALLS || this.#running >= 2 * MAX_CALLS
    if (this.#isDraining || isFull) {
      this.#sender.send(new UnprocessedFrame(frame.id))
      return
    }
    const method = this.#methods.get(frame.method)
    if (method === undefined) {
      const failure = transportStatusBytes(status.UNIMPLEMENTED, 'There is no such unary method.')
      this.#sender.send(new FailureFrame(frame.id, failure))
      return
    }
    const call = new ServedCall(frame, authorization, this.#connection)
    this.#calls.set(frame.id, call)
    this.#deadlines.add(call)
    this.#running += 1
    method(call, frame.request).then(
      (answer) => this.#answer(call, answer),
      (error: unknown) => this.#fail(call, error)
    )
  }

  cancellation(id: CallId): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    this.#calls.delete(id)
    this.#sender.dropAnswer(id)
    call.abort(callerGone())
    this.#endIfDone()
  }

  #read(message: Buffer): void {
    try {
      readRequestFrames(message, this)
    } catch (error) {
      if (!(error instanceof MalformedFrames)) throw error
      this.#stream.emit('error', { code: status.INVALID_ARGUMENT, details: error.message })
      this.#stop()
    }
  }

  #answer(call: ServedCall, answer: Buffer): void {
    this.#running -= 1
    if (this.#calls.get(call.id) !== call) return
    this.#countUnsent(answer.length)
    this.#sendTimes(call)
    this.#sender.sendAnswer(call.id, answer, () => {
      this.#calls.delete(call.id)
      this.#countUnsent(-answer.length)
      this.#endIfDone()
    })
  }

  #fail(call: ServedCall, error: unknown): void {
    this.#running -= 1
    if (this.#calls.get(call.id) !== call) return
    this.#calls.delete(call.id)
    const failure = toStatusBytes(asDomainError(error))
    this.#sendTimes(call)
    this.#sender.send(new FailureFrame(call.id, failure))
    this.#endIfDone()
  }

  #sendTimes({ id, stopwatch }: ServedCall): void {
    if (stopwatch !== undefined) this.#sender.send(new TimesFrame(id, stopwatch.times()))
  }

  /** While the caller does not take its answers, its further calls wait with it. */
  #countUnsent(bytes: number): void {
    this.#unsentBytes += bytes
    if (this.#unsentBytes > MAX_UNSENT_BYTES) this.#stream.pause()
    else if (this.#stream.isPaused()) this.#stream.resume()
  }

  #endIfDone(): void {
    if (!this.#isDraining || this.#ended || this.#calls.size > 0) return
    this.#sender.end(() => {
      // A message after the end would destroy the stream before its status is sent.
      this.#sender.close()
      this.#stream.end()
    })
  }

  #stop(): void {
    this.#sender.close()
    this.#deadlines.close()
    const calls = this.#calls.values()
    this.#calls.clear()
    for (const call of calls) call.abort(callerGone())
  }
}

const NO_TOKEN: readonly string[] = []

/** A call of a stream as the interceptors take it. Aborted with a DomainError. */
class ServedCall extends CancellationSource implements IncomingCall, Expiring {
  readonly id: CallId
  readonly authorization: readonly string[]
  readonly requestId: string | undefined
  readonly traceparent: string | undefined
  readonly clientAddress: string | undefined
  readonly stopwatch: Stopwatch | undefined
  readonly deadline: number
  readonly #connection: Connection

  constructor(frame: FramedCall, authorization: readonly string[], connection: Connection) {
    super()
    const { requestId, traceparent, clientAddress, timeoutMs, timed } = frame
    this.id = frame.id
    this.authorization = authorization
    this.requestId = requestId === '' ? undefined : requestId
    this.traceparent = traceparent === '' ? undefined : traceparent
    this.clientAddress = clientAddress === '' ? undefined : clientAddress
    this.stopwatch = timed ? new Stopwatch() : undefined
    this.deadline = timeoutMs === 0 ? Infinity : Date.now() + timeoutMs
    this.#connection = connection
  }

  get cancellation(): Cancellation {
    return this
  }

  get peerAddress(): string | undefined {
    return this.#connection.peerAddress
  }

  get gatewaySecrets(): readonly string[] {
    return this.#connection.gatewaySecrets
  }

  peerCertificate(): Buffer | undefined {
    return this.#connection.peerCertificate()
  }
}
