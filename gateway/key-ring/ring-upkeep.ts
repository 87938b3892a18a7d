import type { Logger } from '../../shared/logger.js'
import { SingleFlight } from '../../shared/single-flight.js'
import type { KeySource } from './key-ring.js'
import { type RingProblem, type Untrusted, UNTRUSTED } from './ring-document.js'
import { keyToSignWith, type RingKey } from './ring-key.js'
import type { RingState, SharedRing } from './shared-ring.js'

/** Calls `run` once after the milliseconds. The function that it answers cancels that. */
export type Timer = (milliseconds: number, run: () => void) => () => void

/** A timer that does not keep the process alive. */
const systemTimer: Timer = (milliseconds, run) => {
  const timeout = setTimeout(run, milliseconds).unref()
  return () => clearTimeout(timeout)
}

/** Milliseconds between two looks at the ring while nothing fails. A replica may not know a new key for so long. */
const LOOK_INTERVAL = 60_000

/** Milliseconds until the next look after a failure: doubled with each failure, up to the second value. */
const RETRY_MIN = 1000
const RETRY_MAX = 15_000

/** At least so many milliseconds lie between two looks for unknown keys, because any client can send an unknown key id. */
const LOOK_AGAIN_INTERVAL = 1000

/** Milliseconds that the start or a request waits for a look. */
const LOOK_TIMEOUT = 5000

interface RingUpkeepParts {
  readonly ring: SharedRing
  readonly log: Logger
  readonly now: () => Date
  readonly timer?: Timer
}

/** Reads the shared ring at intervals, which are shorter while something fails, and logs when its problems change. */
export class RingUpkeep implements KeySource {
  readonly #ring: SharedRing
  readonly #log: Logger
  readonly #now: () => Date
  readonly #timer: Timer
  #keys: readonly RingKey[] = []
  #problems: readonly RingProblem[] = []
  #failures = 0
  #failuresInRow = 0
  readonly #flights = new SingleFlight<'look', void>()
  #lookedAt = Number.NEGATIVE_INFINITY
  #cancel = (): void => undefined
  #closed = false

  constructor({ ring, log, now, timer = systemTimer }: RingUpkeepParts) {
    this.#ring = ring
    this.#log = log
    this.#now = now
    this.#timer = timer
  }

  /** Looks at the ring for the first time. If that takes too long, it resolves before the look is done. */
  async start(): Promise<void> {
    await this.#waitFor(this.#look())
  }

  /** Stops the looks. A look that has begun still ends by itself. */
  close(): void {
    this.#closed = true
    this.#cancel()
  }

  keys(): readonly RingKey[] {
    return this.#keys
  }

  /** The number of failed looks since the start. */
  get failures(): number {
    return this.#failures
  }

  async lookAgain(): Promise<void> {
    const since = this.#now().getTime() - this.#lookedAt
    if (this.#flights.running('look') === undefined && since >= 0 && since < LOOK_AGAIN_INTERVAL) return
    await this.#waitFor(this.#look())
  }

  whyUnknown(): string {
    const [problem] = this.#problems
    return problem === undefined ? `there is no such key in ${this.#ring.place}` : problem.detail
  }

  #look(): Promise<void> {
    return this.#flights.run('look', () => this.#lookOnce())
  }

  async #lookOnce(): Promise<void> {
    this.#cancel()
    this.#apply(await this.#ring.look())
    this.#lookedAt = this.#now().getTime()
    if (this.#closed) return
    const delay =
      this.#failuresInRow === 0 ? LOOK_INTERVAL : Math.min(RETRY_MIN * 2 ** (this.#failuresInRow - 1), RETRY_MAX)
    this.#cancel = this.#timer(delay, () => void this.#look())
  }

  #apply({ keys, problems }: RingState): void {
    const before = this.#problems
    this.#keys = keys ?? this.#keys
    this.#problems = problems
    const failed = problems.some(({ at }) => at !== 'foreign' && !isUntrusted(at))
    this.#failures += failed ? 1 : 0
    this.#failuresInRow = failed ? this.#failuresInRow + 1 : 0
    if (kinds(before) !== kinds(problems)) this.#logState()
  }

  #logState(): void {
    const entry = { keyRing: this.#ring.place, keys: this.#keys.length, failures: this.#failures }
    if (this.#problems.length === 0) {
      this.#log.info(entry, 'the key ring is in order again')
      return
    }
    if (this.#problems.every(({ at }) => isUntrusted(at))) {
      this.#log.warn(
        { ...entry, troubles: this.#problems },
        'the key ring held keys that any writer of its store can have made, which are not used'
      )
      return
    }
    const shared = keyToSignWith(this.#keys, this.#now()) !== undefined
    this.#log.warn(
      { ...entry, troubles: this.#problems },
      shared
        ? 'the key ring is in trouble; the keys known from before serve meanwhile'
        : 'the key ring is not to be had; a key of this process alone serves meanwhile, and other replicas do not accept what it signs'
    )
  }

  /** Resolves when the work is done, or after LOOK_TIMEOUT. */
  #waitFor(work: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#timer(LOOK_TIMEOUT, resolve)
      void work.finally(() => {
        cancel()
        resolve()
      })
    })
  }
}

function isUntrusted(at: RingProblem['at']): at is Untrusted {
  return UNTRUSTED.some((one) => one === at)
}

function kinds(problems: readonly RingProblem[]): string {
  return [...new Set(problems.map(({ at }) => at))].toSorted().join()
}
