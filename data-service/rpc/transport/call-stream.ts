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
import { CallTable, Deadlines, FrameSender, type Timed } from '../../../shared/transport/call-stream.js'
import { type Cancellation, CancellationSource } from '../../../shared/transport/cancellation.js'
import { toStatusBytes, transportStatusBytes } from '../../../shared/transport/rpc-status.js'
import { Stopwatch } from '../../observe/call-scope.js'
import { asDomainError, CALL_OVERHEAD, connectionOf } from './grpc.js'
import {
  callerGone,
  type Connection,
  type IncomingCall,
  type Intercepted,
  type IsGateway,
  MAX_CALL_TIME,
  timeOut
} from './interceptors.js'
import { ALWAYS, MAX_OF_STREAM, type PeerBytes, untakenAnswers } from './peer-bytes.js'

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
const MAX_CALL_STREAMS = 4

/**
 * Refused calls that the caller may leave unread. A gateway has MAX_CALLS under way, and for a moment as many that it has
 * cancelled.
 */
const MAX_REFUSED = 2 * MAX_CALLS

/** Milliseconds that a caller has for taking a message, the largest of which has about 512 KiB. */
const TAKE_TIMEOUT = 30_000

/** Milliseconds between two looks whether messages are taken. */
const LOOK_EVERY = 5000

/** When it is, and how often the streams are looked at. Tests give their own. */
export interface StreamClock {
  /** Milliseconds. */
  now(): number
  readonly lookEvery: number
}

const CLOCK: StreamClock = { now: () => performance.now(), lookEvery: LOOK_EVERY }

interface StreamDeps {
  readonly methods: ReadonlyMap<string, FramedMethod>
  readonly untaken: PeerBytes
  readonly isGateway: IsGateway
  /** Whether gateways authenticate themselves, by a secret or a certificate. If so, only gateways may open streams. */
  readonly knowsGateways: boolean
  /** Ends the HTTP/2 stream of a call, whatever waits to be sent on it. */
  readonly breakOff: (call: ServerDuplexStream<Buffer, Buffer>) => void
  /** Told of each message that is whole, and how many bytes it has. */
  readonly arrived: (call: ServerDuplexStream<Buffer, Buffer>, bytes: number) => void
  readonly clock?: StreamClock | undefined
}

/** The open streams of the process. */
export class CallStreams {
  readonly #deps: StreamDeps
  readonly #clock: StreamClock
  readonly #streams = new Set<ServedStream>()
  #looking: NodeJS.Timeout | undefined
  #isDraining = false

  constructor(deps: StreamDeps) {
    this.#deps = deps
    this.#clock = deps.clock ?? CLOCK
  }

  get count(): number {
    return this.#streams.size
  }

