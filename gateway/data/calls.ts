import {
  type CallCredentials,
  type ClientReadableStream,
  credentials,
  Metadata,
  type ServiceError,
  status
} from '@grpc/grpc-js'
import { parseCallTimes, TIMES_METADATA } from '../../shared/transport/call-frames.js'
import { DomainError, httpStatusOf } from '../../shared/errors.js'
import { fromRpcStatus, transportError } from '../../shared/transport/rpc-status.js'
import { CLIENT_ADDRESS_METADATA } from '../../shared/tls.js'
import { AttemptFailure, type HttpContext, CallReport, MAX_FRAMED_REQUEST } from './call-stream.js'
import { checkedAuthorization } from './credentials.js'
import type { Replica, RpcMethod } from './replica.js'
import type { ReplicaPool } from './replica-pool.js'

export { type HttpContext, CallReport }

/** One unary call: the method, the HTTP request it belongs to, and its message. */
interface UnaryCall<Request, Response> {
  readonly rpc: RpcMethod<Request, Response>
  readonly call: HttpContext
  readonly request: Request
  /** Whether a data service gathers calls of this rpc, and answers those that arrive together by one statement. */
  readonly isGathered?: boolean
  /** Milliseconds that it may take in all, retries included. CALL_DEADLINE by default. */
  readonly timeout?: number
}

/** Milliseconds that a call may take in all, retries included. Sent as the gRPC deadline, which SQL statements obey too. */
export const CALL_DEADLINE = 10_000

/** A read is retried once if the transport failed. Rejects with a DomainError. */
export function readUnary<Request, Response>(
  pool: ReplicaPool,
  unary: UnaryCall<Request, Response>
): Promise<Response> {
  return callWithRetries(pool, unary, 1)
}

/**
 * A write is not retried if it may have reached a data service: it may have happened although its answer was lost. A
 * write that no data service has begun goes to another replica. Rejects with a DomainError.
 */
export function writeUnary<Request, Response>(
  pool: ReplicaPool,
  unary: UnaryCall<Request, Response>
): Promise<Response> {
  return callWithRetries(pool, unary, 0)
}

const NO_REPLICAS: ReadonlySet<Replica> = new Set()

/** Attempts of one call within one deadline. Each attempt goes to another replica as long as there are others. */
async function callWithRetries<Request, Response>(
  pool: ReplicaPool,
  unary: UnaryCall<Request, Response>,
  retries: number
): Promise<Response> {
  const { signal } = unary.call
  const deadline = Date.now() + (unary.timeout ?? CALL_DEADLINE)
  const message = unary.rpc.requestSerialize(unary.request)
  let failed = NO_REPLICAS
  for (let left = retries, reuse = false; ;) {
    const serving = unary.isGathered === true ? pool.servingGathered(failed) : pool.serving(failed)
    const replica = serving ?? (await pool.choose(signal, { failed, reuse }))
    const encoded: EncodedCall = { path: unary.rpc.path, message, deadline, isRepeatable: left > 0 }
    const refusal = retries > 0 ? replica.refusals.of(encoded, unary.call, Date.now()) : undefined
    if (refusal !== undefined) throw refusal
    replica.startCall()
    try {
      const answer = decodedAnswer(unary.rpc, await callReplica(replica, encoded, unary.call))
      reportAccepted(unary.call)
      return answer
    } catch (error) {
      if (!(error instanceof AttemptFailure)) throw error
      if (isAfterIdentity(error.error)) reportAccepted(unary.call)
      const { maybeSent, ofTransport } = error
      if (retries > 0) replica.refusals.keep(encoded, unary.call, { error: error.error, now: Date.now() })
      reuse = left > 0 && ofTransport
      const isOver = signal.aborted || Date.now() >= deadline || failed.has(replica) || (maybeSent && !reuse)
      if (isOver) throw error.error
      if (maybeSent) left -= 1
      failed = new Set([...failed, replica])
    } finally {
      replica.endCall()
    }
  }
}

/** The data service looks at the token before anything else. */
function reportAccepted({ report, authorization }: HttpContext): void {
  if (report !== undefined && authorization !== undefined) report.acceptedAuthorization = authorization
}

