import { isIP } from 'node:net'
import { DomainError } from '../../shared/errors.js'
import { throttledAddress } from '../../shared/ip-address.js'
import type { LoginRequest__Output } from '../../shared/gen/auth/v1/LoginRequest.js'
import type { LoginResponse } from '../../shared/gen/auth/v1/LoginResponse.js'
import type { UnaryHandler } from '../entity/caller.js'
import { Violations } from '../plan/violations.js'
import { accountKey, type AuthUnit, type Family, type StoredAccount } from './accounts.js'
import type { AuthDeps } from './authentication.js'
import { type Attempt, attemptKeys, LoginQueue, LoginThrottle } from './login-throttle.js'
import { parseRefreshToken, tokenKeys } from './refresh-token.js'
import { isUsable, type LiveToken, openFamily, sessionId, sessionOf } from './sessions.js'
import { ownSubject, trail, triedAccount } from './trail.js'

/** The longest address that RFC 5321 allows. */
const MAX_EMAIL = 254
/** Limits the work of hashing. No passphrase in use is as long. */
const MAX_PASSWORD = 1024

interface Credentials {
  readonly email: string
  readonly password: string
  /** Empty if the address of the gRPC peer counts. */
  readonly clientAddress: string
}

/** Throws `body.invalid` with a violation for each invalid member. */
export function checkCredentials({ email, password, clientAddress }: Credentials): void {
  const violations = new Violations()
  check(email, { pointer: '/email', max: MAX_EMAIL }, violations)
  check(password, { pointer: '/password', max: MAX_PASSWORD }, violations)
  if (clientAddress !== '' && isIP(clientAddress) === 0) {
    violations.addAt('/clientAddress', '/clientAddress must be an IP address, or empty.')
  }
  violations.finish()
}

interface Member {
  readonly pointer: string
  /** Characters. */
  readonly max: number
}

function check(text: string, { pointer, max }: Member, violations: Violations): void {
  if (text.trim() === '') violations.addAt(pointer, `${pointer} must be there, and not blank.`)
  else if (text.length > max) violations.addAt(pointer, `${pointer} must be at most ${max} characters long.`)
}

/** Milliseconds that recording a failed attempt may take. It is done even if the caller has disconnected. */
const SETTLING = 5000

/**
 * The number of refresh tokens in a request whose sessions are ended. A browser sends one, or more if another site of the
 * domain has set cookies of the same name.
 */
const MAX_REPLACED = 4

/**
 * Opens a session and ends the sessions whose refresh tokens come with the request. It takes the same steps whether or not
 * the account exists, so that neither the response nor its time shows which accounts exist.
 */
export function login(deps: AuthDeps): UnaryHandler<LoginRequest__Output, LoginResponse> {
  const throttle = new LoginThrottle(deps)
  const queue = new LoginQueue()
  return async (context, { email, password, clientAddress: given, replacedRefreshTokens }) => {
    const { signal, log, peerAddress = '' } = context
    checkCredentials({ email, password, clientAddress: given })
    const emailKey = accountKey(email)
    // Only a gateway may name the client's address. Others could invent one for each attempt, or use up the limit of an
    // address that is not theirs.
    const clientAddress = given !== '' && context.peerIsGateway ? given : peerAddress
    const address = throttledAddress(clientAddress)
    const keys = attemptKeys(emailKey, address)
    const replaced = replacedRefreshTokens.slice(0, MAX_REPLACED)
    const tried = { event: 'login', account: triedAccount(deps, email), clientAddress } as const
    // True if the throttle has counted the attempt or may have. Then a log line is written, whatever the outcome.
    let counted = false
    try {
      for (const end = LoginThrottle.waitEnd(); ;) {
        await throttle.waitUntilAllowed(keys, end, signal)
        const leave = await queue.enter(address, signal)
        try {
          counted = true
          const attempt = await throttle.admit(keys, signal)
          if (attempt === undefined) {
            counted = false
            continue
          }
          const outcome = await checked({ attempt, emailKey, password, replaced, signal }, throttle, deps)
          if ('why' in outcome) throw new Rejected(outcome.why)
          const { account, live, ended } = outcome
          trail(log, {
            ...tried,
            outcome: 'success',
            account: ownSubject(deps, account),
            session: sessionId(live.familyId)
          })
          for (const { family, of } of ended) {
            trail(log, {
              event: 'logout',
              outcome: 'replaced',
              account: of && ownSubject(deps, of),
              clientAddress,
              session: sessionId(family.id)
            })
          }
          return { session: sessionOf(account, live, deps) }
        } finally {
          leave()
        }
      }
    } catch (error) {
      if (error instanceof Rejected) {
        trail(log, { ...tried, outcome: 'failure', code: error.code, reason: error.why })
      } else if (error instanceof DomainError && error.code === 'quota-exceeded') {
        trail(log, { ...tried, outcome: 'throttled', code: error.code, reason: messageOf(error.cause ?? error) })
      } else if (counted) {
        const reason = signal.aborted ? messageOf(signal.reason) : 'the attempt could not be checked'
        trail(log, { ...tried, outcome: 'abandoned', reason })
      }
      throw error
    }
  }
}

