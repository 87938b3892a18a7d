import { FairSemaphore, type Entrant } from '../../../../shared/fair-semaphore.js'
import { type Cancellation, shareKeyOf, shareKeysOf } from '../../../../shared/transport/cancellation.js'
import { LongTexts } from '../long-texts.js'

// The pool hands out its connections in the order of arrival, whoever asks. docs/decisions/070.

/** Milliseconds after which work is long. Below it a connection is free again soon, whoever has all of them. */
const LONG_MS = 500

/** Milliseconds that work waits for its turn. */
const WAIT_TIMEOUT = 5_000

/** Seconds after which rejected work may be tried again. */
const RETRY_AFTER = 1

/** Pieces of work that wait. Reads and writes have places of their callers before, so that this is never the bound of one. */
const WAITING = 1024

/** The share of the long work of all callers. */
const LONG = 'long'

function longOf(key: string): string {
  return `${LONG} ${key}`
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
  readonly #limits: { readonly ofCaller: number; readonly long: number; readonly longOfCaller: number }
  readonly #long = new LongTexts(LONG_MS)

  /** `connections`: those of the pool. */
  constructor(connections: number, { timeout = WAIT_TIMEOUT }: { readonly timeout?: number } = {}) {
    this.#limits = {
      // No less than writes of a caller may have (rpc/write-shares.ts).
      ofCaller: Math.ceil(connections / 2),
      long: Math.max(1, Math.floor(connections / 2)),
      longOfCaller: Math.max(1, Math.floor(connections / 4))
    }
    this.#semaphore = new FairSemaphore({
      places: connections,
      waiting: WAITING,
      timeout,
      detail: 'The database has too much to do. Try again.',
      retryAfter: RETRY_AFTER
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
    // Asked for each read by id, and nobody has so many as long as all together have not.
    const mayBe = this.#semaphore.places.taken >= ofCaller || this.#semaphore.heldBy(LONG) >= longOfCaller
    return mayBe && this.#isFull(shareKeyOf(signal))
  }

  #isFull(key: string): boolean {
    const { ofCaller, longOfCaller } = this.#limits
    return this.#semaphore.heldBy(key) >= ofCaller || this.#semaphore.heldBy(longOf(key)) >= longOfCaller
  }

  #sharesOf(signal: Cancellation, isLong: boolean): Entrant['shares'] {
    const { ofCaller, long, longOfCaller } = this.#limits
    const key = this.#keyOf(signal)
    const own = { key, limit: ofCaller, waiting: WAITING / 2 }
    if (!isLong) return [own]
    return [
      { key: LONG, limit: long, waiting: WAITING / 2 },
      { key: longOf(key), limit: longOfCaller, waiting: WAITING / 2 },
      own
    ]
  }

  /** What several callers wait for counts as that of one who can have it now. */
  #keyOf(signal: Cancellation): string {
    const first = shareKeyOf(signal)
    if (!this.#isFull(first)) return first
    return shareKeysOf(signal).find((key) => !this.#isFull(key)) ?? first
  }
}
