import { isIP } from 'node:net'
import { DomainError } from '../../shared/errors.js'
import { throttledAddress } from '../../shared/ip-address.js'
import type { CallContext } from '../entity/caller.js'
import type { Violations } from '../plan/parsing/violations.js'
import type { AuthUnit } from './accounts/accounts.js'
import type { AuthDeps } from './authentication.js'
import { type Attempt, attemptKeys, LoginQueue, LoginThrottle } from './login-throttle.js'
import { trail, type TrailSubject } from './trail.js'

/** An attempt to prove who one is. */
interface CountedAttempt {
  /** The name of the attempt in the trail. */
  readonly event: 'login' | 'password' | 'sign-in' | 'token' | 'link-request' | 'link'
  /** Failures are counted under it, together with the address, and under the address alone: 32 bytes. */
  readonly key: Buffer
  /** For the trail; undefined where the account is not known. `judge` may set it. */
  account: TrailSubject | undefined
  /** As addressOfAttempt answers it. */
  readonly clientAddress: string
  /** Whether successes count as failures do, and apart from those of other attempts: for what costs somebody else. */
  readonly countsAlways?: true | undefined
}

/** Runs work in a transaction in which the attempt counts as succeeded. */
export type Succeed = <Result>(work: (unit: AuthUnit) => Promise<Result>) => Promise<Result>

/** Milliseconds that recording a failed attempt may take. It is done even if the caller has disconnected. */
const SETTLING = 5000
/** Seconds. */
const RETRY_AFTER = 1

/**
 * Runs attempts a few at a time, and counts failures (LoginThrottle). All rpcs of a process in which somebody proves who
 * they are share one, so that they share its queue and what it remembers.
 */
export class CountedAttempts {
  readonly #deps: Pick<AuthDeps, 'store' | 'now'>
  readonly #throttle: LoginThrottle
  readonly #queue = new LoginQueue()

  constructor(deps: Pick<AuthDeps, 'store' | 'now'>) {
    this.#deps = deps
    this.#throttle = new LoginThrottle(deps)
  }

  /**
   * Calls `judge` for an attempt that the counts allow. It must run what it does in `succeed`, once, or throw Rejected. If it
   * rejects, the attempt counts as failed. Throws `quota-exceeded` if the counts do not allow the attempt. Every failure has
   * its line in the trail; that of a success is written by the caller.
   */
  async run<Result>(
    attempt: CountedAttempt,
    { signal, log }: Pick<CallContext, 'signal' | 'log'>,
    judge: (succeed: Succeed) => Promise<Result>
  ): Promise<Result> {
    const { event, clientAddress, countsAlways } = attempt
    const address = throttledAddress(clientAddress)
    const keys = attemptKeys(attempt.key, countsAlways ? `${event} ${address}` : address)
    const entry = () => ({ event, account: attempt.account, clientAddress })
    // True if the throttle has counted the attempt or may have. Then a log line is written, whatever the outcome.
    let counted = false
    try {
      for (const end = LoginThrottle.waitEnd(); ;) {
        await this.#throttle.waitUntilAllowed(keys, end, signal)
        const leave = await this.#queue.enter(address, signal)
        try {
          counted = true
          const admitted = await this.#throttle.admit(keys, signal)
          if (admitted !== undefined) return await this.#settle({ ...admitted, countsAlways }, signal, judge)
          counted = false
        } finally {
          leave()
        }
      }
    } catch (error) {
      if (error instanceof Rejected) {
        trail(log, { ...entry(), outcome: 'failure', code: error.code, reason: error.why })
      } else if (error instanceof DomainError && error.code === 'quota-exceeded') {
        trail(log, { ...entry(), outcome: 'throttled', code: error.code, reason: reasonText(error.cause ?? error) })
      } else if (counted) {
        const reason = signal.aborted ? reasonText(signal.reason) : 'the attempt could not be checked'
        trail(log, { ...entry(), outcome: 'abandoned', reason })
      }
      throw error
    }
  }

  /** Records the outcome of an admitted attempt in every case, errors included. */
  async #settle<Result>(
    admitted: Attempt & Pick<CountedAttempt, 'countsAlways'>,
    signal: AbortSignal,
    judge: (succeed: Succeed) => Promise<Result>
  ): Promise<Result> {
    const { store } = this.#deps
    try {
      return await judge((work) =>
        store.transaction(signal, async (unit) => {
          if (admitted.countsAlways) await this.#throttle.failed(unit, admitted)
          else await this.#throttle.succeeded(unit, admitted)
          return await work(unit)
        })
      )
    } catch (error) {
      // An attempt that stayed pending would make others wait for half a minute.
      const failed = inTime((signal) => store.transaction(signal, (unit) => this.#throttle.failed(unit, admitted)))
      if (error instanceof Rejected) await failed
      else await failed.catch(() => undefined)
      throw error
    }
  }
}

/**
 * Throws `upstream.unavailable` if `record` takes longer than SETTLING. Whoever was told that a password is wrong while that
 * is not counted could guess more often than the limit allows.
 */
async function inTime(record: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const late = new AbortController()
  const timer = setTimeout(() => {
    const cause = new Error(`A failed attempt was not recorded within ${SETTLING} ms.`)
    late.abort(
      new DomainError('upstream.unavailable', 'The database cannot do this just now. Try again.', {
        retryAfter: RETRY_AFTER,
        cause
      })
    )
  }, SETTLING)
  try {
    await record(late.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** `auth.invalid-credentials`. The client does not get `why`, which is for the log. */
export class Rejected extends DomainError {
  readonly why: string

  constructor(message: string, why: string) {
    super('auth.invalid-credentials', message)
    this.why = why
  }
}

function reasonText(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}

/**
 * The address that an attempt counts under. Only a gateway may name its client's, as `given`. Others could invent one for
 * each attempt, or use up the limit of an address that is not theirs.
 */
export function addressOfAttempt(given: string, { peerIsGateway, peerAddress = '' }: CallContext): string {
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