  /** The rpc Open. */
  readonly open: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
    if (this.#deps.knowsGateways && !this.#deps.isGateway(connectionOf(call))) {
      // The same answer as from a data service without streams: a gateway without a secret then calls the unary methods.
      call.emit('error', { code: status.UNIMPLEMENTED, details: 'Streams of calls are for gateways.' })
      return
    }
    const peer = call.getPeer()
    const ofPeer = Array.from(this.#streams).filter((one) => one.peer === peer)
    if (this.#isDraining || ofPeer.length >= MAX_CALL_STREAMS) {
      const code = this.#isDraining ? status.UNAVAILABLE : status.RESOURCE_EXHAUSTED
      call.emit('error', { code, details: 'This process opens no further stream.' })
      return
    }
    const stream = new ServedStream(call, { ...this.#deps, clock: this.#clock }, () => this.#remove(stream))
    this.#streams.add(stream)
    this.#looking ??= setInterval(() => this.#endStalled(), this.#clock.lookEvery).unref()
  }

  #remove(stream: ServedStream): void {
    this.#streams.delete(stream)
    if (this.#streams.size > 0) return
    clearInterval(this.#looking)
    this.#looking = undefined
  }

  #endStalled(): void {
    for (const stream of this.#streams) stream.endIfStalled()
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
  readonly #deps: StreamDeps & { readonly clock: StreamClock }
  readonly #connection: Connection
  /** Whose bytes are counted together. */
  readonly #countedAs: string
  readonly #sender: FrameSender
  readonly #credentials = new Map<CredentialSlot, readonly string[]>()
  #credentialBytes = 0
  /** Bytes that a call counts beside its request. 0 for a gateway, which bounds the calls of its clients itself. */
  readonly #overhead: number
  /** Calls that have no answer yet, or whose answer has not been sent. */
  readonly #calls = new CallTable<ServedCall>()
  readonly #deadlines = new Deadlines(
    () => this.#calls.values(),
    (call: ServedCall) => call.abort(timeOut())
  )
  /** Handlers that have not ended, those of cancelled calls included. */
  #running = 0
  #untakenBytes = 0
  #untakenRefusals = 0
  /** When the message was sent that the caller has not taken yet. */
  #sendingSince: number | undefined
  #isDraining = false
  #isStopped = false
  #ended = false

  constructor(
    stream: ServerDuplexStream<Buffer, Buffer>,
    deps: StreamDeps & { readonly clock: StreamClock },
    onEnd: () => void
  ) {
    this.peer = stream.getPeer()
    this.#stream = stream
    this.#deps = deps
    this.#connection = connectionOf(stream)
    const isGateway = deps.isGateway(this.#connection)
    this.#countedAs = isGateway ? `gateway ${this.peer}` : deps.untaken.peerOf(this.#connection)
    this.#overhead = isGateway ? 0 : CALL_OVERHEAD
    const send = (message: Buffer, sent: () => void): void => {
      this.#sendingSince = deps.clock.now()
      stream.write(message, () => {
        this.#sendingSince = undefined
        sent()
      })
    }
    this.#sender = new FrameSender(send, { onCount: (bytes) => this.#countUntaken(bytes) })
    const end = (): void => {
      if (this.#ended) return
      this.#ended = true
      onEnd()
      this.#stop()
    }
    stream.on('data', (message: Buffer) => {
      deps.arrived(stream, message.length)
      this.#read(message)
    })
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

  endIfStalled(): void {
    if (this.#sendingSince === undefined || this.#deps.clock.now() - this.#sendingSince < TAKE_TIMEOUT) return
    // A status would wait behind the message.
    this.#deps.breakOff(this.#stream)
  }

  credential(slot: CredentialSlot, authorization: string): void {
    this.#countCredential(authorization.length - (this.#credentials.get(slot)?.[0]?.length ?? 0))
    this.#credentials.set(slot, [authorization])
    if (this.#overhead > 0 && this.#deps.untaken.isFull(this.#countedAs)) {
      throw new MalformedFrames('More credentials were sent than the stream takes.')
    }
  }

  /** A stream may keep a token of 8 KiB in each of its slots. */
  #countCredential(bytes: number): void {
    if (this.#overhead === 0) return
    this.#credentialBytes += bytes
    this.#deps.untaken.count(this.#countedAs, bytes)
  }

  call(frame: FramedCall): void {
    if (this.#calls.get(frame.id) !== undefined) throw new MalformedFrames('Two calls have the same id.')
    const authorization = frame.credential === undefined ? NO_TOKEN : this.#credentials.get(frame.credential)
    if (authorization === undefined) throw new MalformedFrames('A call names a credential that was not sent.')
    // Handlers of cancelled calls may take a moment to end. This limits those of a caller that cancels all its calls.
    const isFull = this.#calls.size >= MAX_CALLS || this.#running >= 2 * MAX_CALLS
    if (this.#isDraining || isFull) return this.#refuse(new UnprocessedFrame(frame.id))
    if (this.#deps.untaken.isFull(this.#countedAs)) {
      return this.#refuse(new FailureFrame(frame.id, toStatusBytes(untakenAnswers())))
    }
    const method = this.#deps.methods.get(frame.method)
    if (method === undefined) {
      const failure = transportStatusBytes(status.UNIMPLEMENTED, 'There is no such unary method.')
      return this.#refuse(new FailureFrame(frame.id, failure))
    }
    const call = new ServedCall(frame, authorization, this.#connection)
    this.#calls.set(frame.id, call)
    this.#deadlines.add(call)
    const bytes = this.#overhead + frame.request.length
    this.#countUntaken(bytes)
    call.onTaken(() => this.#countUntaken(-bytes))
    this.#countRunning(1)
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
    call.taken()
    this.#endIfDone()
  }

  /** Answers a call that is not begun. A caller that reads no refusals gets no more of them. */
  #refuse(frame: FailureFrame | UnprocessedFrame): void {
    this.#untakenRefusals += 1
    frame.onTaken = () => (this.#untakenRefusals -= 1)
    this.#sender.send(frame)
    if (this.#untakenRefusals > MAX_REFUSED) throw new MalformedFrames('More calls were sent than the stream takes.')
  }

  #read(message: Buffer): void {
    if (this.#isStopped) return
    try {
      readRequestFrames(message, this)
    } catch (error) {
      if (!(error instanceof MalformedFrames)) throw error
      this.#stream.emit('error', { code: status.INVALID_ARGUMENT, details: error.message })
      this.#stop()
    }
  }

  #answer(call: ServedCall, answer: Buffer): void {
    this.#countRunning(-1)
    if (this.#calls.get(call.id) !== call) return
    this.#sendTimes(call)
    const onSent = (): void => {
      this.#calls.delete(call.id)
      this.#endIfDone()
    }
    this.#sender.sendAnswer(call.id, answer, { onSent, onTaken: () => call.taken() })
  }

  #fail(call: ServedCall, error: unknown): void {
    this.#countRunning(-1)
    if (this.#calls.get(call.id) !== call) return
    this.#calls.delete(call.id)
    const failure = new FailureFrame(call.id, toStatusBytes(asDomainError(error)))
    failure.onTaken = () => call.taken()
    this.#sendTimes(call)
    this.#sender.send(failure)
    this.#endIfDone()
  }

  #sendTimes({ id, stopwatch }: ServedCall): void {
    if (stopwatch !== undefined) this.#sender.send(new TimesFrame(id, stopwatch.times()))
  }

  #countUntaken(bytes: number): void {
    this.#untakenBytes += bytes
    this.#deps.untaken.count(this.#countedAs, bytes)
    this.#pace()
  }

  #countRunning(calls: 1 | -1): void {
    this.#running += calls
    this.#pace()
  }

  /** While the caller does not take its answers, its further calls wait with it. */
  #pace(): void {
    const most = this.#deps.untaken.isFull(this.#countedAs) ? ALWAYS : MAX_OF_STREAM
    // What the running calls will answer comes on top: from half of the bound on, they end before others begin.
    const bytes = this.#running > 0 ? 2 * this.#untakenBytes : this.#untakenBytes
    if (bytes > most) this.#stream.pause()
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
    this.#isStopped = true
    this.#sender.close()
    this.#deadlines.close()
    this.#countCredential(-this.#credentialBytes)
    const calls = this.#calls.values()
    this.#calls.clear()
    for (const call of calls) {
      call.abort(callerGone())
      call.taken()
    }
  }
}

const NO_TOKEN: readonly string[] = []

/** A call of a stream as the interceptors take it. Aborted with a DomainError. */
class ServedCall extends CancellationSource implements IncomingCall, Timed {
  readonly id: CallId
  readonly authorization: readonly string[]
  readonly requestId: string | undefined
  readonly traceparent: string | undefined
  readonly clientAddress: string | undefined
  readonly stopwatch: Stopwatch | undefined
  readonly deadline: number
  readonly #connection: Connection
  readonly #onTaken: (() => void)[] = []
  #isTaken = false

  constructor(frame: FramedCall, authorization: readonly string[], connection: Connection) {
    super()
    const { requestId, traceparent, clientAddress, timeoutMs, timed } = frame
    this.id = frame.id
    this.authorization = authorization
    this.requestId = requestId === '' ? undefined : requestId
    this.traceparent = traceparent === '' ? undefined : traceparent
    this.clientAddress = clientAddress === '' ? undefined : clientAddress
    this.stopwatch = timed ? new Stopwatch() : undefined
    this.deadline = timeoutMs === 0 ? Infinity : Date.now() + Math.min(timeoutMs, MAX_CALL_TIME)
    this.#connection = connection
  }

  get cancellation(): Cancellation {
    return this
  }

  onTaken(listener: () => void): void {
    if (this.#isTaken) listener()
    else this.#onTaken.push(listener)
  }

  /** The caller has taken the answer, or takes none any more. */
  taken(): void {
    this.#isTaken = true
    for (const listener of this.#onTaken.splice(0)) listener()
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
