import { createHash, timingSafeEqual, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Logger } from 'pino'
import { DomainError, type ErrorCode } from '../../shared/errors.js'
import { messageOf } from '../../shared/start-error.js'
import { requestIdOf } from '../../shared/wire.js'
import type { Identify } from '../auth/claims.js'
import { trail } from '../auth/trail.js'
import { anonymous, type CallContext, type Caller, type StreamHandler } from '../entity/caller.js'

/** A call as its transport hands it over: everything the interceptors judge, nothing of the transport's own. */
export interface IncomingCall {
  /** Every value of `authorization` metadata. */
  readonly authorization: readonly string[]
  readonly requestId: string | undefined
  /** IP address of whoever opened the connection; undefined where there is none, as on a Unix socket. */
  readonly peerAddress: string | undefined
  /** What the other end says is the IP address of its client. */
  readonly clientAddress: string | undefined
  /** Every value of the metadata that gateways send their secret in. */
  readonly gatewaySecrets: readonly string[]
  /** The certificate of the connection's other end in DER, where one was asked for and the authority vouches for it. */
  peerCertificate(): Buffer | undefined
  readonly traceparent: string | undefined
  /** Milliseconds since the epoch; Infinity for none. */
  readonly deadline: number
  /** Aborted by the transport with a DomainError as its reason. */
  readonly signal: AbortSignal
}

/** A call without a deadline could hold a connection and a statement for ever. */
export function requireDeadline({ deadline }: IncomingCall): void {
  if (deadline === Infinity) throw new DomainError('request.malformed', 'Every call needs a deadline.')
}

export function timeOut(): DomainError {
  return new DomainError('upstream.timeout', 'The data service did not answer in time.')
}

/** For a caller that hears no answer any more: it only stops the work. */
export function callerGone(): DomainError {
  return new DomainError('upstream.unavailable', 'The caller went away.')
}

/** What the service has to mend, not the caller. */
const OURS: readonly ErrorCode[] = ['internal', 'configuration', 'upstream.unavailable', 'upstream.bad-gateway']

/** What a call is about, for the log. */
export interface Target {
  readonly resource: string
  /** As in a path; absent where the call names no row. */
  readonly id?: string
}

/** Rejections that depend on what others do at the same time: whoever looks into one asks which row it was. */
const CONFLICTS: readonly ErrorCode[] = ['conflict', 'idempotency.in-flight']

interface FailedCall {
  readonly signal: AbortSignal
  readonly log: Logger
  readonly caller: Caller
  readonly clientAddress: string | undefined
  readonly target?: Target | undefined
}

/**
 * A DomainError as it is; anything else, stopped work aside, is `internal` with fixed words, and the log has the rest
 * under the request's id. A distinct cause is logged once, here, a conflict with the row that it is about.
 */
export function toDomainError(error: unknown, call: FailedCall): DomainError {
  const { signal, log, caller, target } = call
  const reason: unknown = signal.aborted ? signal.reason : undefined
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
  // A caller who was only told to come back later, with nothing broken behind it, is no fault.
  if (code === 'upstream.unavailable' && cause === undefined) log.warn({ code, detail: error.message }, 'call refused')
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
  } else if (CONFLICTS.includes(code)) log.info({ code, reason: messageOf(cause ?? error), ...target }, 'call refused')
  // What is throttled has its line in the trail of log-ins already.
  else if (cause !== undefined && code !== 'quota-exceeded')
    log.info({ code, reason: messageOf(cause) }, 'call refused')
  // Its words repeat what the caller sent, names and values, which no log line may.
  else log.debug({ code, faults: error.violations.length }, 'call refused')
  return error
}

/** Whether a call comes from a gateway, which speaks for clients of its own. */
export type IsGateway = (call: IncomingCall) => boolean

/** Milliseconds between two warnings of one kind. */
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
  const expected = secret === undefined ? undefined : digest(secret)
  let warned = -Infinity
  return (call) => {
    const [sent, ...others] = call.gatewaySecrets
    if (sent !== undefined && others.length === 0 && expected !== undefined) {
      if (timingSafeEqual(digest(sent), expected)) return true
      if (now() - warned >= WARN_EVERY) {
        warned = now()
        log.warn({ peer: call.peerAddress }, 'a caller sends another GATEWAY_SECRET than this process has')
      }
    }
    const certificate = call.peerCertificate()
    return certificate !== undefined && isFor(certificate, name)
  }
}

function isFor(der: Buffer, name: string): boolean {
  return new X509Certificate(der).checkHost(name, { wildcards: false }) !== undefined
}

/** Of one length, whatever the secret's: the comparison tells nothing of it. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

export interface Interceptors {
  readonly identify: Identify
  readonly isGateway: IsGateway
  readonly log: Logger
  readonly newRequestId: () => string
}

/** A handler with every rule around it that holds for all calls. It rejects with DomainErrors alone. */
export type Intercepted<Request, Response> = (call: IncomingCall, request: Request) => Promise<Response>

export interface Rules<Request> {
  /** For the log. */
  readonly rpc: string
  /** Describe and AuthService are answered without asking who calls. */
  readonly exempt?: boolean
  /** The row that the request is about, for the log. */
  readonly target?: (request: Request) => Target
  /** Whether the request itself bounds the call's time, in place of a deadline. */
  readonly bounded?: (request: Request) => boolean
}

/** Puts errors, deadline and caller around a handler, in this order; there is no other way to one. */
export function intercept<Request, Response>(
  handler: (context: CallContext, request: Request) => Response | Promise<Response>,
  rules: Rules<Request>,
  { identify, isGateway, log, newRequestId }: Interceptors
): Intercepted<Request, Response> {
  return async (call, request) => {
    const { signal, traceparent, peerAddress } = call
    const requestId = requestIdOf(call.requestId, newRequestId)
    const callLog = log.child({ requestId, rpc: rules.rpc, ...(traceparent === undefined ? {} : { traceparent }) })
    let caller: Caller = anonymous
    try {
      if (rules.bounded?.(request) !== true) requireDeadline(call)
      caller = rules.exempt === true ? anonymous : await identify(call.authorization)
      signal.throwIfAborted()
      const context: CallContext = {
        caller,
        requestId,
        signal,
        log: callLog,
        ...(peerAddress === undefined ? {} : { peerAddress }),
        // Few handlers ask, and a certificate is slow to look at.
        get peerIsGateway() {
          return isGateway(call)
        },
        get clientAddress() {
          return clientAddressOf(call, isGateway)
        }
      }
      return await handler(context, request)
    } catch (error) {
      throw toDomainError(error, {
        signal,
        log: callLog,
        caller,
        target: rules.target?.(request),
        get clientAddress() {
          return clientAddressOf(call, isGateway)
        }
      })
    }
  }
}

function clientAddressOf(call: IncomingCall, isGateway: IsGateway): string | undefined {
  const { clientAddress, peerAddress } = call
  const isAddress = clientAddress !== undefined && isIP(clientAddress) !== 0
  return isAddress && isGateway(call) ? clientAddress : peerAddress
}

/** As intercept, with what fails on the way through the stream judged too. */
export function interceptStream<Request, Response>(
  handler: StreamHandler<Request, Response>,
  rules: Rules<Request>,
  interceptors: Interceptors
): Intercepted<Request, AsyncIterable<Response>> {
  return intercept((context, request: Request) => guarded(handler(context, request), context), rules, interceptors)
}

async function* guarded<Response>(messages: AsyncIterable<Response>, context: CallContext): AsyncGenerator<Response> {
  try {
    yield* messages
  } catch (error) {
    throw toDomainError(error, context)
  }
}
