import { type Client, type ClientDuplexStream, Metadata, status } from '@grpc/grpc-js'
import {
  type CallId,
  CallFrame,
  type CallTimes,
  CancellationFrame,
  CredentialFrame,
  MalformedFrames,
  MAX_CALLS,
  readResponseFrames,
  type ResponseFrames
} from '../../shared/transport/call-frames.js'
import { CALL_STREAM, CallTable, Deadlines, FrameSender, type Timed } from '../../shared/transport/call-stream.js'
import type { AbortListener, Cancellation } from '../../shared/transport/cancellation.js'
import type { DomainError } from '../../shared/errors.js'
import { fromStatusBytes, transportError } from '../../shared/transport/rpc-status.js'
import { CredentialSlots } from './credentials.js'
import { type SharedCall, UnsentCalls } from './unsent-calls.js'

/** What a call takes over from the HTTP request that causes it. */
export interface HttpContext {
  /** The `Authorization` header as received; the data service verifies it. */
  readonly authorization: string | undefined
  readonly requestId: string
  readonly traceparent: string | undefined
  /** IP address of the client, for the data service's log; absent for the gateway's own calls. */
  readonly clientAddress?: string
  /** Aborted when nobody waits for the answer any more. The call is cancelled then. */
  readonly signal: Cancellation
  /** Where it is told what else became known; absent where nobody asks. */
  readonly report?: CallReport | undefined
}

/** What a request learns of its calls besides their answers. It may make several. */
export class CallReport {
  /** The `Authorization` of the calls, once an answer has shown that the data service found its token valid. */
  acceptedAuthorization: string | undefined
  /** What data services took in all, in microseconds; undefined while none has told, as none does that is not asked. */
  times: CallTimes | undefined
  /** Whether the calls ask for their times. */
  readonly asksForTimes: boolean

  constructor(asksForTimes = false) {
    this.asksForTimes = asksForTimes
  }

  addTimes(times: CallTimes | undefined): void {
    if (times === undefined) return
    const { data = 0, sql = 0 } = this.times ?? {}
    this.times = { data: data + times.data, sql: sql + times.sql }
  }
}

/** Why one attempt of a call got no answer. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure'
  readonly error: DomainError
  /** false if the data service certainly did not begin the call, so that even a write may be sent to another replica. */
  readonly maybeSent: boolean
  /** Whether the transport failed, and not the call: a read may be sent again. */
  readonly ofTransport: boolean

  constructor(error: DomainError, of: { readonly maybeSent: boolean; readonly ofTransport: boolean }) {
    super('The call failed.', { cause: error })
    this.error = error
    this.maybeSent = of.maybeSent
    this.ofTransport = of.ofTransport
  }
}

/** Bytes of a request. A longer one would keep the others of the stream waiting, and goes by its unary method. */
export const MAX_FRAMED_REQUEST = 64 * 1024

/** A unary call in the bytes of its messages. */
export interface StreamCall {
  /** Full name of the method. */
  readonly path: string
  readonly request: Buffer
  readonly context: HttpContext
  /** Milliseconds since the epoch. */
  readonly deadline: number
  /** Whether the caller sends it once more if the stream is lost. */
  readonly isRepeatable: boolean
}

/** How a stream ended, whether or not it had been open. */
export interface StreamEnd {
  /** Whether the data service has streams at all. */
  readonly isKnown: boolean
  /** Whether an open stream was lost: it ended with an error, or before all of its calls had an answer. */
  readonly isLost: boolean
  /** Reads that had no answer and are sent once more, if a data service can be reached. */
  readonly readsSentAgain: number
  /** Calls that had no answer and end as 503: writes, and reads that had been sent once more already. */
  readonly callsFailed: number
}

interface CallStreamListener {
  onOpen(): void
  onEnd(end: StreamEnd): void
}