/** Whether a data service rejects a call in this way only after it has found the token valid: no other 4xx comes before. */
function isAfterIdentity(error: unknown): boolean {
  if (!(error instanceof DomainError) || error.code === 'request.malformed') return false
  const status = httpStatusOf(error)
  return status >= 400 && status < 500 && status !== 401
}

function decodedAnswer<Response>(rpc: RpcMethod<never, Response>, answer: Buffer): Response {
  try {
    return rpc.responseDeserialize(answer)
  } catch (error) {
    throw transportError(status.INTERNAL, error)
  }
}

/** A call in bytes. `deadline` is in milliseconds since the epoch. */
interface EncodedCall {
  readonly path: string
  readonly message: Buffer
  readonly deadline: number
  /** Whether it is sent once more if the transport fails. */
  readonly isRepeatable: boolean
}

/**
 * The bytes of the answer, over the replica's stream if it has one. Rejects with an AttemptFailure; with
 * `upstream.unavailable` if too much waits to be sent.
 */
export function callReplica(replica: Replica, encoded: EncodedCall, call: HttpContext): Promise<Buffer> {
  const { stream } = replica
  const { path, message, deadline, isRepeatable } = encoded
  return stream === undefined || message.length > MAX_FRAMED_REQUEST
    ? callUnary(replica, encoded, call)
    : stream.call({ path, request: message, context: call, deadline, isRepeatable })
}

/** One call of gRPC: for a data service without streams, while a stream is being opened, and for large requests. */
function callUnary(replica: Replica, { path, message, deadline }: EncodedCall, call: HttpContext): Promise<Buffer> {
  const metadata = callMetadata(call)
  const { signal, report } = call
  return new Promise((resolve, reject) => {
    const tracker = trackSending()
    const running = replica.client.makeUnaryRequest(
      path,
      asBytes,
      asBytes,
      message,
      metadata,
      { deadline, credentials: tracker.credentials },
      (error, response) => {
        signal.removeEventListener('abort', listener)
        if (error === null && response !== undefined) return resolve(response)
        const failure = error === null ? transportError(status.INTERNAL) : fromRpcStatus(error)
        reject(
          new AttemptFailure(failure, { maybeSent: tracker.maybeSent(error), ofTransport: isTransportFailure(error) })
        )
      }
    )
    const listener = { handleEvent: () => running.cancel() }
    if (report?.asksForTimes === true) running.on('status', ({ metadata: trailer }) => reportTimes(report, trailer))
    if (signal.aborted) running.cancel()
    else signal.addEventListener('abort', listener)
  })
}

function reportTimes(report: CallReport, metadata: Metadata): void {
  const [text] = metadata.get(TIMES_METADATA)
  if (typeof text === 'string') report.addTimes(parseCallTimes(text))
}

function asBytes(message: Buffer): Buffer {
  return message
}

const NO_METADATA = new Metadata()

/**
 * Tells after a failure whether the call may have reached the data service. grpc-js asks call credentials for their
 * metadata when it has picked a connection, immediately before it sends the head of the call, and never earlier.
 */
function trackSending(): { readonly credentials: CallCredentials; maybeSent(error: unknown): boolean } {
  let picked = false
  const tracking = credentials.createFromMetadataGenerator((_options, done) => {
    picked = true
    done(null, NO_METADATA)
  })
  return { credentials: tracking, maybeSent: (error) => picked && !isUnprocessed(error) }
}

/**
 * Whether a call that had a connection was never begun: the server refused its stream (RFC 9113 section 8.7), as a
 * server that is shutting down does, or the stream could not be opened. grpc-js says so only in the text of the error.
 */
function isUnprocessed(error: unknown): boolean {
  if (!isServiceError(error) || error.metadata.get('grpc-status-details-bin').length > 0) return false
  if (error.code === status.UNAVAILABLE) return error.details === 'Stream refused by server'
  return error.code === status.INTERNAL && error.details.startsWith('Failed to start HTTP/2 stream')
}

/** Whether the failure is the transport's: the data service itself always sends details with its status. */
function isTransportFailure(error: unknown): boolean {
  return (
    isServiceError(error) &&
    error.code === status.UNAVAILABLE &&
    error.metadata.get('grpc-status-details-bin').length === 0
  )
}

/** The DomainError that a gRPC status stands for; any other error unchanged. */
function domainErrorOf(error: unknown): unknown {
  return isServiceError(error) ? fromRpcStatus(error) : error
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'metadata' in error
}

