import { DomainError } from '../../shared/domain-error.js'
import type { LoginRequest__Output } from '../../shared/gen/auth/v1/LoginRequest.js'
import type { LoginResponse } from '../../shared/gen/auth/v1/LoginResponse.js'
import type { UnaryHandler } from '../rpc/call-context.js'
import { accountKey, type StoredAccount } from './account.js'
import type { Authenticating } from './authenticating.js'
import { checkCredentials } from './check-credentials.js'
import { LoginQueue } from './login-queue.js'
import { type Attempt, attemptKeys, LoginThrottle } from './login-throttle.js'
import { isUsable, openFamily, sessionOf } from './sessions.js'
import { throttledAddress } from '../../shared/throttled-address.js'

/** Milliseconds to count an attempt whose caller may have gone. */
const SETTLING = 5000

/**
 * Opens a session. The same steps are taken whether or not there is such an account, so that neither the answer nor its
 * time tells.
 */
export function login(by: Authenticating): UnaryHandler<LoginRequest__Output, LoginResponse> {
  const throttle = new LoginThrottle(by)
  const queue = new LoginQueue()
  return async (context, { email, password, clientAddress: given }) => {
    const { signal, peerAddress = '' } = context
    checkCredentials({ email, password, clientAddress: given })
    const emailKey = accountKey(email)
    // Anybody else could make up an address for each attempt, or use up another's.
    const address = throttledAddress(given !== '' && context.peerIsGateway ? given : peerAddress)
    const keys = attemptKeys(emailKey, address)
    for (const end = LoginThrottle.patience(); ;) {
      await throttle.passable(keys, end, signal)
      const leave = await queue.enter(address, signal)
      try {
        const attempt = await throttle.admit(keys, signal)
        if (attempt !== undefined) return await admitted({ attempt, emailKey, password, signal }, throttle, by)
      } finally {
        leave()
      }
    }
  }
}

interface Admitted {
  readonly attempt: Attempt
  readonly emailKey: Buffer
  readonly password: string
  readonly signal: AbortSignal
}

/** Checks the password of an attempt that was counted, and settles it whatever happens. */
async function admitted(
  { attempt, emailKey, password, signal }: Admitted,
  throttle: LoginThrottle,
  by: Authenticating
): Promise<LoginResponse> {
  const { store, passwords, decoyHash } = by
  // An attempt left open would count as under way for half a minute, and others would wait for it.
  const fail = (): Promise<void> =>
    store.transaction(AbortSignal.timeout(SETTLING), (unit) => throttle.failed(unit, attempt))
  let refusal: DomainError
  try {
    const account = await store.findAccount(signal, emailKey)
    signal.throwIfAborted()
    const isRight = await passwords.verify(account?.passwordHash ?? decoyHash, password)
    if (account !== undefined && isRight && isUsable(account, by)) {
      const live = await store.transaction(signal, async (unit) => {
        await throttle.succeeded(unit, attempt)
        return await openFamily(unit, account.id, by)
      })
      return { session: sessionOf(account, live, by) }
    }
    refusal = refused(account, isRight)
  } catch (error) {
    await fail().catch(() => undefined)
    throw error
  }
  await fail()
  throw refusal
}

function refused(account: StoredAccount | undefined, isRight: boolean): DomainError {
  const reason = account === undefined ? 'no such account' : 'wrong password'
  return new DomainError('auth.invalid-credentials', 'The e-mail address or the password is wrong.', {
    cause: new Error(isRight ? 'sample account, and SAMPLE_DATA is off' : reason)
  })
}