interface Admitted {
  readonly attempt: Attempt
  readonly emailKey: Buffer
  readonly password: string
  /** Refresh tokens of the sessions that end with the login. */
  readonly replaced: readonly string[]
  readonly signal: AbortSignal
}

interface LoggedIn {
  readonly account: StoredAccount
  readonly live: LiveToken
  readonly ended: readonly EndedSession[]
}

/** A session that a login ended; `of` is its account, undefined if that no longer exists. */
interface EndedSession {
  readonly family: Family
  readonly of: StoredAccount | undefined
}

type Outcome = LoggedIn | { readonly why: string }

/** Checks the password of an admitted attempt. Records the outcome in every case, errors included. */
async function checked(
  { attempt, emailKey, password, replaced, signal }: Admitted,
  throttle: LoginThrottle,
  deps: AuthDeps
): Promise<Outcome> {
  const { store, passwords, decoyHash } = deps
  // An attempt that stayed pending would make others wait for half a minute.
  const fail = (): Promise<void> =>
    store.transaction(AbortSignal.timeout(SETTLING), (unit) => throttle.failed(unit, attempt))
  let why: string
  try {
    const account = await store.findAccount(signal, emailKey)
    signal.throwIfAborted()
    const isRight = await passwords.verify(account?.passwordHash ?? decoyHash, password)
    if (account !== undefined && isRight && isUsable(account, deps)) {
      const opened = await store.transaction(signal, async (unit) => {
        await throttle.succeeded(unit, attempt)
        const ended: EndedSession[] = []
        for (const text of replaced) ended.push(...(await endFamilyOf(unit, text, deps.now())))
        return { ended, live: await openFamily(unit, account.id, deps) }
      })
      return { account, ...opened }
    }
    const wrong = account === undefined ? 'no such account' : 'wrong password'
    why = isRight ? 'sample account, and SAMPLE_DATA is off' : wrong
  } catch (error) {
    await fail().catch(() => undefined)
    throw error
  }
  await fail()
  return { why }
}

/** Ends the session of a refresh token. Returns an empty list if the token is unknown or its session had ended before. */
async function endFamilyOf(unit: AuthUnit, refreshToken: string, at: number): Promise<readonly EndedSession[]> {
  const token = parseRefreshToken(refreshToken)
  const family = token && (await unit.lockFamilyOf(tokenKeys(token)))
  if (family === undefined || family.revokedAt !== null) return []
  await unit.revokeFamily(family.id, at)
  return [{ family, of: await unit.getAccount(family.accountId) }]
}

/** The client gets the same error for a wrong password and for an unknown account. Only the log shows `why`. */
class Rejected extends DomainError {
  readonly why: string

  constructor(why: string) {
    super('auth.invalid-credentials', 'The e-mail address or the password is wrong.')
    this.why = why
  }
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}
