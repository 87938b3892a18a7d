import { isIP } from 'node:net'
import type { Logger } from 'pino'
import { anonymous, type Caller } from '../auth/caller.js'
import type { Identify } from '../auth/identify.js'
import type { CallContext } from '../rpc/call-context.js'
import { requireDeadline } from './deadline.js'
import { toDomainError, type Target } from './errors.js'
import type { IsGateway } from './gateway-peers.js'
import type { IncomingCall } from './incoming-call.js'

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

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** Puts errors, deadline and caller around a handler, in this order; there is no other way to one. */
export function intercept<Request, Response>(
  handler: (context: CallContext, request: Request) => Response | Promise<Response>,
  rules: Rules<Request>,
  { identify, isGateway, log, newRequestId }: Interceptors
): Intercepted<Request, Response> {
  return async (call, request) => {
    const { signal, traceparent, peerAddress } = call
    const requestId = REQUEST_ID.test(call.requestId ?? '') ? (call.requestId ?? '') : newRequestId()
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
