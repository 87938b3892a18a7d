import type { IssuerKeys__Output } from '../../shared/gen/auth/v1/IssuerKeys.js'
import type { Session__Output } from '../../shared/gen/auth/v1/Session.js'
import type { ProtoGrpcType } from '../../shared/gen/auth_service.js'
import { loadProto } from '../../shared/wire.js'
import { unintelligible } from '../http/problem-details.js'
import type { DataCall } from './data-calls.js'
import { readUnary, writeUnary } from './data-client.js'
import type { DataReplicas } from './replicas.js'

export type { IssuerKeys__Output as IssuerKeys } from '../../shared/gen/auth/v1/IssuerKeys.js'
export type { Session__Output as Session } from '../../shared/gen/auth/v1/Session.js'

/** What a call takes over from its HTTP request. No call here has a caller yet, and none but log-ins is cancelled. */
export type AuthCall = Pick<DataCall, 'requestId' | 'traceparent' | 'clientAddress'>

/** A log-in is cancelled when its client goes away: hashing a password is too dear to be done for nobody. */
export type LoginCall = Pick<DataCall, 'requestId' | 'traceparent' | 'clientAddress' | 'signal'>

export interface Credentials {
  readonly email: string
  readonly password: string
  /** IP address of the client, for throttling. */
  readonly clientAddress: string
  /** Refresh tokens of the sessions that this one replaces. */
  readonly replacedRefreshTokens: string[]
}

/**
 * Accounts and sessions of the data service, one function an rpc. Failures are DomainErrors. Every call has a deadline;
 * all but `keys` are sent once, whatever becomes of them.
 */
export interface AuthClient {
  /** Throws `auth.invalid-credentials`, or `quota-exceeded` with the seconds to wait. */
  login(call: LoginCall, credentials: Credentials): Promise<Session__Output>
  /** Throws `auth.invalid-token` for a session that is definitively over. */
  refresh(call: AuthCall, refreshToken: string): Promise<Session__Output>
  /** Ends the token's family; one that nobody knows is no failure. */
  revoke(call: AuthCall, refreshToken: string): Promise<void>
  /** The public keys of every issuer, the service's own first. */
  keys(call: AuthCall): Promise<readonly IssuerKeys__Output[]>
}

// The definition loaded beside the generated types is what they describe.
const { auth } = loadProto('auth/v1/auth_service.proto').types as unknown as ProtoGrpcType
const { service } = auth.v1.AuthService

/** The only user of the generated AuthService definition. The replicas are the caller's to close. */
export class GrpcAuthClient implements AuthClient {
  readonly #replicas: DataReplicas

  constructor(replicas: DataReplicas) {
    this.#replicas = replicas
  }

  async login(call: LoginCall, request: Credentials): Promise<Session__Output> {
    const anonymous = { ...call, authorization: undefined }
    return opened(await writeUnary(this.#replicas, { rpc: service.Login, call: anonymous, request }))
  }

  async refresh(call: AuthCall, refreshToken: string): Promise<Session__Output> {
    const request = { refreshToken }
    return opened(await writeUnary(this.#replicas, { rpc: service.Refresh, call: uncancelled(call), request }))
  }

  async revoke(call: AuthCall, refreshToken: string): Promise<void> {
    await writeUnary(this.#replicas, { rpc: service.Revoke, call: uncancelled(call), request: { refreshToken } })
  }

  async keys(call: AuthCall): Promise<readonly IssuerKeys__Output[]> {
    const { issuers } = await readUnary(this.#replicas, { rpc: service.Keys, call: uncancelled(call), request: {} })
    return issuers
  }
}

function uncancelled(call: AuthCall): DataCall {
  return { ...call, authorization: undefined, signal: new AbortController().signal }
}

function opened({ session }: { readonly session: Session__Output | null }): Session__Output {
  if (session !== null) return session
  throw unintelligible()
}
