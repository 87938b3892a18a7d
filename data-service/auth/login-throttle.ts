import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { DomainError } from '../../shared/errors.js'
import type { AuthStore, AuthUnit, LoginAttempts } from './accounts/accounts.js'

/** Failed logins within WINDOW milliseconds, for an account from one address and for one address (contract.md section 8). */
const WINDOW = 15 * 60_000
const PER_PAIR = 10
const PER_ADDRESS = 100

/** Milliseconds. An attempt that takes longer was cut off when its process ended, and counts as failed. */
const LONGEST_ATTEMPT = 30_000
/** Milliseconds that an attempt waits for pending ones, which may still succeed, before it is rejected because of them. */
const LOCK_TIMEOUT = 4000
const POLL_INTERVAL = 100
/** Attempts of this process that may wait for pending ones at the same time. Each of them reads once in a POLL_INTERVAL. */
const MAX_POLLING = 64

/** Full keys that this process remembers. The oldest is forgotten first; its next attempt costs a read. */
const MAX_REMEMBERED = 10_000

/** The keys that attempts are counted under: account and address together, and the address alone. */
type AttemptKeys = readonly [pair: Buffer, address: Buffer]

/** An admitted attempt. It must end with `failed` or `succeeded`. */
export interface Attempt {
  readonly at: number
  readonly keys: AttemptKeys
}

/**
 * Throttles logins by account and address, whether or not there is such an account. The counts are in the database, so
 * all replicas share them. A rejected attempt costs one read at most. Only an attempt that may pass takes locks; it counts
 * as failed before its password is checked.
 */
export class LoginThrottle {
  readonly #store: AuthStore
  readonly #now: () => number
  #waiting = 0
  /**
   * Keys that are full and have no pending attempt, with the time when they cease to be full, in epoch milliseconds. No
   * replica admits an attempt under them until then, so their counts cannot change and need not be read.
   */
  readonly #fullUntil = new Map<string, number>()

  constructor({ store, now }: { readonly store: AuthStore; readonly now: () => number }) {
    this.#store = store
    this.#now = now
  }

  /**
   * Resolves when the counts allow an attempt. Throws `quota-exceeded` if they do not, at the latest at `end`, which is a
   * time of `performance.now`.
   */
  async waitUntilAllowed(keys: AttemptKeys, end: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const known = this.#knownRejection(keys)
      if (known !== undefined) throw tooMany(known)
      const found = await this.#store.findAttempts(signal, keys)
      const rejection = this.#rejectionBy(found)
      if (rejection === undefined) return
      this.#note(keys, found)
      if (!rejection.mayPass || performance.now() > end || this.#waiting >= MAX_POLLING) throw tooMany(rejection)
      this.#waiting += 1
      try {
        await wait(POLL_INTERVAL, undefined, { signal })
      } finally {
        this.#waiting -= 1
      }
    }
  }

  /** The `end` of `waitUntilAllowed` for an attempt that begins now. */
  static waitEnd(): number {
    return performance.now() + LOCK_TIMEOUT
  }

