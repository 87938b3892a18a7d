import { DomainError } from '../../shared/domain-error.js'
import type { LoginRequest__Output } from '../../shared/gen/auth/v1/LoginRequest.js'
import type { LoginResponse } from '../../shared/gen/auth/v1/LoginResponse.js'
import type { UnaryHandler } from '../rpc/call-context.js'
import { accountKey, type StoredAccount } from './account.js'
import type { Authenticating } from './authenticating.js'
import { checkCredentials } from './check-credentials.js'
import { LoginThrottle } from './login-throttle.js'
import { isUsable, openFamily, sessionOf } from './sessions.js'
import { throttledAddress } from '../../shared/throttled-address.js'

/**
 * Opens a session. The same steps are taken whether or not there is such an account, so that neither the answer nor its
 * time tells.
 */
export function login(by: Authenticating): UnaryHandler<LoginRequest__Output, LoginResponse> {
  const { store, passwords, decoyHash } = by
  const throttle = new LoginThrottle(by)
  return async (context, { email, password, clientAddress: given }) => {
    const { signal, peerAddress = '' } = context
    checkCredentials({ email, password, clientAddress: given })
    const emailKey = accountKey(email)
    // Anybody else could make up an address for each attempt, or use up another's.
    const address = throttledAddress(given !== '' && context.peerIsGateway ? given : peerAddress)
    const attempt = await throttle.admit(emailKey, address, signal)
    const account = await store.transaction(signal, (unit) => unit.findAccount(emailKey))
    const isRight = await passwords.verify(account?.passwordHash ?? decoyHash, password)
    if (account === undefined || !isRight || !isUsable(account, by)) {
      await store.transaction(signal, (unit) => throttle.failed(unit, attempt))
      throw refused(account, isRight)
    }
    const live = await store.transaction(signal, async (unit) => {
      await throttle.succeeded(unit, attempt)
      return await openFamily(unit, account.id, by)
    })
    return { session: sessionOf(account, live, by) }
  }
}

function refused(account: StoredAccount | undefined, isRight: boolean): DomainError {
  const reason = account === undefined ? 'no such account' : 'wrong password'
  return new DomainError('auth.invalid-credentials', 'The e-mail address or the password is wrong.', {
    cause: new Error(isRight ? 'sample account, and SAMPLE_DATA is off' : reason)
  })
}
