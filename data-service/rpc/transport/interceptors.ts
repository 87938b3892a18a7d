import { createHash, timingSafeEqual, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { status } from '@grpc/grpc-js'
import type { Logger } from 'pino'
import { type Cancellation, countFor, type ShareHolder } from '../../../shared/transport/cancellation.js'
import { DomainError, type ErrorCode, grpcStatusOf } from '../../../shared/errors.js'
import { isKeysUnavailable } from '../../../shared/key-cache.js'
import { checkedTrace, type RunningSpan, type Tracing } from '../../../shared/observe/tracing.js'
import { messageOf } from '../../../shared/start-error.js'
import { requestIdOf } from '../../../shared/transport/wire.js'
import { unredacted } from '../../../shared/logger.js'
import type { Identify } from '../../auth/tokens/claims.js'
import { trail } from '../../auth/trail.js'
import { areStatementsLogged, forCalls, type Stopwatch } from '../../observe/call-scope.js'
import type { DataServiceMetrics, RpcCalls } from '../../observe/data-service-metrics.js'
import {
  anonymous,
  type CallContext,
  type Caller,
  countedAddress,
  shareKey,
  type StreamHandler
} from '../../entity/caller.js'

/** A call without its transport: everything that the interceptors need to know of it. */
export interface IncomingCall {
  /** Every value of `authorization` metadata. */
  readonly authorization: readonly string[]
  readonly requestId: string | undefined
  /** The IP address of the connection's other end; undefined where there is none, as on a Unix socket. */
  readonly peerAddress: string | undefined
  /** The IP address that the other end gives for its client. */
  readonly clientAddress: string | undefined
  /** All values of the metadata in which gateways send their secret. */
  readonly gatewaySecrets: readonly string[]
  /** The certificate of the connection's other end in DER, where one was asked for and verified. */
  peerCertificate(): Buffer | undefined
  readonly traceparent: string | undefined
  /** Runs from the moment of the call, if it asks for its times. */
  readonly stopwatch: Stopwatch | undefined
  /** Milliseconds since the epoch; Infinity for none. */
  readonly deadline: number
  /** Aborted by the transport with a DomainError as its reason. A transport may make it when it is asked for. */
  readonly signal: AbortSignal
  /** The same end of the call, without the signal. */
  readonly cancellation: Cancellation
  /** Calls back once the other end has taken the answer, or cannot take one any more: at once where that is so already. */
  onTaken(listener: () => void): void
}

/** What a call tells of the other end of its connection. */
export type Connection = Pick<IncomingCall, 'peerAddress' | 'gatewaySecrets' | 'peerCertificate'>

export interface Interceptors {
  readonly identify: Identify
  readonly isGateway: IsGateway
  /**
   * Whether gateways prove to be ones. Others are then described no more than they may call, and have the share of their
   * address. Default: false.
   */
  readonly knowsGateways?: boolean
  readonly log: Logger
  readonly newRequestId: () => string
  /** If given, it counts the calls of each account. */
  readonly accountLimit?: { count(caller: Caller): void } | undefined
  /** If given, calls are counted. */
  readonly metrics?: DataServiceMetrics | undefined
  /** If given, each call is a span. */
  readonly tracing?: Tracing | undefined
  /** If given, it learns of the resource of each call that ended in an error that nobody foresaw. */
  readonly unforeseen?: (resource: string) => void
}

/** Milliseconds that a call with one answer has at most, whatever deadline its caller gives. */
export const MAX_CALL_TIME = 60_000

/** Stands for a request whose bytes are not those of its message, so that its call is answered as any other is. */
export class UndecodableRequest {
  readonly cause: unknown

  constructor(cause: unknown) {
    this.cause = cause
  }
}

/** A handler behind all interceptors. It rejects only with DomainErrors. */
export type Intercepted<Request, Response> = (
  call: IncomingCall,
  request: Request | UndecodableRequest
) => Promise<Response>

/** The resource and the row that a call writes to, for the log. */
export interface Target {
  readonly resource: string
  /** As in a path. Absent where the call names no row. */
  readonly id?: string
  /** The unique property whose value names the row. */
  readonly property?: string
}

interface Rules<Request> {
  /** For the log. */
  readonly rpc: string
  /** AuthService is answered without a look at the access token. */
  readonly exempt?: boolean
  /** What the request is for, in the line of the call: a name from a bounded set, or undefined. */
  readonly resource?: (request: Request) => string | undefined
  /** The row that the request writes to, for the log. */
  readonly target?: (request: Request) => Target
  /** Whether the request itself bounds the call's time, in place of a deadline. */
  readonly bounded?: (request: Request) => boolean
  /** Whether a gateway's call goes on with a request of its client that was counted for its account before. */
  readonly goesOn?: (request: Request) => boolean
}

/** Puts the handling of errors, the check of the deadline and the caller's identity around a handler, in this order. */
export function intercept<Request, Response>(
  handler: (context: CallContext, request: Request) => Response | Promise<Response>,
  rules: Rules<Request>,
  interceptors: Interceptors
): Intercepted<Request, Response> {
  const answered = async (call: InterceptedCall, request: Request): Promise<Response> => {
    const response = await handler(call, request)
    call.ended(status.OK)
    return response
  }
  return intercepted(answered, rules, interceptors)
}

/** As `intercept`, for a handler that says itself when its call has ended. */
function intercepted<Request, Response>(
  handler: (call: InterceptedCall, request: Request) => Response | Promise<Response>,
  rules: Rules<Request>,
  interceptors: Interceptors
): Intercepted<Request, Response> {
  const { identify, metrics, accountLimit } = interceptors
  const { rpc } = rules
  const calls = metrics?.callsOf(rpc)
  const isLogged = interceptors.log.isLevelEnabled('info')
  // Made with the first call: an application has hundreds of rpcs, and most are never called.
  let lines: Logger | undefined
  return async (incoming, request) => {
    if (isLogged) lines ??= unredacted(interceptors.log)
    const isDecoded = !(request instanceof UndecodableRequest)
    const resource = isDecoded ? rules.resource?.(request) : undefined
    const call = new InterceptedCall(incoming, { rpc, resource, calls, lines, interceptors })
    try {
      if (isDecoded && rules.bounded?.(request) !== true) requireDeadline(incoming)
      if (rules.exempt !== true) {
        call.caller = await identify(incoming.authorization)
        if (!isDecoded || !call.peerIsGateway || rules.goesOn?.(request) !== true) accountLimit?.count(call.caller)
      }
      if (incoming.cancellation.aborted) throw incoming.cancellation.reason
      if (!isDecoded) throw malformedRequest(request)
      return await call.within(() => handler(call, request))
    } catch (error) {
      const target = isDecoded ? rules.target?.(request) : undefined
      const failure = domainErrorFor(error, call, target)
      call.failed(failure)
      if (failure.code === 'conflict' && failure.guarded && target !== undefined) {
        metrics?.versionConflict(target.resource)
      }
      throw failure
    }
  }
}

interface InterceptedBy {
  readonly rpc: string
  readonly resource: string | undefined
  readonly calls: RpcCalls | undefined
  /** Where the line of a call that has ended goes; undefined if the level leaves it out. */
  readonly lines: Logger | undefined
  readonly interceptors: Interceptors
}

/** The context of a call. What few calls ask for is made when it is asked for: a logger takes longer than a read. */
class InterceptedCall implements CallContext, ShareHolder {
  caller: Caller = anonymous
  readonly requestId: string
  readonly peerAddress?: string
  readonly #traceparent: string | undefined
  readonly #call: IncomingCall
  readonly #by: InterceptedBy
  /** By `performance.now()`. */
  readonly #begun: number
  /** undefined where no traces are exported. */
  readonly #span: RunningSpan | undefined
  #hasEnded = false
  #log: Logger | undefined

  constructor(call: IncomingCall, by: InterceptedBy) {
    const { rpc, calls, lines, interceptors } = by
    this.#begun = calls?.begin() ?? (lines === undefined ? 0 : performance.now())
    this.requestId = requestIdOf(call.requestId, interceptors.newRequestId)
    if (call.peerAddress !== undefined) this.peerAddress = call.peerAddress
    this.#call = call
    this.#by = by
    const { tracing } = interceptors
    const traceparent = checkedTrace(call.traceparent)
    this.#traceparent = traceparent
    this.#span =
      tracing && startSpan(tracing, rpc, { traceparent, requestId: this.requestId, parentDecides: !this.isDirect })
    countFor(call.cancellation, this)
  }

  get shareKey(): string {
    return shareKey(this.caller, countedAddress(this))
  }

  get signal(): AbortSignal {
    const { signal } = this.#call
    countFor(signal, this)
    return signal
  }

  get cancellation(): Cancellation {
    return this.#call.cancellation
  }

  onTaken(listener: () => void): void {
    this.#call.onTaken(listener)
  }

  get log(): Logger {
    const trace = this.#traceparent === undefined ? {} : { traceparent: this.#traceparent }
    const { rpc, interceptors } = this.#by
    this.#log ??= interceptors.log.child({ requestId: this.requestId, rpc, ...trace })
    return this.#log
  }

  get peerIsGateway(): boolean {
    return this.#by.interceptors.isGateway(this.#call)
  }

  get isDirect(): boolean {
    return this.#by.interceptors.knowsGateways === true && !this.peerIsGateway
  }

  get isRefusedGateway(): boolean {
    return this.isDirect && this.#call.gatewaySecrets.length > 0
  }

  get clientAddress(): string | undefined {
    return clientAddressOf(this.#call, this.#by.interceptors.isGateway)
  }

  /** Does a part of the call's work, so that its statements are known to be its own. */
  within<Result>(work: () => Result): Result {
    const { stopwatch } = this.#call
    const isObserved = this.#span !== undefined || stopwatch !== undefined || areStatementsLogged()
    return isObserved ? forCalls([{ requestId: this.requestId, span: this.#span, stopwatch }], work) : work()
  }

  /** Records the call once: its first end. `error` is the code of what it failed with. */
  ended(code: status, error?: ErrorCode): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const { calls, lines } = this.#by
    calls?.end(this.#begun, code)
    this.#span?.end({ 'rpc.grpc.status_code': code }, SERVER_ERRORS.has(code) ? error : undefined)
    if (lines !== undefined) this.#logEnd(lines, code, error)
  }

  failed(error: DomainError): void {
    const { resource, interceptors } = this.#by
    if (error.code === 'internal' && resource !== undefined) interceptors.unforeseen?.(resource)
    const isGone = this.cancellation.aborted && error.code !== 'upstream.timeout'
    if (isGone) this.ended(status.CANCELLED)
    else this.ended(grpcStatusOf(error), error.code)
  }

  /** The line of the call. Its members are named as those of the gateway's line for the request (docs/operations.md). */
  #logEnd(lines: Logger, code: status, error: ErrorCode | undefined): void {
    const { caller, requestId } = this
    const { rpc, resource } = this.#by
    // Members that are undefined are not written.
    lines.info(
      {
        requestId,
        traceparent: this.#traceparent,
        ...(caller.kind === 'authenticated' ? { account: caller.account, machine: caller.machine } : {}),
        rpc,
        resource,
        status: status[code],
        code: error,
        durationMs: Math.round((performance.now() - this.#begun) * 1000) / 1000
      },
      'call'
    )
  }
}

interface Identified {
  readonly traceparent: string | undefined
  readonly requestId: string
  /** Not where anybody calls that is no gateway. */
  readonly parentDecides: boolean
}

/** Codes that are errors of the server, and not of its caller (OpenTelemetry, semantic conventions for gRPC). */
const SERVER_ERRORS: ReadonlySet<status> = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.UNIMPLEMENTED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS
])

function startSpan(tracing: Tracing, rpc: string, { traceparent, requestId, parentDecides }: Identified): RunningSpan {
  const attributes = { 'rpc.system': 'grpc', 'rpc.method': rpc, 'uniform_rest.request_id': requestId }
  return tracing.start({ name: rpc, kind: 'server', parent: traceparent, parentDecides, attributes })
}

/** As `intercept`. Errors that occur while the stream is read are handled too. */
export function interceptStream<Request, Response>(
  handler: StreamHandler<Request, Response>,
  rules: Rules<Request>,
  interceptors: Interceptors
): Intercepted<Request, AsyncIterable<Response>> {
  return intercepted((call, request: Request) => guarded(handler(call, request), call), rules, interceptors)
}

async function* guarded<Response>(messages: AsyncIterable<Response>, call: InterceptedCall): AsyncGenerator<Response> {
  try {
    const reader = messages[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await call.within(() => reader.next())
        if (next.done === true) break
        yield next.value
      }
    } finally {
      // Only where nobody asks for the rest it does something.
      await call.within(() => reader.return?.())
    }
    call.ended(status.OK)
  } catch (error) {
    const failure = domainErrorFor(error, call)
    call.failed(failure)
    throw failure
  } finally {
    // Nobody asks for the rest.
    call.ended(status.CANCELLED)
  }
}

/** Throws for a call without a deadline, which could hold a connection and a statement for ever. */
function requireDeadline({ deadline }: IncomingCall): void {
  if (deadline === Infinity) throw new DomainError('request.malformed', 'Every call needs a deadline.')
}

function malformedRequest({ cause }: UndecodableRequest): DomainError {
  if (cause instanceof DomainError) return cause
  return new DomainError('request.malformed', 'The bytes of the request are not those of the message of its rpc.', {
    cause
  })
}

export function timeOut(): DomainError {
  return new DomainError('upstream.timeout', 'The data service did not answer in time.')
}

/** For a caller that is gone. Nobody gets this error; it only stops the work. */
export function callerGone(): DomainError {
  return new DomainError('upstream.unavailable', 'The caller went away.')
}

/** Codes of errors that the operator has to fix, not the caller. */
const OURS: readonly ErrorCode[] = ['internal', 'configuration', 'upstream.unavailable', 'upstream.bad-gateway']

/** Rejections that depend on what others do at the same time: whoever looks into one asks which row it was. */
const CONFLICTS: readonly ErrorCode[] = ['conflict', 'idempotency.in-flight']

type FailedCall = Pick<CallContext, 'cancellation' | 'log' | 'caller' | 'clientAddress'>

/**
 * Returns a DomainError unchanged. Anything else becomes `internal` with a fixed text, unless the call was stopped; the
 * log has its details under the request id. This is the one place that logs the cause of an error, and for a conflict
 * the row.
 */
function domainErrorFor(error: unknown, call: FailedCall, target?: Target): DomainError {
  const { cancellation, log, caller } = call
  const reason: unknown = cancellation.aborted ? cancellation.reason : undefined
  if (reason instanceof DomainError) {
    log.debug({ code: reason.code }, 'call stopped')
    return reason
  }
  if (!(error instanceof DomainError)) {
    log.error({ err: error }, 'call failed unforeseen')
    return new DomainError(
      'internal',
      'Something went wrong in the data service. Its log says more under the request id.'
    )
  }
  const { code, cause } = error
  if (isKeysUnavailable(error)) log.debug({ code }, 'call refused')
  // Without a cause nothing is broken: the caller was only told to come back later.
  else if (code === 'upstream.unavailable' && cause === undefined)
    log.warn({ code, detail: error.message }, 'call refused')
  else if (OURS.includes(code)) log.error({ code, err: cause ?? error }, 'call failed')
  else if (code === 'ownership.denied') {
    const account = caller.kind === 'authenticated' ? caller : undefined
    const { clientAddress } = call
    trail(log, {
      event: 'ownership',
      outcome: 'refused',
      account,
      clientAddress,
      code,
      reason: error.message,
      ...target
    })
  } else if (CONFLICTS.includes(code)) log.info({ code, reason: loggedReason(error), ...target }, 'call refused')
  // The trail of logins has a line about a throttled call already.
  else if (cause !== undefined && code !== 'quota-exceeded')
    log.info({ code, reason: loggedReason(error) }, 'call refused')
  // The message repeats names and values that the caller sent, which must not be in the log.
  else log.debug({ code, faults: error.violations.length }, 'call refused')
  return error
}

/** What the log says of the cause. The words of a driver may hold values of the request: its code stands for them. */
function loggedReason({ cause, reason, message }: DomainError): string {
  const said = cause === undefined ? message : (driverCode(cause) ?? messageOf(cause))
  return reason === undefined ? said : `${reason}: ${said}`
}

/** The code and the number of a driver's error, which Sequelize may have wrapped; undefined for any other error. */
function driverCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if ('parent' in error && error.parent !== error) return driverCode(error.parent)
  if (!('errno' in error) || typeof error.errno !== 'number') return undefined
  // The driver does not know the names of all numbers.
  return 'code' in error && typeof error.code === 'string' ? `${error.code} ${error.errno}` : String(error.errno)
}

/** Whether a call comes from a gateway, which may give the address of its client. */
export type IsGateway = (call: Connection) => boolean

/** Milliseconds between two warnings about a wrong secret. */
const WARN_EVERY = 60_000

/**
 * A peer is a gateway when it sends the secret, or when its certificate, which the authority vouches for, is for
 * `name`: a DNS name among its subject alternative names or, without any, its common name. Another certificate of the
 * same authority is an internal caller's.
 */
export function gatewayPeers(
  { secret, name }: { readonly secret: string | undefined; readonly name: string },
  { log, now }: { readonly log: Logger; readonly now: () => number }
): IsGateway {
  const expected = secret === undefined ? undefined : secretDigest(secret)
  let warned = -Infinity
  // The calls of a stream have the secrets that it was opened with.
  const proven = new WeakSet<readonly string[]>()
  return (call) => {
    if (proven.has(call.gatewaySecrets)) return true
    const [sent, ...others] = call.gatewaySecrets
    if (sent !== undefined && others.length === 0 && expected !== undefined) {
      if (timingSafeEqual(secretDigest(sent), expected)) {
        proven.add(call.gatewaySecrets)
        return true
      }
      if (now() - warned >= WARN_EVERY) {
        warned = now()
        log.warn({ peer: call.peerAddress }, 'a caller sends another GATEWAY_SECRET than this process has')
      }
    }
    const certificate = call.peerCertificate()
    return certificate !== undefined && isCertificateFor(certificate, name)
  }
}

function isCertificateFor(der: Buffer, name: string): boolean {
  return new X509Certificate(der).checkHost(name, { wildcards: false }) !== undefined
}

/** Has the same length for every secret, so that the comparison does not reveal the length of ours. */
function secretDigest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function clientAddressOf(call: IncomingCall, isGateway: IsGateway): string | undefined {
  const { clientAddress, peerAddress } = call
  const isAddress = clientAddress !== undefined && isIP(clientAddress) !== 0
  return isAddress && isGateway(call) ? clientAddress : peerAddress
}
