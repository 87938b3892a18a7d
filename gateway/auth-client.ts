import type { AuthServiceClient } from '../shared/gen/auth/v1/AuthService.js'
import type { IssuerKeys__Output } from '../shared/gen/auth/v1/IssuerKeys.js'
import type { KeysResponse__Output } from '../shared/gen/auth/v1/KeysResponse.js'
import type { Session__Output } from '../shared/gen/auth/v1/Session.js'
import type { ProtoGrpcType } from '../shared/gen/auth_service.js'
import { loadProto } from '../shared/load-proto.js'
import type { DataCall } from './data-calls.js'
import { NO_CREDENTIALS, type DataCredentials } from './data-credentials.js'
import { unintelligible } from './unintelligible.js'
import { CHANNEL_OPTIONS, readUnary, writeUnary } from './unary-call.js'

export type { IssuerKeys__Output as IssuerKeys } from '../shared/gen/auth/v1/IssuerKeys.js'
export type { Session__Output as Session } from '../shared/gen/auth/v1/Session.js'

/** What a call takes over from its HTTP request. No call here has a caller yet, and none but log-ins is cancelled. */
export type AuthCall = Pick<DataCall, 'requestId' | 'traceparent'>

/** A log-in is cancelled when its client goes away: hashing a password is too dear to be done for nobody. */
export type LoginCall = Pick<DataCall, 'requestId' | 'traceparent' | 'signal'>

export interface Credentials {
  readonly email: string
  readonly password: string
  /** IP address of the client, for throttling. */
  readonly clientAddress: string
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
  close(): void
}

/** The only user of the generated AuthService client. Dials lazily and for ever; `address` is `host:port`. */
export class GrpcAuthClient implements AuthClient {
  readonly #client: AuthServiceClient

  constructor(address: string, { channel, options }: DataCredentials = NO_CREDENTIALS) {
    // The definition loaded beside the generated types is what they describe.
    const types = loadProto('auth/v1/auth_service.proto').types as unknown as ProtoGrpcType
    this.#client = new types.auth.v1.AuthService(address, channel, { ...CHANNEL_OPTIONS, ...options })
  }

  async login(call: LoginCall, request: Credentials): Promise<Session__Output> {
    return opened(
      await writeUnary({ ...call, authorization: undefined }, request, (...args) => this.#client.login(...args))
    )
  }

  async refresh(call: AuthCall, refreshToken: string): Promise<Session__Output> {
    const request = { refreshToken }
    return opened(await writeUnary(uncancelled(call), request, (...args) => this.#client.refresh(...args)))
  }

  async revoke(call: AuthCall, refreshToken: string): Promise<void> {
    await writeUnary(uncancelled(call), { refreshToken }, (...args) => this.#client.revoke(...args))
  }

  async keys(call: AuthCall): Promise<readonly IssuerKeys__Output[]> {
    const answer = readUnary<object, KeysResponse__Output>(uncancelled(call), {}, (...args) =>
      this.#client.keys(...args)
    )
    return (await answer).issuers
  }

  close(): void {
    this.#client.close()
  }
}

function uncancelled(call: AuthCall): DataCall {
  return { ...call, authorization: undefined, signal: new AbortController().signal }
}

function opened({ session }: { readonly session: Session__Output | null }): Session__Output {
  if (session !== null) return session
  throw unintelligible()
}
