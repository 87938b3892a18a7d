import { FairSemaphore, type Entrant, type PlacesState } from '../../../shared/fair-semaphore.js'
import type { MemoryGuard } from '../../../shared/memory-guard.js'
import { Turns } from '../../../shared/turns.js'
import { type CallContext, type Caller, countedAddress, shareKey } from '../../entity/caller.js'
import type { UnitOfWork, WriteStore } from '../../plan/model/stores.js'
import { MAX_BATCH_ROWS } from '../../plan/write-requests.js'
import { sharesOf } from '../fair-shares.js'

// A transaction keeps a connection of the pool that reads use too, and an embedded database has one writer. So there is one
// door: the handlers have no store of writes but this one, and it opens no transaction without a turn. A write that has its
// turn waits for no second one.

/** Rows with their children from which a write is large. Those of a caller go one after the other. */
export const LARGE = 25

/** Rows beyond which a write is a whole file. It may take a minute, so there is one at a time, beside other large writes. */
const WHOLE_FILE = MAX_BATCH_ROWS

/** Large writes of a caller that wait. Each keeps its rows in memory. */
const LARGE_WAITING = 4

/**
 * Bytes of a body from which it has its turn before it is parsed, which holds the process. Those of a caller go one after
 * the other; a gateway has the same rule for its clients (gateway/entity-routes/large-writes.ts), whose turns come first.
 */
const LARGE_BODY = 64 * 1024

/** Large bodies of all callers at a time, and those that wait. */
const LARGE_BODIES = { places: 16, waiting: 32 }

/** Writes of a caller that read children at a time. A row may have a thousand of them, which keep the event loop. */
const READING_CHILDREN = 2

/** Other writes that wait, for each that may run at the same time. */
const WAITING_PER_PLACE = 50

/**
 * The longest pause, in milliseconds, between two large writes of a caller while others write. It is as long as the first
 * one took, whose rows the others may have waited for; after a whole file it has no longest.
 */
const MAX_PAUSE = 2000

/** Milliseconds that a write waits for its turn. */
const WRITE_WAIT_MS = 5_000

/** Seconds after which a rejected caller may try again. */
const WRITE_RETRY_SECONDS = 1

/** The rows that a request asks to be written, children included; or that it reads the children of its row before. */
export type WriteSize = number | 'reads-children'

/** Who writes. A call context is one. */
export type Writing = Pick<
  CallContext,
  'caller' | 'peerIsGateway' | 'isDirect' | 'clientAddress' | 'peerAddress' | 'cancellation'
>

/** Opens the transactions of this process, each in its turn. */
export class WriteShares {
  readonly #store: Pick<WriteStore, 'transaction'>
  readonly #memory: Pick<MemoryGuard, 'check'>
  readonly #semaphore: FairSemaphore
  readonly #bodies: FairSemaphore
  readonly #after: (milliseconds: number, call: () => void) => void
  /** Large writes, one of a caller. */
  readonly #large: FairSemaphore
  readonly #turns = new Turns(1)
  /** Transactions at a time: of a caller, and those of large writes of all callers. */
  readonly #limits: { readonly ofCaller: number; readonly large: number; readonly places: number }

  /** `connections`: those of the pool, some of which are left for reads. `after` calls back so many milliseconds later. */
  constructor(
    store: Pick<WriteStore, 'transaction'>,
    {
      connections,
      memory,
      timeout = WRITE_WAIT_MS,
      after = (milliseconds, call) => void setTimeout(call, milliseconds).unref()
    }: {
      readonly connections: number
      readonly memory: Pick<MemoryGuard, 'check'>
      readonly timeout?: number
      readonly after?: (milliseconds: number, call: () => void) => void
    }
  ) {
    this.#after = after
    const places = Math.max(1, Math.floor((connections * 3) / 4))
    this.#store = store
    this.#memory = memory
    this.#limits = { ofCaller: Math.ceil((places * 2) / 3), large: Math.ceil(places / 4), places }
    const detail = 'Too many writes are under way. Try again.'
    const waiting = 4 * WAITING_PER_PLACE * places
    this.#semaphore = new FairSemaphore({ places, waiting, timeout, detail, retryAfter: WRITE_RETRY_SECONDS })
    this.#bodies = new FairSemaphore({ ...LARGE_BODIES, timeout, detail, retryAfter: WRITE_RETRY_SECONDS })
    this.#large = new FairSemaphore({ places: Infinity, waiting, timeout, detail, retryAfter: WRITE_RETRY_SECONDS })
  }

