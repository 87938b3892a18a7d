import type { Logger } from '../../shared/logger.js'
import type { KeySource } from './key-ring.js'
import type { Trouble } from './ring-document.js'
import { keyToSignWith, type RingKey } from './ring-key.js'
import type { RingState, SharedRing } from './shared-ring.js'

/** Runs something once, after milliseconds, unless the answered function is called first. */
export type Timer = (milliseconds: number, run: () => void) => () => void

/** Keeps no process alive. */
export const systemTimer: Timer = (milliseconds, run) => {
  const timeout = setTimeout(run, milliseconds).unref()
  return () => clearTimeout(timeout)
}

/** Milliseconds between two looks at a ring in order: how long a replica may not know of a new key. */
const LOOK_EVERY = 60_000

/** Milliseconds until the next look at one in trouble, doubled each time up to the last. */
const RETRY_FIRST = 1000
const RETRY_LAST = 15_000

/** Milliseconds between two looks for the sake of a key that is not known: anybody can name one. */
const LOOK_AGAIN_AFTER = 1000

/** Milliseconds that a start or a request waits for a look. */
const WAIT = 5000

export interface RingUpkeepParts {
  readonly ring: SharedRing
  readonly log: Logger
  readonly now: () => Date
  readonly timer?: Timer
}

/** Keeps the shared ring's keys at hand: looks again and again, sooner while something fails, and says so in the log. */
export class RingUpkeep implements KeySource {
  readonly #ring: SharedRing
  readonly #log: Logger
  readonly #now: () => Date
  readonly #timer: Timer
  #keys: readonly RingKey[] = []
  #troubles: readonly Trouble[] = []
  #failures = 0
  #inRow = 0
  #looking: Promise<void> | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #cancel = (): void => undefined
  #closed = false

  constructor({ ring, log, now, timer = systemTimer }: RingUpkeepParts) {
    this.#ring = ring
    this.#log = log
    this.#now = now
    this.#timer = timer
  }

  /** Looks at the ring for the first time. Resolves without it when that takes too long. */
  async start(): Promise<void> {
    await this.#within(this.#look())
  }

  /** Looks no more. What is under way ends by itself. */
  close(): void {
    this.#closed = true
    this.#cancel()
  }

  keys(): readonly RingKey[] {
    return this.#keys
  }

  /** Looks that failed since the start. */
  get failures(): number {
    return this.#failures
  }

  async lookAgain(): Promise<void> {
    const since = this.#now().getTime() - this.#lookedAt
    if (this.#looking === undefined && since >= 0 && since < LOOK_AGAIN_AFTER) return
    await this.#within(this.#look())
  }

  whyUnknown(): string {
    const [trouble] = this.#troubles
    return trouble === undefined ? `there is no such key in ${this.#ring.place}` : trouble.detail
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => (this.#looking = undefined))
    return this.#looking
  }

  async #lookOnce(): Promise<void> {
    this.#cancel()
    this.#take(await this.#ring.look())
    this.#lookedAt = this.#now().getTime()
    if (this.#closed) return
    const delay = this.#inRow === 0 ? LOOK_EVERY : Math.min(RETRY_FIRST * 2 ** (this.#inRow - 1), RETRY_LAST)
    this.#cancel = this.#timer(delay, () => void this.#look())
  }

  #take({ keys, troubles }: RingState): void {
    const before = this.#troubles
    this.#keys = keys ?? this.#keys
    this.#troubles = troubles
    const failed = troubles.some(({ at }) => at !== 'foreign' && at !== 'unwrapped')
    this.#failures += failed ? 1 : 0
    this.#inRow = failed ? this.#inRow + 1 : 0
    if (kinds(before) !== kinds(troubles)) this.#tell()
  }

  #tell(): void {
    const entry = { keyRing: this.#ring.place, keys: this.#keys.length, failures: this.#failures }
    if (this.#troubles.length === 0) {
      this.#log.info(entry, 'the key ring is in order again')
      return
    }
    if (kinds(this.#troubles) === 'unwrapped') {
      this.#log.warn({ ...entry, troubles: this.#troubles }, 'the key ring held unwrapped keys, which are not used')
      return
    }
    const shared = keyToSignWith(this.#keys, this.#now()) !== undefined
    this.#log.warn(
      { ...entry, troubles: this.#troubles },
      shared
        ? 'the key ring is in trouble; the keys known from before serve meanwhile'
        : 'the key ring is not to be had; a key of this process alone serves meanwhile, and other replicas do not accept what it signs'
    )
  }

  /** As long as it is worth waiting. */
  #within(work: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#timer(WAIT, resolve)
      void work.finally(() => {
        cancel()
        resolve()
      })
    })
  }
}

function kinds(troubles: readonly Trouble[]): string {
  return [...new Set(troubles.map(({ at }) => at))].toSorted().join()
}
