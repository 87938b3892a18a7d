import type { Logger } from 'pino'

/** Who calls, as the data service's own token validation found; nothing here comes from the gateway's word. */
export type Caller = Anonymous | Authenticated

export interface Anonymous {
  readonly kind: 'anonymous'
}

export interface Authenticated {
  readonly kind: 'authenticated'
  /** A caller is issuer and subject together. */
  readonly issuer: string
  readonly subject: string
  readonly roles: readonly string[]
  readonly permissions: ReadonlySet<string>
  /** The owner claim, 64 bits signed; null where it is missing or anything but an integer. */
  readonly owner: bigint | null
}

export const anonymous: Anonymous = { kind: 'anonymous' }

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