  /**
   * Counts the attempt as pending, so that concurrent attempts cannot exceed the limit. Answers undefined if other attempts
   * have reached the limit meanwhile; the caller then waits in `waitUntilAllowed` again.
   */
  async admit(keys: AttemptKeys, signal: AbortSignal): Promise<Attempt | undefined> {
    return await this.#store.transaction(signal, async (unit) => {
      const at = this.#now()
      const [pair, address] = keys
      const ofPair = this.#recent(await unit.lockAttempts(pair))
      const ofAddress = this.#recent(await unit.lockAttempts(address))
      if (this.#rejectionBy([ofPair, ofAddress]) !== undefined) return undefined
      await keep(unit, pair, { ...ofPair, pending: [...ofPair.pending, at] })
      await keep(unit, address, { ...ofAddress, pending: [...ofAddress.pending, at] })
      return { at, keys }
    })
  }

  async failed(unit: AuthUnit, { at, keys }: Attempt): Promise<void> {
    for (const key of keys) {
      const { failed, pending } = this.#recent(await unit.lockAttempts(key))
      // An attempt that took longer than LONGEST_ATTEMPT counts as failed already.
      const more = pending.includes(at) ? [at] : []
      await keep(unit, key, { failed: [...failed, ...more], pending: without(pending, at) })
    }
  }

  /** Clears all failures of the account from this address. Of the address alone it clears this attempt only. */
  async succeeded(unit: AuthUnit, { at, keys: [pair, address] }: Attempt): Promise<void> {
    // The attempt may have taken longer than LONGEST_ATTEMPT. Then it counted as failed, and the pair may be noted as full.
    this.#fullUntil.delete(pair.toString('base64'))
    const { pending } = this.#recent(await unit.lockAttempts(pair))
    await keep(unit, pair, { failed: [], pending: without(pending, at) })
    const others = this.#recent(await unit.lockAttempts(address))
    await keep(unit, address, { ...others, pending: without(others.pending, at) })
  }

  #knownRejection(keys: AttemptKeys): ReachedLimit | undefined {
    for (const key of keys) {
      const name = key.toString('base64')
      const left = (this.#fullUntil.get(name) ?? 0) - this.#now()
      if (left > 0) return { mayPass: false, retryAfter: Math.max(1, Math.ceil(left / 1000)) }
      this.#fullUntil.delete(name)
    }
    return undefined
  }

  #note(keys: AttemptKeys, found: readonly [LoginAttempts, LoginAttempts]): void {
    for (const [index, limit] of [PER_PAIR, PER_ADDRESS].entries()) {
      const { failed, pending } = this.#recent(found[index] ?? { failed: [], pending: [] })
      const decisive = failed.toSorted((a, b) => a - b)[failed.length - limit]
      if (decisive === undefined || pending.length > 0) continue
      const [oldest] = this.#fullUntil.keys()
      if (oldest !== undefined && this.#fullUntil.size >= MAX_REMEMBERED) this.#fullUntil.delete(oldest)
      this.#fullUntil.set((keys[index] ?? keys[0]).toString('base64'), decisive + WINDOW)
    }
  }

  #rejectionBy([pair, address]: readonly [LoginAttempts, LoginAttempts]): ReachedLimit | undefined {
    const now = this.#now()
    const [ofPair, ofAddress] = [this.#recent(pair), this.#recent(address)]
    if (isFull(ofPair, PER_PAIR)) return reachedLimit(ofPair, PER_PAIR, now)
    return isFull(ofAddress, PER_ADDRESS) ? reachedLimit(ofAddress, PER_ADDRESS, now) : undefined
  }

  /** The attempts within the window. Pending ones that took too long count as failed. */
  #recent({ failed, pending }: LoginAttempts): LoginAttempts {
    const now = this.#now()
    const abandoned = pending.filter((at) => at + LONGEST_ATTEMPT <= now)
    return {
      failed: [...failed, ...abandoned].filter((at) => at + WINDOW > now),
      pending: pending.filter((at) => at + LONGEST_ATTEMPT > now)
    }
  }
}

interface ReachedLimit {
  /** Whether the limit is reached by pending attempts, which may still succeed. */
  readonly mayPass: boolean
  /** Seconds. */
  readonly retryAfter: number
}

function isFull({ failed, pending }: LoginAttempts, limit: number): boolean {
  return failed.length + pending.length >= limit
}

function reachedLimit({ failed, pending }: LoginAttempts, limit: number, now: number): ReachedLimit {
  const all = [...failed, ...pending].toSorted((a, b) => a - b)
  const relevant = all[all.length - limit] ?? now
  return { mayPass: failed.length < limit, retryAfter: Math.max(1, Math.ceil((relevant + WINDOW - now) / 1000)) }
}

/** The same error whether or not there is such an account. */
function tooMany({ mayPass, retryAfter }: ReachedLimit): DomainError {
  return new DomainError('quota-exceeded', 'Too many attempts. Try again later.', {
    retryAfter: mayPass ? 1 : retryAfter,
    cause: new Error('too many log-ins failed of late')
  })
}

/** Removes the time once: another attempt may have the same one. */
function without(times: readonly number[], at: number): readonly number[] {
  const index = times.indexOf(at)
  return index < 0 ? times : times.toSpliced(index, 1)
}

