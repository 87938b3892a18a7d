import { FairSemaphore, type Entrant, type Share } from '../../../../shared/fair-semaphore.js'
import { type Cancellation, shareKeyOf, shareKeysOf } from '../../../../shared/transport/cancellation.js'
import { LongTexts } from '../long-texts.js'

// The pool hands out its connections in the order of arrival, whoever asks. docs/decisions/070.

/** Milliseconds after which work is long. Below it a connection is free again soon, whoever has all of them. */
const LONG_MS = 500

/** Milliseconds that work waits for its turn. */
const TURN_TIMEOUT_MS = 5_000

/** Pieces of work that wait. Reads and writes have places of their callers before, so that this is never the bound of one. */
const MAX_WAITING_WORK = 1024

/** The share of the long work of all callers. */
const LONG_WORK = 'long'

/** The share of all callers. Two of one person, such as an account and an address, must not have all connections. */
const ALL_CALLERS = 'all'

function longOf(key: string): string {
  return `${LONG_WORK} ${key}`
}

/** A turn on one connection. */
export interface Turn {
  /** The work has ended, or was stopped, so many milliseconds after it had its connection. */
  ran(milliseconds: number, how: { readonly isStopped: boolean }): void
  /** The connection is the pool's again. Calling it twice is harmless. */
  leave(): void
}

/** The turns of callers at the connections of one pool. Work that has its turn waits for no second one. */
export class PoolTurns {
  readonly #semaphore: FairSemaphore
  readonly #limits: {
    readonly all: Share
    readonly ofCaller: number
    readonly long: number
    readonly longOfCaller: number
  }
  readonly #long = new LongTexts(LONG_MS)

  /** `connections`: those of the pool. */
  constructor(connections: number, { timeout = TURN_TIMEOUT_MS }: { readonly timeout?: number } = {}) {
    this.#limits = {
      all: { key: ALL_CALLERS, limit: connections, waiting: MAX_WAITING_WORK },
      // No less than writes of a caller may have (operations/writes/write-shares.ts).
      ofCaller: Math.ceil(connections / 2),
      long: Math.max(1, Math.floor(connections / 2)),
      longOfCaller: Math.max(1, Math.floor(connections / 4))
    }
    this.#semaphore = new FairSemaphore({
      places: connections,
      waiting: MAX_WAITING_WORK,
      timeout,
      detail: 'The database has too much to do. Try again.',
      retryAfter: 1
    })
  }

  /** Pieces of work that wait. */
  get waiting(): number {
    return this.#semaphore.places.waiting
  }

  /**
   * Resolves when a connection is free for the caller. Rejects with the signal's reason, or with `upstream.unavailable`
   * after five seconds. `text`: that of the first statement, by which long work is known; none of a transaction.
   */
  async enter(signal: Cancellation, text?: string): Promise<Turn> {
    const isLong = text !== undefined && this.#long.has(text)
    const leave = await this.#semaphore.enter({ shares: this.#sharesOf(signal, isLong), signal })
    return {
      leave,
      ran: (milliseconds, { isStopped }) => {
        if (text === undefined) return
        if (isStopped) this.#long.stopped(text, milliseconds)
        else this.#long.ran(text, milliseconds)
      }
    }
  }

  /** Whether further work of the caller might wait until some of its own has ended. */
  isFull(signal: Cancellation): boolean {
    const { ofCaller, longOfCaller } = this.#limits
    // This is asked for each read by id. A caller cannot hold so many while all callers together hold fewer.
    const mayBe = this.#semaphore.places.taken >= ofCaller || this.#semaphore.heldBy(LONG_WORK) >= longOfCaller
    return mayBe && this.#isFull(shareKeyOf(signal))
  }

  #isFull(key: string): boolean {
    return (
      this.#semaphore.isFull(this.#shareOf(key)) || this.#semaphore.heldBy(longOf(key)) >= this.#limits.longOfCaller
    )
  }

  /** Of the last half a caller has more than one connection only as far as others have as many left. */
  #shareOf(key: string): Share {
    const { all, ofCaller } = this.#limits
    const within = [{ share: all, last: Math.floor(all.limit / 2), atLeast: 1 }]
    return { key, limit: ofCaller, waiting: MAX_WAITING_WORK / 2, within }
  }

  #sharesOf(signal: Cancellation, isLong: boolean): Entrant['shares'] {
    const { all, long, longOfCaller } = this.#limits
    const key = this.#keyOf(signal)
    const own = this.#shareOf(key)
    if (!isLong) return [all, own]
    return [
      all,
      { key: LONG_WORK, limit: long, waiting: MAX_WAITING_WORK / 2 },
      { key: longOf(key), limit: longOfCaller, waiting: MAX_WAITING_WORK / 2 },
      own
    ]
  }

  /** What several callers wait for counts as that of one who can have it now, or of who is the next to have it. */
  #keyOf(signal: Cancellation): string {
    const first = shareKeyOf(signal)
    if (!this.#isFull(first)) return first
    const keys = shareKeysOf(signal)
    const fewest = (): string =>
      keys.reduce((one, other) => (this.#semaphore.heldBy(other) < this.#semaphore.heldBy(one) ? other : one), first)
    return keys.find((key) => !this.#isFull(key)) ?? fewest()
  }
}
