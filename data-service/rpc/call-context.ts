import type { Logger } from 'pino'
import type { Caller } from '../auth/caller.js'

/** All that a handler knows of its call, whatever transport brought it. Only the interceptors make one. */
export interface CallContext {
  readonly caller: Caller
  /** Request id of the caller, or one made here; in every log line. */
  readonly requestId: string
  /** IP address of the connection's other end, which may be the gateway; absent where the transport knows none. */
  readonly peerAddress?: string
  /** Whether the other end has shown itself to be a gateway: what it says of its own clients may be believed. */
  readonly peerIsGateway: boolean
  /** IP address of the client that a gateway calls for, else that of the connection's other end; for the log. */
  readonly clientAddress: string | undefined
  /** Aborted when the caller goes away or the deadline passes, with a DomainError as its reason. */
  readonly signal: AbortSignal
  readonly log: Logger
}

/** A unary rpc: a plain function of context and request, throwing DomainErrors. */
export type UnaryHandler<Request, Response> = (context: CallContext, request: Request) => Promise<Response>

/** A server-streaming rpc: messages are pulled, so the transport's back-pressure reaches the database. */
export type StreamHandler<Request, Response> = (context: CallContext, request: Request) => AsyncIterable<Response>