/** The gateway's end of a stream of calls (proto/transport/v1/call_stream.proto). It is open once the data service says so. */
export class CallStream implements ResponseFrames {
  readonly #stream: ClientDuplexStream<Buffer, Buffer>
  readonly #listener: CallStreamListener
  readonly #sender: FrameSender
  readonly #credentials: CredentialSlots
  readonly #calls = new CallTable<PendingCall>()
  /** Calls that are sent and have not ended are in `#calls`, others here. */
  readonly #unsent = new UnsentCalls<PendingCall>()
  readonly #deadlines = new Deadlines(
    () => [...this.#calls.values(), ...this.#unsent.values()],
    (call: PendingCall) => this.#abandon(call, timedOut())
  )
  #state: 'opening' | 'open' | 'ended' = 'opening'
  #lastId = 0

  constructor(client: Client, listener: CallStreamListener) {
    const { path, requestSerialize, responseDeserialize } = CALL_STREAM
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, new Metadata())
    this.#stream = stream
    this.#listener = listener
    const send = (message: Buffer, sent: () => void): void => {
      stream.write(message, () => {
        sent()
        this.#sendUnsent()
      })
    }
    this.#sender = new FrameSender(send, { onRoom: () => this.#fillMessage() })
    this.#credentials = new CredentialSlots((slot, authorization) =>
      this.#sender.send(new CredentialFrame(slot, authorization))
    )
    stream.on('metadata', () => {
      if (this.#state !== 'opening') return
      this.#state = 'open'
      listener.onOpen()
    })
    stream.on('data', (message: Buffer) => this.#read(message))
    // The status event reports the same failure; an `error` without a listener would end the process.
    stream.on('error', () => undefined)
    stream.on('status', ({ code }) => this.#end(code))
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Calls that are not sent yet. */
  get waiting(): number {
    return this.#unsent.size
  }

  /**
   * The bytes of the answer. Rejects with an AttemptFailure; with `upstream.unavailable` if too much waits to be sent. Throws
   * `auth.invalid-token` for a token that cannot be sent.
   */
  call(call: StreamCall): Promise<Buffer> {
    const { authorization, signal, clientAddress = '' } = call.context
    if (authorization !== undefined) this.#credentials.check(authorization)
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw new AttemptFailure(cancelled(), { maybeSent: false, ofTransport: false })
      const pending = new PendingCall(call, this, { share: this.#unsent.shareOf(clientAddress), resolve, reject })
      this.#unsent.add(pending)
      signal.addEventListener('abort', pending)
      this.#deadlines.add(pending)
      this.#sender.schedule()
    })
  }

  tokenSizeOf({ context: { authorization } }: StreamCall): number {
    return authorization === undefined ? 0 : this.#credentials.sizeOf(authorization)
  }

  close(): void {
    this.#stream.cancel()
    this.#end(status.CANCELLED)
  }

  /** Ends a call whose signal is aborted. */
  cancel(call: PendingCall): void {
    this.#abandon(call, cancelled())
  }

  answer(id: CallId, part: Buffer, more: boolean): void {
    const call = this.#calls.get(id)
    // A cancelled call may have been answered before the cancellation arrived.
    if (call === undefined) return
    if (more) {
      call.parts.push(part)
      return
    }
    this.#settled(call)
    call.resolve(call.parts.length === 0 ? part : Buffer.concat([...call.parts, part]))
  }

  failure(id: CallId, bytes: Buffer): void {
    const error = fromStatusBytes(bytes) ?? transportError(status.INTERNAL)
    this.#fail(id, new AttemptFailure(error, { maybeSent: true, ofTransport: false }))
  }

  unprocessed(id: CallId): void {
    const error = transportError(status.UNAVAILABLE)
    this.#fail(id, new AttemptFailure(error, { maybeSent: false, ofTransport: true }))
  }

  times(id: CallId, times: CallTimes): void {
    this.#calls.get(id)?.call.context.report?.addTimes(times)
  }

  #sendUnsent(): void {
    if (this.#unsent.size > 0) this.#sender.schedule()
  }

  /** The frame is made only now: it says the time that is left, and a call that was given up gets none. */
  #fillMessage(): void {
    const now = Date.now()
    for (const call of this.#unsent.take(MAX_CALLS - this.#calls.size)) this.#send(call, now)
  }

  #send(call: PendingCall, now: number): void {
    const { path: method, request, context, deadline } = call.call
    const { authorization, requestId, traceparent = '', clientAddress = '', report } = context
    const timeoutMs = Math.ceil(deadline - now)
    if (timeoutMs <= 0) {
      this.#unsent.ended(call)
      return this.#abandon(call, timedOut())
    }
    const credential = authorization === undefined ? undefined : this.#credentials.slotOf(authorization)
    call.id = this.#nextId()
    this.#calls.set(call.id, call)
    const timed = report?.asksForTimes === true
    this.#sender.send(
      new CallFrame({
        id: call.id,
        method,
        timeoutMs,
        credential,
        requestId,
        traceparent,
        clientAddress,
        request,
        timed
      })
    )
  }

  #nextId(): CallId {
    do {
      this.#lastId = (this.#lastId + 1) >>> 0
    } while (this.#calls.get(this.#lastId as CallId) !== undefined)
    return this.#lastId as CallId
  }

  #read(message: Buffer): void {
    try {
      readResponseFrames(message, this)
    } catch (error) {
      if (!(error instanceof MalformedFrames)) throw error
      this.close()
    }
  }

  #fail(id: CallId, failure: AttemptFailure): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    this.#settled(call)
    call.reject(failure)
  }

  /** Ends a call that the data service has not ended. */
  #abandon(call: PendingCall, error: DomainError): void {
    const { id } = call
    // The data service has not heard of one that is not sent.
    if (id !== undefined) this.#sender.send(new CancellationFrame(id))
    this.#settled(call)
    call.reject(new AttemptFailure(error, { maybeSent: id !== undefined, ofTransport: false }))
  }

  #settled(call: PendingCall): void {
    call.call.context.signal.removeEventListener('abort', call)
    if (call.id === undefined) this.#unsent.delete(call)
    else {
      this.#calls.delete(call.id)
      this.#unsent.ended(call)
    }
    if (this.#state !== 'ended') this.#sendUnsent()
  }

  #end(code: status): void {
    if (this.#state === 'ended') return
    const wasOpen = this.#state === 'open'
    this.#state = 'ended'
    this.#sender.close()
    this.#deadlines.close()
    const error = transportError(status.UNAVAILABLE)
    const lost = this.#calls.values()
    const readsSentAgain = lost.filter(({ call }) => call.isRepeatable).length
    for (const call of [...lost, ...this.#unsent.values()]) {
      this.#settled(call)
      call.reject(new AttemptFailure(error, { maybeSent: call.id !== undefined, ofTransport: true }))
    }
    this.#listener.onEnd({
      isKnown: code !== status.UNIMPLEMENTED,
      // A data service that shuts down answers its calls, and then ends the stream without an error.
      isLost: wasOpen && (code !== status.OK || lost.length > 0),
      readsSentAgain,
      callsFailed: lost.length - readsSentAgain
    })
  }
}