/** A server-streaming call, and how long to wait for each of its messages. */
interface ServerStreamingCall<Request, Response> extends UnaryCall<Request, Response> {
  /** Milliseconds without a message after which the call ends with `upstream.timeout`. */
  readonly idleTimeout: number
  /**
   * How many messages at the beginning are nothing without the one that follows them, such as the header of an export. They
   * come to the reader together with it.
   */
  readonly heading: number
}

/**
 * The messages of a server stream, pulled by the reader: grpc-js asks the data service for more only when the stream is
 * read. The call is cancelled however the iteration ends. It is started once more, on another replica if there is one,
 * if the transport failed before the reader had a message. Throws DomainErrors.
 */
export async function* readStream<Request, Response>(
  pool: ReplicaPool,
  streaming: ServerStreamingCall<Request, Response>
): AsyncGenerator<Response, void, void> {
  const { signal } = streaming.call
  const first = await pool.choose(signal, { failed: new Set(), reuse: false })
  const heading: Response[] = []
  let begun = false
  try {
    for await (const message of messagesOf(openStream(first, streaming), streaming)) {
      if (!begun && heading.length < streaming.heading) heading.push(message)
      else {
        begun = true
        yield* heading.splice(0)
        yield message
      }
    }
    yield* heading
    return
  } catch (error) {
    if (begun || !isTransportFailure(error) || signal.aborted) {
      yield* heading
      throw domainErrorOf(error)
    }
  }
  const second = await pool.choose(signal, { failed: new Set([first]), reuse: true })
  try {
    yield* messagesOf(openStream(second, streaming), streaming)
  } catch (error) {
    throw domainErrorOf(error)
  }
}

/** The stream counts as in flight until it has closed. */
function openStream<Request, Response>(
  replica: Replica,
  { rpc, call, request }: UnaryCall<Request, Response>
): ClientReadableStream<Response> {
  const stream = replica.client.makeServerStreamRequest(
    rpc.path,
    (message: Request) => rpc.requestSerialize(message),
    (bytes: Buffer) => rpc.responseDeserialize(bytes),
    request,
    callMetadata(call)
  )
  replica.startCall()
  // A cancelled call emits its error after the reader has left; an `error` without a listener would end the process.
  stream.on('error', () => {})
  stream.once('status', () => replica.endCall())
  const { report } = call
  if (report?.asksForTimes === true) {
    // The first is for an answer, the second for a call that failed before it had one.
    stream.once('metadata', (metadata) => reportTimes(report, metadata))
    stream.once('status', ({ metadata }) => reportTimes(report, metadata))
  }
  return stream
}

async function* messagesOf<Request, Response>(
  stream: ClientReadableStream<Response>,
  { call, idleTimeout }: ServerStreamingCall<Request, Response>
): AsyncGenerator<Response, void, void> {
  const { signal } = call
  const cancel = (): void => stream.cancel()
  const listener = { handleEvent: cancel }
  signal.addEventListener('abort', listener)
  if (signal.aborted) cancel()

  let timedOut = false
  const giveUp = (): void => {
    timedOut = true
    cancel()
  }
  let timer = setTimeout(giveUp, idleTimeout)
  try {
    for await (const message of stream as AsyncIterable<Response>) {
      clearTimeout(timer)
      reportAccepted(call)
      yield message
      timer = setTimeout(giveUp, idleTimeout)
    }
  } catch (error) {
    if (isAfterIdentity(domainErrorOf(error))) reportAccepted(call)
    if (!timedOut) throw error
    throw new DomainError('upstream.timeout', 'The data service did not answer in time.', { cause: error })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', listener)
    cancel()
  }
}

function callMetadata(call: HttpContext): Metadata {
  const metadata = new Metadata()
  if (call.authorization !== undefined) metadata.set('authorization', checkedAuthorization(call.authorization))
  metadata.set('x-request-id', call.requestId)
  if (call.clientAddress !== undefined) metadata.set(CLIENT_ADDRESS_METADATA, call.clientAddress)
  if (call.traceparent !== undefined) metadata.set('traceparent', call.traceparent)
  if (call.report?.asksForTimes === true) metadata.set(TIMES_METADATA, '1')
  return metadata
}
