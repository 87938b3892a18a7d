import type { ChangePasswordRequest__Output } from '../../shared/gen/auth/v1/ChangePasswordRequest.js'
import type { ChangePasswordResponse } from '../../shared/gen/auth/v1/ChangePasswordResponse.js'
import type { CallContext, UnaryHandler } from '../entity/caller.js'
import { Violations } from '../plan/parsing/violations.js'
import type { StoredAccount } from './accounts/accounts.js'
import type { AuthDeps } from './authentication.js'
import { addressOfAttempt, checkClientAddress, checkText, Rejected } from './counted-attempts.js'
import type { PasswordCheck } from './password-check.js'
import { guessOf, MAX_PASSWORD, passwordMistake } from './accounts/passwords.js'
import {
  findSession,
  type PresentedToken,
  outcomeOf,
  refreshedTooOften,
  rotateUnlessThrottled,
  sessionId,
  sessionOf,
  type SessionOver,
  sessionOver
} from './sessions.js'
import { ownSubject, trail } from './trail.js'

const WRONG_PASSWORD = 'The current password is wrong.'

/**
 * Changes the password of the account of a session, which must be live: an access token that outlives its session does not
 * do. The current password is checked as by a login, under the same counts. All other sessions of the account end in the
 * transaction that stores the new password, and this one gets a new token.
 */
export function changePassword(
  deps: AuthDeps,
  passwords: PasswordCheck
): UnaryHandler<ChangePasswordRequest__Output, ChangePasswordResponse> {
  return async (context, request) => {
    const { refreshToken, currentPassword, newPassword } = request
    const { signal, log } = context
    const presented = { text: refreshToken, at: deps.now() }
    const { email } = await sessionAccount(context, presented, deps)
    checkRequest(request, email)
    const clientAddress = addressOfAttempt(request.clientAddress, context)
    const tried = {
      event: 'password',
      email,
      password: currentPassword,
      clientAddress,
      rejection: WRONG_PASSWORD
    } as const
    const changed = await passwords.check(tried, context, async (account, succeed) => {
      // Hashing is slow on purpose, so no transaction is open meanwhile.
      const hash = await deps.passwords.hash(newPassword)
      signal.throwIfAborted()
      return await succeed(async (unit) => {
        const session = await findSession(unit, presented, deps)
        if (session.kind !== 'live') return session
        const rotated = await rotateUnlessThrottled(unit, session, deps)
        if (rotated.kind === 'throttled') return rotated
        // A transaction whose COMMIT had no answer is repeated, and may have been done.
        const isSet = session.account.passwordHash === hash
        if (!isSet && !(await unit.setPassword(account.id, hash, account.passwordHash))) {
          throw new Rejected(WRONG_PASSWORD, 'the password was changed meanwhile')
        }
        return { ...rotated, sessions: await unit.endSessions(account.id, deps.now(), session.family.id) }
      })
    })
    switch (changed.kind) {
      case 'refreshed': {
        const { account, live, sessions } = changed
        trail(log, {
          event: 'password',
          outcome: 'success',
          account: ownSubject(deps, account),
          clientAddress,
          session: sessionId(live.familyId),
          sessions
        })
        return { session: sessionOf(account, live, deps) }
      }
      case 'throttled': {
        const error = refreshedTooOften(changed)
        trail(log, {
          event: 'password',
          outcome: 'throttled',
          account: ownSubject(deps, changed.account),
          clientAddress,
          session: sessionId(changed.family.id),
          code: error.code
        })
        throw error
      }
      default:
        throw rejectOver(context, changed, deps)
    }
  }
}

/** The account of a live session. Throws `auth.invalid-token`. */
async function sessionAccount(context: CallContext, presented: PresentedToken, deps: AuthDeps): Promise<StoredAccount> {
  const session = await deps.store.transaction(context.signal, (unit) => findSession(unit, presented, deps))
  if (session.kind !== 'live') throw rejectOver(context, session, deps)
  return session.account
}

/** Writes the line of the trail and answers the error. */
function rejectOver({ log, clientAddress }: CallContext, over: SessionOver, deps: AuthDeps): Error {
  const { family, account, why } = over
  const error = sessionOver()
  trail(log, {
    event: 'password',
    outcome: outcomeOf(over),
    clientAddress,
    account: account && ownSubject(deps, account),
    ...(family === undefined ? {} : { session: sessionId(family.id) }),
    code: error.code,
    reason: why
  })
  return error
}

/** Throws `body.invalid` with a violation for each invalid member. */
function checkRequest(
  { currentPassword, newPassword, clientAddress }: ChangePasswordRequest__Output,
  email: string
): void {
  const violations = new Violations()
  checkText(currentPassword, { pointer: '/currentPassword', max: MAX_PASSWORD }, violations)
  const isOld = guessOf(newPassword) === guessOf(currentPassword)
  const mistake = passwordMistake(newPassword, email) ?? (isOld ? 'must differ from the current one' : undefined)
  if (mistake !== undefined) violations.addAt('/newPassword', `/newPassword ${mistake}.`)
  checkClientAddress(clientAddress, violations)
  violations.finish()
}
