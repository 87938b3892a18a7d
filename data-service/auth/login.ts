import type { Logger } from 'pino'
import type { LoginRequest__Output } from '../../shared/gen/auth/v1/LoginRequest.js'
import type { LoginResponse } from '../../shared/gen/auth/v1/LoginResponse.js'
import type { UnaryHandler } from '../entity/caller.js'
import { Violations } from '../plan/parsing/violations.js'
import { type AuthUnit, type Family, MAX_EMAIL, type StoredAccount } from './accounts/accounts.js'
import type { AuthDeps } from './authentication.js'
import { addressOfAttempt, checkClientAddress, checkText } from './counted-attempts.js'
import type { PasswordCheck } from './password-check.js'
import { MAX_PASSWORD } from './accounts/passwords.js'
import { parseRefreshToken, tokenKeys } from './tokens/refresh-token.js'
import { openFamily, sessionId, sessionOf } from './sessions.js'
import { ownSubject, trail } from './trail.js'

interface LoginParts {
  readonly email: string
  readonly password: string
  /** Empty if the address of the gRPC peer counts. */
  readonly clientAddress: string
}

/** Throws `body.invalid` with a violation for each invalid member. */
export function checkCredentials({ email, password, clientAddress }: LoginParts): void {
  const violations = new Violations()
  checkText(email, { pointer: '/email', max: MAX_EMAIL }, violations)
  checkText(password, { pointer: '/password', max: MAX_PASSWORD }, violations)
  checkClientAddress(clientAddress, violations)
  violations.finish()
}

/**
 * The number of refresh tokens in a request whose sessions are ended. A browser sends one, or more if another site of the
 * domain has set cookies of the same name.
 */
const MAX_REPLACED = 4

/** Opens a session and ends the sessions whose refresh tokens come with the request. */
export function login(deps: AuthDeps, passwords: PasswordCheck): UnaryHandler<LoginRequest__Output, LoginResponse> {
  return async (context, { email, password, clientAddress: given, replacedRefreshTokens }) => {
    const { log } = context
    checkCredentials({ email, password, clientAddress: given })
    const clientAddress = addressOfAttempt(given, context)
    const tried = { event: 'login', email, password, clientAddress, rejection: REJECTION } as const
    const { account, live, ended } = await passwords.check(tried, context, (account, succeed) =>
      succeed(async (unit) => {
        const ended = await endReplaced(unit, replacedRefreshTokens, deps.now())
        return { account, ended, live: await openFamily(unit, account, deps) }
      })
    )
    trail(log, {
      event: 'login',
      outcome: 'success',
      account: ownSubject(deps, account),
      clientAddress,
      session: sessionId(live.familyId)
    })
    logReplaced(log, ended, { deps, clientAddress })
    return { session: sessionOf(account, live, deps) }
  }
}

const REJECTION = 'The e-mail address or the password is wrong.'

/** A session that a login ended; `of` is its account, undefined if that no longer exists. */
interface EndedSession {
  readonly family: Family
  readonly of: StoredAccount | undefined
}

/** Ends the sessions of refresh tokens that a new session replaces. */
export async function endReplaced(
  unit: AuthUnit,
  refreshTokens: readonly string[],
  at: number
): Promise<readonly EndedSession[]> {
  const ended: EndedSession[] = []
  for (const text of refreshTokens.slice(0, MAX_REPLACED)) ended.push(...(await endFamilyOf(unit, text, at)))
  return ended
}

/** Writes the lines of the trail about sessions that a new one has replaced. */
export function logReplaced(
  log: Logger,
  ended: readonly EndedSession[],
  { deps, clientAddress }: { readonly deps: AuthDeps; readonly clientAddress: string }
): void {
  for (const { family, of } of ended) {
    trail(log, {
      event: 'logout',
      outcome: 'replaced',
      account: of && ownSubject(deps, of),
      clientAddress,
      session: sessionId(family.id)
    })
  }
}

/** Ends the session of a refresh token. Returns an empty list if the token is unknown or its session had ended before. */
async function endFamilyOf(unit: AuthUnit, refreshToken: string, at: number): Promise<readonly EndedSession[]> {
  const token = parseRefreshToken(refreshToken)
  const family = token && (await unit.lockFamilyOf(tokenKeys(token)))
  if (family === undefined || family.revokedAt !== null) return []
  await unit.revokeFamily(family.id, at)
  return [{ family, of: await unit.getAccount(family.accountId) }]
}