function cancelled(): DomainError {
  return transportError(status.CANCELLED)
}

function timedOut(): DomainError {
  return transportError(status.DEADLINE_EXCEEDED)
}

interface PendingAnswer extends Pick<SharedCall, 'share'> {
  resolve(answer: Buffer): void
  reject(failure: AttemptFailure): void
}

/** A call that has not ended. It listens to the signal of its caller itself, since a closure for each would cost more. */
class PendingCall implements Timed, AbortListener, SharedCall {
  readonly call: StreamCall
  readonly share: SharedCall['share']
  /** undefined while it is not sent. */
  id: CallId | undefined
  /** Those of a large answer that have arrived. */
  readonly parts: Buffer[] = []
  readonly resolve: PendingAnswer['resolve']
  readonly reject: PendingAnswer['reject']
  readonly #stream: CallStream

  constructor(call: StreamCall, stream: CallStream, { share, resolve, reject }: PendingAnswer) {
    this.call = call
    this.share = share
    this.#stream = stream
    this.resolve = resolve
    this.reject = reject
  }

  get deadline(): number {
    return this.call.deadline
  }

  get size(): number {
    return this.call.request.length
  }

  get tokenSize(): number {
    return this.#stream.tokenSizeOf(this.call)
  }

  handleEvent(): void {
    this.#stream.cancel(this)
  }
}
