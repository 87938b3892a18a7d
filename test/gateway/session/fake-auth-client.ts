import type {
  AuthCall,
  AuthClient,
  Credentials,
  IssuerKeys,
  LinkRequest,
  LinkUse,
  LoginCall,
  MachineCredentials,
  MachineToken,
  PasswordChange,
  OutsideSignIn,
  RefreshCall,
  Session
} from '../../../gateway/data/auth-client.js'
import { DomainError } from '../../../shared/errors.js'
import { type Claims, newSigner, signed, type Signer } from './signing.js'

interface SeenAuthCall {
  readonly rpc: keyof AuthClient
  readonly call: AuthCall
  readonly request?: unknown
}

export const ISSUER = 'uniform-rest'
export const AUDIENCE = 'uniform-rest'
const ACCESS_SECONDS = 900
const REFRESH_SECONDS = 604_800

/** Accounts and sessions in memory: every refresh token it gave out is good once. */
export class FakeAuthClient implements AuthClient {
  readonly calls: SeenAuthCall[] = []
  readonly live = new Set<string>()
  signer: Signer = newSigner('own')
  /** Thrown by every call in place of an answer. */
  failure: Error | undefined
  /** What else `keys` publishes. */
  outside: IssuerKeys[] = []
  /** Awaited by `refresh` before it answers. */
  gate: Promise<void> = Promise.resolve()
  /** Awaited by `login` before it answers. */
  onLogin: (signal: AbortSignal) => Promise<void> = () => Promise.resolve()
  readonly #now: () => Date
  #count = 0

  constructor(now: () => Date) {
    this.#now = now
  }

  async login(call: LoginCall, request: Credentials): Promise<Session> {
    this.#seen({ rpc: 'login', call, request })
    await this.onLogin(call.signal)
    if (request.password !== 'demo-password') throw new DomainError('auth.invalid-credentials', 'Wrong.')
    return this.open()
  }

  async signIn(call: LoginCall, request: OutsideSignIn): Promise<Session> {
    this.#seen({ rpc: 'signIn', call, request })
    return this.open()
  }

  async refresh(call: RefreshCall, request: string): Promise<Session> {
    this.#seen({ rpc: 'refresh', call, request })
    await this.gate
    call.signal?.throwIfAborted()
    if (!this.live.delete(request)) throw new DomainError('auth.invalid-token', 'The session is over.')
    return this.open()
  }

  async revoke(call: AuthCall, request: string): Promise<void> {
    this.#seen({ rpc: 'revoke', call, request })
    this.live.delete(request)
  }

  /** All sessions here are of one account. */
  async revokeAll(call: AuthCall, request: string): Promise<void> {
    this.#seen({ rpc: 'revokeAll', call, request })
    if (!this.live.has(request)) throw new DomainError('auth.invalid-token', 'The session is over.')
    this.live.clear()
  }

  async changePassword(call: LoginCall, request: PasswordChange): Promise<Session> {
    this.#seen({ rpc: 'changePassword', call, request })
    if (!this.live.has(request.refreshToken)) throw new DomainError('auth.invalid-token', 'The session is over.')
    if (request.currentPassword !== 'demo-password') throw new DomainError('auth.invalid-credentials', 'Wrong.')
    this.live.clear()
    return this.open()
  }

  async requestOneTimeLink(call: LoginCall, request: LinkRequest): Promise<void> {
    this.#seen({ rpc: 'requestOneTimeLink', call, request })
  }

  async useOneTimeLink(call: LoginCall, request: LinkUse): Promise<void> {
    this.#seen({ rpc: 'useOneTimeLink', call, request })
  }

  async machineToken(call: LoginCall, request: MachineCredentials): Promise<MachineToken> {
    this.#seen({ rpc: 'machineToken', call, request })
    if (request.clientSecret !== 'right') throw new DomainError('auth.invalid-credentials', 'Wrong.')
    return { accessToken: this.token(), expiresIn: ACCESS_SECONDS }
  }

  async keys(call: AuthCall, request?: string): Promise<readonly IssuerKeys[]> {
    this.#seen({ rpc: 'keys', call, request })
    return [keySet(ISSUER, AUDIENCE, [this.signer]), ...this.outside]
  }

  close(): void {}

  /** A session as the data service would open it. */
  open(): Session {
    this.#count += 1
    const refreshToken = `refresh-${this.#count}-`.padEnd(43, 'x')
    this.live.add(refreshToken)
    return {
      accessToken: this.token(),
      accessTokenExpiry: this.#after(ACCESS_SECONDS),
      refreshToken,
      refreshTokenExpiry: this.#after(REFRESH_SECONDS)
    }
  }

  /** An access token of the service's own; claims that are undefined are left out. */
  token(changed: Claims = {}, signer: Signer = this.signer): string {
    const now = Math.floor(this.#now().getTime() / 1000)
    return signed(signer, {
      iss: ISSUER,
      aud: AUDIENCE,
      sub: 'ada@example.com',
      jti: String(this.#count),
      iat: now,
      exp: now + ACCESS_SECONDS,
      ...changed
    })
  }

  made(rpc: SeenAuthCall['rpc']): unknown[] {
    return this.calls.filter((one) => one.rpc === rpc).map(({ request }) => request)
  }

  #seen(call: SeenAuthCall): void {
    this.calls.push(call)
    if (this.failure !== undefined) throw this.failure
  }

  #after(seconds: number): string {
    return new Date(this.#now().getTime() + seconds * 1000).toISOString()
  }
}

export function keySet(issuer: string, audience: string, signers: readonly Signer[]): IssuerKeys {
  const jwks = Buffer.from(JSON.stringify({ keys: signers.map(({ jwk }) => jwk) }))
  return { issuer, audience, tokenType: '', jwks, inDoubt: false }
}