  get places(): PlacesState {
    return this.#semaphore.places
  }

  /** Runs a write at once, or one with a large body when it has its turn. Throws `upstream.unavailable` where it gets none. */
  async inTurn<Answer>(
    writing: Writing,
    body: Pick<Uint8Array, 'length'>,
    write: () => Promise<Answer>
  ): Promise<Answer> {
    if (body.length < LARGE_BODY) return await write()
    const limits = { ofCaller: 1, ofAnonymous: LARGE_BODIES.places / 4, waiting: LARGE_WAITING }
    const shares = sharesOf(writing.caller, countedAddress(writing), limits)
    const leave = await this.#bodies.enter({ shares, signal: writing.cancellation })
    try {
      return await write()
    } finally {
      leave()
    }
  }

  /** Resolves in a turn of the event loop that no other write of the caller has. Those of others have the same one. */
  turnOf(caller: Caller): Promise<void> {
    return this.#turns.next(shareKey(caller, ''))
  }

  /**
   * Runs work as `WriteStore.transaction` does, when it has its turn. Throws `upstream.unavailable` where it gets none, and
   * where a large one would begin while the memory is nearly full, with nothing written.
   */
  async transaction<Result>(
    writing: Writing,
    size: WriteSize,
    work: (unit: UnitOfWork) => Promise<Result>
  ): Promise<Result> {
    const { all, large, own } = this.#entrants(writing, size)
    const leaveLarge = large && (await this.#large.enter(large))
    let pause = 0
    try {
      const leave = await this.#semaphore.enter(all)
      const begun = performance.now()
      try {
        if (large !== undefined) this.#memory.check()
        return await this.#store.transaction(writing.cancellation, work)
      } finally {
        leave()
        // What others write may have waited for its rows.
        if (this.#semaphore.places.taken > this.#semaphore.heldBy(own)) pause = performance.now() - begun
      }
    } finally {
      const longest = typeof size === 'number' && size > WHOLE_FILE ? pause : MAX_PAUSE
      if (leaveLarge !== undefined && pause > 0) this.#after(Math.min(pause, longest), leaveLarge)
      else leaveLarge?.()
    }
  }

  /** Throws `upstream.unavailable` where a write would get no turn now, so that its body need not be read. */
  check(writing: Writing, size: WriteSize): void {
    const { all, large } = this.#entrants(writing, size)
    if (large !== undefined) {
      this.#memory.check()
      this.#large.check(large)
    }
    this.#semaphore.check(all)
  }

  /** `own`: the key of the caller's share. */
  #entrants(
    writing: Writing,
    size: WriteSize
  ): { readonly all: Entrant; readonly large: Entrant | undefined; readonly own: string } {
    const signal = writing.cancellation
    const { shares, own } = this.#sharesOf(writing, size)
    const isLarge = typeof size === 'number' && size >= LARGE
    const large = { key: `large ${own}`, limit: 1, waiting: LARGE_WAITING }
    return { all: { shares, signal }, large: isLarge ? { shares: [large], signal } : undefined, own }
  }

  #sharesOf(writing: Writing, size: WriteSize): { readonly shares: Entrant['shares']; readonly own: string } {
    const { ofCaller, large, places } = this.#limits
    const limits = { ofCaller, ofAnonymous: ofCaller, waiting: WAITING_PER_PLACE * ofCaller }
    const [first, ...others] = sharesOf(writing.caller, countedAddress(writing), limits)
    const own = (others.at(-1) ?? first).key
    if (size === 'reads-children') {
      const waiting = WAITING_PER_PLACE * READING_CHILDREN
      return { shares: [{ key: `children ${own}`, limit: READING_CHILDREN, waiting }, first, ...others], own }
    }
    if (size < LARGE) return { shares: [first, ...others], own }
    const limit =
      size > WHOLE_FILE && places > large + 1 ? { key: 'whole file', limit: 1 } : { key: 'large', limit: large }
    const ofLarge = { ...limit, waiting: LARGE_WAITING * WAITING_PER_PLACE }
    return { shares: [ofLarge, first, ...others], own }
  }
}

/** How many rows a write asks for, with their children. */
export function rowsOf(
  rows: readonly { readonly children: readonly { readonly rows: readonly unknown[] }[] }[]
): number {
  return rows.reduce((sum, { children }) => children.reduce((all, one) => all + one.rows.length, sum + 1), 0)
}
