import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { accountKey } from '../../../data-service/auth/accounts/accounts.js'
import type { AuthDeps } from '../../../data-service/auth/authentication.js'
import { CountedAttempts } from '../../../data-service/auth/counted-attempts.js'
import { login } from '../../../data-service/auth/login.js'
import { machineToken } from '../../../data-service/auth/machine-token.js'
import { requestOneTimeLink, useOneTimeLink } from '../../../data-service/auth/one-time-links.js'
import { changePassword } from '../../../data-service/auth/password-change.js'
import { PasswordCheck } from '../../../data-service/auth/password-check.js'
import { refresh, revoke, revokeAll, type Session } from '../../../data-service/auth/sessions.js'
import { signAccessToken, parseKeyFile } from '../../../data-service/auth/tokens/signing-keys.js'
import { anonymous, type CallContext } from '../../../data-service/entity/caller.js'
import { createAuthStore } from '../../../data-service/sql/own-rows/accounts.js'
import { connect } from '../../../data-service/sql/connect.js'
import type { Transactions } from '../../../data-service/sql/engines/sessions.js'
import { engineMigrations } from '../../../schema/migrations/engine-tables.js'
import { migrateDatabase } from '../../../schema/migrations/migrate.js'
import { copiedDatabases } from '../../harness/copied-database.js'
import { OWN } from '../../harness/own-tables.js'
import { DomainError } from '../../../shared/errors.js'
import type { DatabaseKind } from '../../harness/database.js'

export const START = Date.UTC(2026, 0, 31)
export const MINUTE = 60_000
export const DAY = 24 * 60 * MINUTE
export const GRACE = 10_000

interface Credentials {
  readonly email: string
  readonly password: string
  readonly clientAddress?: string
  readonly replacedRefreshTokens?: string[]
}

type LinkReason = 'LINK_REASON_FORGOTTEN_PASSWORD' | 'LINK_REASON_SIGN_UP'

/** One of several replicas: stores and connections of its own, one clock for all of them. */
export interface Replica {
  readonly by: AuthDeps
  login(request: Credentials, signal?: AbortSignal): Promise<Session>
  refresh(token: string): Promise<Session>
  revoke(token: string): Promise<void>
  revokeAll(token: string): Promise<void>
  changePassword(token: string, currentPassword: string, newPassword: string): Promise<Session>
  /** Asks for a one-time link; without a reason for a forgotten password. */
  ask(email: string, reason?: LinkReason): Promise<void>
  /** Chooses a password by the secret of a one-time link. */
  use(token: string, newPassword: string, name?: string): Promise<void>
  /** The access token of a machine account. */
  token(clientId: string, clientSecret: string, clientAddress?: string): Promise<string>
  close(): Promise<void>
}

/** The rpcs over a migrated database with one account that is nobody's sample: `kim@example.com`, `right`. */
export class AuthHarness implements AsyncDisposable {
  readonly url: string
  now = START
  /** Hashes that passwords were verified against. */
  readonly verified: string[] = []
  readonly logs: Record<string, unknown>[] = []
  readonly #dispose: () => Promise<void>
  readonly #replicas: Replica[] = []

  private constructor(url: string, dispose: () => Promise<void>) {
    this.url = url
    this.#dispose = dispose
  }

  static async over(kind: DatabaseKind): Promise<AuthHarness> {
    const [copy] = await copiedDatabases(kind, { name: 'accounts' }, ([url = '']) => withKim(url))
    if (copy === undefined) throw new TypeError('One database was asked for.')
    return new AuthHarness(copy.url, () => copy.dispose())
  }

