import type { Logger } from 'pino'
import { throttledAddress } from '../../shared/ip-address.js'
import type { Cancellation } from '../../shared/transport/cancellation.js'

/** Who calls. The data service takes this from the token that it validates itself, never from what the gateway says. */
export type Caller = Anonymous | Authenticated

interface Anonymous {
  readonly kind: 'anonymous'
}

export interface Authenticated {
  readonly kind: 'authenticated'
  /** Issuer and subject together identify a caller. */
  readonly issuer: string
  readonly subject: string
  /** Issuer and subject in log lines (loggedAccount of shared/access-token.ts); absent where the service itself calls. */
  readonly account?: string
  /** The name of a machine account in log lines; absent for persons. */
  readonly machine?: string
  readonly roles: readonly string[]
  readonly permissions: ReadonlySet<string>
  /** The owner claim, 64 bits signed; null if it is missing or no integer. */
  readonly owner: bigint | null
  /** The owners of the kinds that the application names, as `owner`; absent where the service itself calls. */
  readonly owners?: Readonly<Record<string, bigint | null>>
  /** The subject as rules, row scopes and presets see it, with the issuer where that is not ours; absent as `owners` is. */
  readonly subjectInRules?: string
  /** The claims of the token that these see, as JSON values. */
  readonly claims: Readonly<Record<string, unknown>>
  /** When the token ends, in epoch milliseconds; absent where the service itself calls. */
  readonly expiresAt?: number
}

export const anonymous: Anonymous = { kind: 'anonymous' }

/**
 * By what the share of a caller is counted: its account, or the address of an anonymous client. All clients whose address is
 * not known (an empty text) are counted together.
 */
export function shareKey(caller: Caller, clientAddress: string): string {
  if (caller.kind === 'authenticated') return JSON.stringify([caller.issuer, caller.subject])
  return clientAddress === '' ? anonymous.kind : throttledAddress(clientAddress)
}

/** What a handler knows of its call besides the request. Only the interceptors make one. */
export interface CallContext {
  readonly caller: Caller
  /** Request id of the caller, or a new one; it is in every log line. */
  readonly requestId: string
  /** IP address of the connection's other end, which may be the gateway; absent where the transport knows none. */
  readonly peerAddress?: string
  /** Whether the other end has proved to be a gateway, so that the addresses it names for its clients are taken. */
  readonly peerIsGateway: boolean
  /** Whether gateways prove to be ones, and the other end has not: it is a caller itself, with its own address. */
  readonly isDirect?: boolean
  /** Whether it is direct and sends a secret all the same: it takes itself for a gateway. */
  readonly isRefusedGateway?: boolean
  /** For the log: IP address of the client that a gateway calls for, or else of the connection's other end. */
  readonly clientAddress: string | undefined
  /** Aborted when the caller goes away or the deadline passes, with a DomainError as its reason. */
  readonly signal: AbortSignal
  /** The same, for what needs no AbortSignal: that is made when it is asked for. */
  readonly cancellation: Cancellation
  /** Calls back once the caller has taken the answer, or cannot take one any more: at once where that is so already. */
  onTaken(listener: () => void): void
  readonly log: Logger
}

/** The address by which a client is counted: what a gateway tells, or that of a peer that is none, where gateways are known. */
export function countedAddress(
  context: Pick<CallContext, 'peerIsGateway' | 'isDirect' | 'clientAddress' | 'peerAddress'>
): string {
  if (context.isDirect === true) return context.peerAddress ?? ''
  return context.peerIsGateway ? (context.clientAddress ?? '') : ''
}

/** A unary rpc: a plain function of context and request, throwing DomainErrors. */
export type UnaryHandler<Request, Response> = (context: CallContext, request: Request) => Promise<Response>

/** A server-streaming rpc: messages are pulled, so the transport's back-pressure reaches the database. */
export type StreamHandler<Request, Response> = (context: CallContext, request: Request) => AsyncIterable<Response>