async function keep(unit: AuthUnit, key: Buffer, attempts: LoginAttempts): Promise<void> {
  await unit.keepAttempts(key, attempts, Math.max(0, ...attempts.failed, ...attempts.pending) + WINDOW)
}

export function attemptKeys(emailKey: Buffer, address: string): AttemptKeys {
  return [hashOfParts('pair', address, emailKey), hashOfParts('address', address)]
}

function hashOfParts(...parts: readonly (string | Buffer)[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\0')
  return hash.digest()
}

/** Logins that this process checks at once: one or two are hashed (passwords.ts) while others wait for the database. */
const MAX_RUNNING = 3
/** Those of one address, so that one of another begins at once. */
const MAX_RUNNING_OF_ADDRESS = 2
/** Logins that may wait, about three seconds of work. In a longer queue the last ones would exceed their deadlines. */
const MAX_WAITING = 256
/** Milliseconds in the queue, far less than the deadline of a call: on a slow machine a longer wait would be useless. */
const QUEUE_TIMEOUT = 5000
/** Logins of one address that may wait. One that many people share has some at a time; a flood from there leaves room for others. */
const MAX_WAITING_PER_ADDRESS = 32

/**
 * The queue of logins that wait to be checked, because password hashing is slow on purpose. It is bounded, and addresses take
 * turns: an address has one under way while others wait, and two at most, however many of its own came before theirs. A caller who
 * disconnects leaves it, so nothing is looked up or hashed for that caller.
 */
export class LoginQueue {
  /** The address of each login that is checked. */
  readonly #running: string[] = []
  /** By address, each with how it begins: the address whose turn is next comes first. No set is empty. */
  readonly #waiting = new Map<string, Set<() => void>>()

  /**
   * Resolves when it is the caller's turn, with the function that ends the turn. Rejects with the reason of the signal when
   * it aborts, and with `quota-exceeded` if too many logins wait already or this one has waited too long.
   */
  async enter(address: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#running.length < MAX_RUNNING && this.#mayBegin(address)) this.#running.push(address)
    else await this.#turn(address, signal)
    return () => {
      this.#running.splice(this.#running.indexOf(address), 1)
      this.#next()
    }
  }

  #turn(address: string, signal: AbortSignal): Promise<void> {
    const ofAddress = this.#waiting.get(address) ?? new Set()
    const all = [...this.#waiting.values()].reduce((sum, { size }) => sum + size, 0)
    if (all >= MAX_WAITING || ofAddress.size >= MAX_WAITING_PER_ADDRESS) throw queueFull()
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer)
        ofAddress.delete(begin)
        if (ofAddress.size === 0) this.#waiting.delete(address)
        signal.removeEventListener('abort', abort)
      }
      const abort = (): void => {
        leave()
        reject(signal.reason)
      }
      const begin = (): void => {
        leave()
        this.#running.push(address)
        resolve()
      }
      const timer = setTimeout(() => {
        leave()
        reject(queueFull())
      }, QUEUE_TIMEOUT)
      this.#waiting.set(address, ofAddress.add(begin))
      signal.addEventListener('abort', abort, { once: true })
    })
  }

  #mayBegin(address: string): boolean {
    return this.#running.filter((one) => one === address).length < MAX_RUNNING_OF_ADDRESS
  }

  /** Lets the first login begin of the first address that has none under way or, where each has one, of the first. */
  #next(): void {
    const turns = [...this.#waiting]
    const [address, ofAddress] =
      turns.find(([one]) => !this.#running.includes(one)) ?? turns.find(([one]) => this.#mayBegin(one)) ?? []
    const [begin] = ofAddress ?? []
    if (address === undefined || ofAddress === undefined || begin === undefined) return
    // It is the turn of the others before the next one of this address.
    this.#waiting.delete(address)
    this.#waiting.set(address, ofAddress)
    begin()
  }
}

function queueFull(): DomainError {
  return new DomainError('quota-exceeded', 'Too many log-ins wait at the moment. Try again.', { retryAfter: 1 })
}