  /** `through` stands before the database's own transactions. */
  replica(changed: Partial<AuthDeps> = {}, through = (own: Transactions): Transactions => own): Replica {
    const database = connect(this.url)
    const transactions = database.openTransactions()
    const now = (): number => this.now
    const tokenOptions = { key: SIGNING, issuer: 'i', audience: 'a', ownerClaimType: 'customer_id', ttl: MINUTE }
    const store = createAuthStore(database, { tables: OWN, transactions: through(transactions), random: Math.random })
    const by: AuthDeps = {
      store,
      outsideSignIn: undefined,
      oneTimeLinks: undefined,
      // Fast, unlike the real ones, and it tells what it was asked.
      passwords: {
        hash: (password) => Promise.resolve(hashOf(password)),
        verify: (hashed, password) => {
          this.verified.push(hashed)
          return Promise.resolve(hashed === hashOf(password))
        }
      },
      decoyHash: 'decoy',
      accessToken: (account, sid) => signAccessToken(account, sid, { ...tokenOptions, now, newId: randomUUID }),
      issuers: [],
      sampleData: false,
      refreshTtl: 7 * DAY,
      refreshGrace: GRACE,
      now,
      randomBytes,
      newId: randomUUID,
      ...changed
    }
    const context = (signal = new AbortController().signal): CallContext => ({
      caller: anonymous,
      requestId: 'r',
      peerAddress: '198.51.100.7',
      peerIsGateway: true,
      clientAddress: '198.51.100.7',
      signal,
      cancellation: signal,
      onTaken: () => undefined,
      log: pino({ level: 'debug' }, { write: (line) => void this.logs.push(parsed(line)) })
    })
    const attempts = new CountedAttempts(by)
    const passwords = new PasswordCheck(by, attempts)
    const issue = machineToken(by, attempts)
    const logIn = login(by, passwords)
    const change = changePassword(by, passwords)
    const ask = requestOneTimeLink(by, attempts)
    const use = useOneTimeLink(by, attempts)
    const replica: Replica = {
      by,
      login: async ({ clientAddress = '', replacedRefreshTokens = [], ...request }, signal) =>
        sessionIn(await logIn(context(signal), { ...request, clientAddress, replacedRefreshTokens })),
      refresh: async (refreshToken) => sessionIn(await refresh(by)(context(), { refreshToken })),
      revoke: async (refreshToken) => void (await revoke(by)(context(), { refreshToken })),
      revokeAll: async (refreshToken) => void (await revokeAll(by)(context(), { refreshToken })),
      changePassword: async (refreshToken, currentPassword, newPassword) =>
        sessionIn(await change(context(), { refreshToken, currentPassword, newPassword, clientAddress: '' })),
      ask: async (email, reason = 'LINK_REASON_FORGOTTEN_PASSWORD') =>
        void (await ask(context(), { email, reason, clientAddress: '' })),
      use: async (token, newPassword, name = '') =>
        void (await use(context(), { token, newPassword, name, clientAddress: '' })),
      token: async (clientId, clientSecret, clientAddress = '192.0.2.1') =>
        (await issue(context(), { clientId, clientSecret, clientAddress })).accessToken ?? '',
      close: async () => {
        await transactions.close()
        await database.sequelize.close()
      }
    }
    this.#replicas.push(replica)
    return replica
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const replica of this.#replicas) await replica.close()
    await this.#dispose()
  }
}

/** Gives an empty database the engine's own tables and the one account. */
async function withKim(url: string): Promise<void> {
  const database = connect(url)
  await migrateDatabase(database, engineMigrations(OWN), { own: OWN, log: pino({ level: 'silent' }) })
  const transactions = database.openTransactions()
  const store = createAuthStore(database, { tables: OWN, transactions, random: Math.random })
  await store.transaction(new AbortController().signal, (unit) =>
    unit.addAccount({
      email: 'Kim@Example.com',
      emailKey: accountKey('kim@example.com'),
      name: 'Kim',
      roles: ['Customer'],
      owner: 2n ** 63n - 1n,
      claims: {},
      passwordHash: hashOf('right'),
      isSample: false,
      createdAt: START
    })
  )
  await transactions.close()
  await database.sequelize.close()
}

/** The DomainError that a call is rejected with; any other outcome fails the test. */
export async function rejectionOf(call: Promise<unknown>): Promise<DomainError> {
  const error: unknown = await call.then(
    () => new Error('not refused'),
    (reason: unknown) => reason
  )
  if (error instanceof DomainError) return error
  throw error
}

const SIGNING = parseKeyFile(
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  'The test'
).signing

function hashOf(password: string): string {
  // The column is ASCII.
  return `hash of ${encodeURIComponent(password)}`
}

function sessionIn({ session }: { readonly session?: unknown }): Session {
  // The handlers answer what sessionOf makes, whose type the generated one widens.
  return session as Session
}

function parsed(line: string): Record<string, unknown> {
  const entry: unknown = JSON.parse(line)
  return typeof entry === 'object' && entry !== null ? { ...entry } : {}
}
