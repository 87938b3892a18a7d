import { isIP } from 'node:net'
import { DomainError } from '../../shared/errors.js'
import { throttledAddress } from '../../shared/ip-address.js'
import type { CallContext } from '../entity/caller.js'
import type { Violations } from '../plan/violations.js'
import { accountKey, type AuthUnit, type StoredAccount } from './accounts.js'
import type { AuthDeps } from './authentication.js'
import { type Attempt, attemptKeys, LoginQueue, LoginThrottle } from './login-throttle.js'
import { whyUnusable } from './sessions.js'
import { trail, triedAccount } from './trail.js'

/** A password that somebody claims to know. */
export interface PasswordAttempt {
  /** The name of the attempt in the trail. */
  readonly event: 'login' | 'password'
  readonly email: string
  readonly password: string
  /** As countedAddress answers it. */
  readonly clientAddress: string
  /** What the caller gets for a wrong password, and alike for an account that does not exist or is disabled. */
  readonly rejection: string
}

/** Runs work in a transaction in which the attempt counts as succeeded. */
type Succeed = <Result>(work: (unit: AuthUnit) => Promise<Result>) => Promise<Result>

/** Milliseconds that recording a failed attempt may take. It is done even if the caller has disconnected. */
const SETTLING = 5000

/**
 * Checks passwords of accounts, slowly and one after the other, and counts failures (LoginThrottle). All rpcs of a process
 * that take a password share one, so that they share its queue and what it remembers.
 */
export class PasswordCheck {
  readonly #deps: AuthDeps
  readonly #throttle: LoginThrottle
  readonly #queue = new LoginQueue()

  constructor(deps: AuthDeps) {
    this.#deps = deps
    this.#throttle = new LoginThrottle(deps)
  }

  /**
   * Calls `accept` with the account of a right password. It must run what it does in `succeed`, once; if it rejects, the
   * attempt counts as failed. Throws `auth.invalid-credentials` after the same steps whether or not the account exists, so
   * that neither the response nor its time shows which accounts exist, and `quota-exceeded`. Every failure has its line in
   * the trail; that of a success is written by the caller.
   */
  async check<Result>(
    tried: PasswordAttempt,
    { signal, log }: Pick<CallContext, 'signal' | 'log'>,
    accept: (account: StoredAccount, succeed: Succeed) => Promise<Result>
  ): Promise<Result> {
    const { event, email, clientAddress } = tried
    const emailKey = accountKey(email)
    const address = throttledAddress(clientAddress)
    const keys = attemptKeys(emailKey, address)
    const entry = { event, account: triedAccount(this.#deps, email), clientAddress } as const
    // True if the throttle has counted the attempt or may have. Then a log line is written, whatever the outcome.
    let counted = false
    try {
      for (const end = LoginThrottle.waitEnd(); ;) {
        await this.#throttle.waitUntilAllowed(keys, end, signal)
        const leave = await this.#queue.enter(address, signal)
        try {
          counted = true
          const attempt = await this.#throttle.admit(keys, signal)
          if (attempt !== undefined) return await this.#judge({ ...tried, attempt, emailKey }, signal, accept)
          counted = false
        } finally {
          leave()
        }
      }
    } catch (error) {
      if (error instanceof Rejected) {
        trail(log, { ...entry, outcome: 'failure', code: error.code, reason: error.why })
      } else if (error instanceof DomainError && error.code === 'quota-exceeded') {
        trail(log, { ...entry, outcome: 'throttled', code: error.code, reason: messageOf(error.cause ?? error) })
      } else if (counted) {
        const reason = signal.aborted ? messageOf(signal.reason) : 'the attempt could not be checked'
        trail(log, { ...entry, outcome: 'abandoned', reason })
      }
      throw error
    }
  }

  /** Checks the password of an admitted attempt. Records the outcome in every case, errors included. */
  async #judge<Result>(
    tried: PasswordAttempt & { readonly attempt: Attempt; readonly emailKey: Buffer },
    signal: AbortSignal,
    accept: (account: StoredAccount, succeed: Succeed) => Promise<Result>
  ): Promise<Result> {
    const { attempt, emailKey, password, rejection } = tried
    const { store, passwords, decoyHash } = this.#deps
    // An attempt that stayed pending would make others wait for half a minute.
    const fail = (): Promise<void> =>
      store.transaction(AbortSignal.timeout(SETTLING), (unit) => this.#throttle.failed(unit, attempt))
    let why: string
    try {
      const account = await store.findAccount(signal, emailKey)
      signal.throwIfAborted()
      const isRight = await passwords.verify(account?.passwordHash ?? decoyHash, password)
      const unusable = account && whyUnusable(account, this.#deps)
      if (account !== undefined && isRight && unusable === undefined) {
        return await accept(account, (work) =>
          store.transaction(signal, async (unit) => {
            await this.#throttle.succeeded(unit, attempt)
            return await work(unit)
          })
        )
      }
      const wrong = account === undefined ? 'no such account' : 'wrong password'
      why = isRight ? (unusable ?? wrong) : wrong
    } catch (error) {
      await fail().catch(() => undefined)
      throw error
    }
    await fail()
    throw new Rejected(rejection, why)
  }
}

/** The client gets the same error for a wrong password and for an unknown account. Only the log shows `why`. */
export class Rejected extends DomainError {
  readonly why: string

  constructor(message: string, why: string) {
    super('auth.invalid-credentials', message)
    this.why = why
  }
}

function messageOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}

/**
 * The address that an attempt counts under. Only a gateway may name its client's, as `given`. Others could invent one for
 * each attempt, or use up the limit of an address that is not theirs.
 */
export function countedAddress(given: string, { peerIsGateway, peerAddress = '' }: CallContext): string {
  return given !== '' && peerIsGateway ? given : peerAddress
}

/** Adds a violation for an address that is neither empty nor an IP address. */
export function checkClientAddress(given: string, violations: Violations): void {
  if (given === '' || isIP(given) !== 0) return
  violations.addAt('/clientAddress', '/clientAddress must be an IP address, or empty.')
}

/** Adds a violation for a member that is blank or has more than `max` characters. */
export function checkText(
  text: string,
  { pointer, max }: { readonly pointer: string; readonly max: number },
  violations: Violations
): void {
  if (text.trim() === '') violations.addAt(pointer, `${pointer} must be there, and not blank.`)
  else if (text.length > max) violations.addAt(pointer, `${pointer} must be at most ${max} characters long.`)
}
