import type { CallContext } from '../entity/caller.js'
import { accountKey, type StoredAccount } from './accounts/accounts.js'
import type { AuthDeps } from './authentication.js'
import { type CountedAttempts, Rejected, type Succeed } from './counted-attempts.js'
import { whyUnusable } from './sessions.js'
import { triedAccount } from './trail.js'

/** A password that somebody claims to know. */
interface PasswordAttempt {
  /** The name of the attempt in the trail. */
  readonly event: 'login' | 'password'
  readonly email: string
  readonly password: string
  /** As addressOfAttempt answers it. */
  readonly clientAddress: string
  /** What the caller gets for a wrong password, and alike for an account that does not exist or is disabled. */
  readonly rejection: string
}

/** Checks passwords of accounts, slowly and one after the other, and counts failures (CountedAttempts). */
export class PasswordCheck {
  readonly #deps: AuthDeps
  readonly #attempts: CountedAttempts

  constructor(deps: AuthDeps, attempts: CountedAttempts) {
    this.#deps = deps
    this.#attempts = attempts
  }

  /**
   * Calls `accept` with the account of a right password. It must run what it does in `succeed`, once; if it rejects, the
   * attempt counts as failed. Throws `auth.invalid-credentials` after the same steps whether or not the account exists or
   * has a password, so that neither the response nor its time shows which accounts exist, and `quota-exceeded`. Every
   * failure has its line in the trail; that of a success is written by the caller.
   */
  async check<Result>(
    { event, email, password, clientAddress, rejection }: PasswordAttempt,
    context: Pick<CallContext, 'signal' | 'log'>,
    accept: (account: AccountWithPassword, succeed: Succeed) => Promise<Result>
  ): Promise<Result> {
    const { store, passwords, decoyHash } = this.#deps
    const { signal } = context
    const key = accountKey(email)
    const attempt = { event, key, account: triedAccount(this.#deps, email), clientAddress }
    return await this.#attempts.run(attempt, context, async (succeed) => {
      const account = await store.findAccount(signal, key)
      signal.throwIfAborted()
      const isRight = await passwords.verify(account?.passwordHash ?? decoyHash, password)
      if (account === undefined) throw new Rejected(rejection, 'no such account')
      if (!hasPassword(account)) throw new Rejected(rejection, 'an account without a password')
      if (!isRight) throw new Rejected(rejection, 'wrong password')
      const unusable = whyUnusable(account, this.#deps)
      if (unusable !== undefined) throw new Rejected(rejection, unusable)
      return await accept(account, succeed)
    })
  }
}

type AccountWithPassword = StoredAccount & { readonly passwordHash: string }

function hasPassword(account: StoredAccount): account is AccountWithPassword {
  return account.passwordHash !== null
}
