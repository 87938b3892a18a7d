import type { TokenRequest__Output } from '../../shared/gen/auth/v1/TokenRequest.js'
import type { TokenResponse } from '../../shared/gen/auth/v1/TokenResponse.js'
import type { UnaryHandler } from '../entity/caller.js'
import { Violations } from '../plan/parsing/violations.js'
import { accountKey, MAX_EMAIL } from './accounts/accounts.js'
import { isMachine, matchingSecret } from './accounts/machines.js'
import type { AuthDeps } from './authentication.js'
import { addressOfAttempt, checkClientAddress, checkText, type CountedAttempts, Rejected } from './counted-attempts.js'
import { whyOff } from './sessions.js'
import { ownSubject, trail, triedMachine } from './trail.js'

/** Characters, far more than a secret has. */
const MAX_SECRET = 1024

/** Milliseconds between two writes of the time at which a secret was used last. */
const USE_INTERVAL = 60_000

const REJECTION = 'The client id or the secret is wrong.'

/**
 * An access token for a machine account. Failures count as those of logins do, under the client id and the address. What
 * is checked is read in the transaction that counts the success, so that nothing is issued for what was disabled before.
 */
export function machineToken(
  deps: AuthDeps,
  attempts: CountedAttempts
): UnaryHandler<TokenRequest__Output, TokenResponse> {
  return async (context, request) => {
    checkRequest(request)
    const { clientId, clientSecret } = request
    const key = accountKey(clientId)
    const clientAddress = addressOfAttempt(request.clientAddress, context)
    const attempt = { event: 'token', key, account: triedMachine(deps, clientId), clientAddress } as const
    const account = await attempts.run(attempt, context, (succeed) =>
      succeed(async (unit) => {
        const at = deps.now()
        const account = await unit.findAccount(key)
        const secret = matchingSecret(await unit.secretsOf(key), clientSecret)
        if (account === undefined || !isMachine(account)) throw new Rejected(REJECTION, 'no such machine account')
        if (secret === undefined) throw new Rejected(REJECTION, 'wrong secret')
        if (secret.expiresAt !== null && secret.expiresAt <= at) throw new Rejected(REJECTION, 'expired secret')
        const off = whyOff(account, deps)
        if (off !== undefined) throw new Rejected(REJECTION, off)
        const { slot, lastUsedAt } = secret
        if (lastUsedAt === null || lastUsedAt <= at - USE_INTERVAL) await unit.secretUsed(account.id, { slot, at })
        return account
      })
    )
    trail(context.log, { event: 'token', outcome: 'success', account: ownSubject(deps, account), clientAddress })
    const { token, expiresAt } = deps.accessToken(account, undefined)
    return { accessToken: token, expiresIn: Math.ceil((expiresAt - deps.now()) / 1000) }
  }
}

/** Throws `body.invalid` with a violation for each invalid member. */
function checkRequest({ clientId, clientSecret, clientAddress }: TokenRequest__Output): void {
  const violations = new Violations()
  checkText(clientId, { pointer: '/clientId', max: MAX_EMAIL }, violations)
  checkText(clientSecret, { pointer: '/clientSecret', max: MAX_SECRET }, violations)
  checkClientAddress(clientAddress, violations)
  violations.finish()
}
