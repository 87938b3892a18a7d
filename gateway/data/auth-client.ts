import { NEVER } from '../../shared/transport/cancellation.js'
import type { IssuerKeys__Output as IssuerKeys } from '../../shared/gen/auth/v1/IssuerKeys.js'
import type { Session__Output as Session } from '../../shared/gen/auth/v1/Session.js'
import type { TokenResponse__Output as MachineToken } from '../../shared/gen/auth/v1/TokenResponse.js'
import type { ProtoGrpcType } from '../../shared/gen/auth_service.js'
import { loadProto } from '../../shared/transport/wire.js'
import { unintelligible } from '../http/problem-details.js'
import { type HttpContext, readUnary, writeUnary } from './calls.js'
import type { ReplicaPool } from './replica-pool.js'

export type { IssuerKeys, MachineToken, Session }

/** These calls carry no `Authorization`. Only those with a signal can be cancelled. */
export type AuthCall = Pick<HttpContext, 'requestId' | 'traceparent' | 'clientAddress' | 'report'>

/** A login or password change is cancelled when its client disconnects, since hashing a password is expensive. */
export type LoginCall = AuthCall & { readonly signal: AbortSignal }

/**
 * Milliseconds that a refresh may take: half of REFRESH_GRACE as it is by default. The grace window runs from the use of the
 * token, so whoever gets no answer in this time has the other half left to ask again.
 */
const REFRESH_TIMEOUT = 5000

/** A refresh is cancelled when nobody waits for it any more: a token that nobody gets would be lost to its browser. */
export type RefreshCall = AuthCall & { readonly signal?: AbortSignal }

export interface Credentials {
  readonly email: string
  readonly password: string
  /** IP address of the client, for throttling. */
  readonly clientAddress: string
  /** Refresh tokens of the sessions that the new session replaces. */
  readonly replacedRefreshTokens: string[]
}

export interface MachineCredentials {
  readonly clientId: string
  readonly clientSecret: string
  /** IP address of the client, for throttling. */
  readonly clientAddress: string
}

export interface PasswordChange {
  readonly refreshToken: string
  readonly currentPassword: string
  readonly newPassword: string
  /** IP address of the client, for throttling. */
  readonly clientAddress: string
}

export interface LinkRequest {
  readonly reason: 'LINK_REASON_FORGOTTEN_PASSWORD' | 'LINK_REASON_SIGN_UP'
  readonly email: string
  /** IP address of the client, for throttling. */
  readonly clientAddress: string
}

export interface LinkUse {
  readonly token: string
  readonly newPassword: string
  /** Of a new account; empty for the one that it gets by itself. */
  readonly name: string
  /** IP address of the client, for throttling. */
  readonly clientAddress: string
}

/** A sign-in at an outside OpenID provider. */
export interface OutsideSignIn extends Pick<Credentials, 'clientAddress' | 'replacedRefreshTokens'> {
  readonly idToken: string
  /** The nonce that the sign-in was begun with. */
  readonly nonce: string
}

/**
 * The AuthService of the data service (auth_service.proto), one function for each rpc. Functions reject with
 * DomainErrors. Every call has a deadline. Only `keys` is retried.
 */
export interface AuthClient {
  /** Throws `auth.invalid-credentials`, or `quota-exceeded` with the seconds to wait. */
  login(call: LoginCall, credentials: Credentials): Promise<Session>
  /** Throws as `login` does, for an ID token that is not valid or has no account. */
  signIn(call: LoginCall, signIn: OutsideSignIn): Promise<Session>
  /** Throws `auth.invalid-token` if the session has ended for good. */
  refresh(call: RefreshCall, refreshToken: string): Promise<Session>
  /** Ends all sessions of the token's family. An unknown token is no error. */
  revoke(call: AuthCall, refreshToken: string): Promise<void>
  /** Ends all sessions of the account of a live session. Any other token is no error. */
  revokeAll(call: AuthCall, refreshToken: string): Promise<void>
  /**
   * Ends all other sessions of the account too. Throws `auth.invalid-token` if the session has ended for good,
   * `auth.invalid-credentials` for another current password, `body.invalid`, and `quota-exceeded`.
   */
  changePassword(call: LoginCall, change: PasswordChange): Promise<Session>
  /** Throws `body.invalid`, `quota-exceeded`, and `route.not-found` where the data service makes no such links. */
  requestOneTimeLink(call: LoginCall, request: LinkRequest): Promise<void>
  /** Throws the same, and `auth.invalid-credentials` for a link that is over. */
  useOneTimeLink(call: LoginCall, use: LinkUse): Promise<void>
  /** An access token for a machine account. Throws `auth.invalid-credentials`, `body.invalid` and `quota-exceeded`. */
  machineToken(call: LoginCall, credentials: MachineCredentials): Promise<MachineToken>
  /**
   * The public keys of every issuer, the data service's own first. `missingKeyId` is a key id of an outside issuer that
   * the data service is to look for.
   */
  keys(call: AuthCall, missingKeyId?: string): Promise<readonly IssuerKeys[]>
}

// loadProto reads the same proto file that the types were generated from.
const { auth } = loadProto('auth/v1/auth_service.proto').types as unknown as ProtoGrpcType
const { service } = auth.v1.AuthService

/** The auth client over gRPC. Whoever made the pool closes it. */
export class GrpcAuthClient implements AuthClient {
  readonly #pool: ReplicaPool

  constructor(pool: ReplicaPool) {
    this.#pool = pool
  }

  async login(call: LoginCall, request: Credentials): Promise<Session> {
    const context = { ...call, authorization: undefined }
    return answeredSession(await writeUnary(this.#pool, { rpc: service.Login, call: context, request }))
  }

  async signIn(call: LoginCall, request: OutsideSignIn): Promise<Session> {
    const context = { ...call, authorization: undefined }
    return answeredSession(await writeUnary(this.#pool, { rpc: service.SignIn, call: context, request }))
  }

  async refresh(call: RefreshCall, refreshToken: string): Promise<Session> {
    const unary = { rpc: service.Refresh, call: contextOf(call), request: { refreshToken }, timeout: REFRESH_TIMEOUT }
    return answeredSession(await writeUnary(this.#pool, unary))
  }

  async revoke(call: AuthCall, refreshToken: string): Promise<void> {
    await writeUnary(this.#pool, { rpc: service.Revoke, call: contextOf(call), request: { refreshToken } })
  }

  async revokeAll(call: AuthCall, refreshToken: string): Promise<void> {
    await writeUnary(this.#pool, { rpc: service.RevokeAll, call: contextOf(call), request: { refreshToken } })
  }

  async changePassword(call: LoginCall, request: PasswordChange): Promise<Session> {
    const context = { ...call, authorization: undefined }
    return answeredSession(await writeUnary(this.#pool, { rpc: service.ChangePassword, call: context, request }))
  }

  async requestOneTimeLink(call: LoginCall, request: LinkRequest): Promise<void> {
    const context = { ...call, authorization: undefined }
    await writeUnary(this.#pool, { rpc: service.RequestOneTimeLink, call: context, request })
  }

  async useOneTimeLink(call: LoginCall, request: LinkUse): Promise<void> {
    const context = { ...call, authorization: undefined }
    await writeUnary(this.#pool, { rpc: service.UseOneTimeLink, call: context, request })
  }

  async machineToken(call: LoginCall, request: MachineCredentials): Promise<MachineToken> {
    const context = { ...call, authorization: undefined }
    return writeUnary(this.#pool, { rpc: service.Token, call: context, request })
  }

  async keys(call: AuthCall, missingKeyId = ''): Promise<readonly IssuerKeys[]> {
    const request = { missingKeyId }
    const { issuers } = await readUnary(this.#pool, { rpc: service.Keys, call: contextOf(call), request })
    return issuers
  }
}

/** A call without a signal is never cancelled. */
function contextOf(call: RefreshCall): HttpContext {
  return { signal: NEVER, ...call, authorization: undefined }
}

function answeredSession({ session }: { readonly session: Session | null }): Session {
  if (session !== null) return session
  throw unintelligible()
}
