import { TOO_MANY_READS } from '../../shared/errors.js'
import { FairSemaphore, type Entrant, type PlacesState, type Share } from '../../shared/fair-semaphore.js'
import type { MemoryGuard } from '../../shared/memory-guard.js'
import { throwIfAborted } from '../../shared/transport/cancellation.js'
import { Turns } from '../../shared/turns.js'
import { anonymous, type CallContext, type Caller, countedAddress, shareKey } from '../entity/caller.js'
import type { Condition, PlannedNavigations, RowsPlan } from '../plan/model/plans.js'
import type { LoadedRow } from '../plan/model/stores.js'
import { RowSizes } from './row-sizes.js'

// What is under way is bounded for each caller and in all, and weighed by what it may cost (contract.md section 2).

/** How many places a caller, and all anonymous callers together, may hold. */
interface ShareLimits {
  readonly ofCaller: number
  readonly ofAnonymous: number
  /** How many of the last places of all anonymous callers an address takes only as far as others have as many left. */
  readonly last?: number
  /** The places of all callers, and how many of the last ones a caller takes only so. */
  readonly ofAll?: { readonly limit: number; readonly last: number }
  /** How many places of these last ones each caller takes where they are free. */
  readonly atLeast?: number
  /** How many places of a share may be waited for, where the semaphore's own rule does not say it. */
  readonly waiting?: number
}

/** The share of all callers. */
const ALL = 'all'

/** The shares of a caller; of an anonymous one those of its address, if it is known. */
export function sharesOf(caller: Caller, clientAddress: string, limits: ShareLimits): Entrant['shares'] {
  const { ofCaller, ofAnonymous, last = 0, ofAll, atLeast = 0, ...waiting } = limits
  const all =
    ofAll === undefined ? [] : [{ share: { key: ALL, limit: ofAll.limit, ...waiting }, last: ofAll.last, atLeast }]
  const everyone: Share = { key: shareKey(anonymous, ''), limit: ofAnonymous, ...waiting }
  const isOfAddress = caller.kind !== 'authenticated' && clientAddress !== ''
  const within = isOfAddress ? [...all, { share: everyone, last, atLeast }] : all
  const limit = caller.kind === 'authenticated' || isOfAddress ? ofCaller : ofAnonymous
  const own: Share = { key: shareKey(caller, clientAddress), limit, ...waiting, within }
  const [first, ...others] = within.map(({ share }) => share)
  return first === undefined ? [own] : [first, ...others, own]
}

/** Places of all reads. A row by its id takes one: see `costOf`. */
const PLACES = 1024

/** Of one caller, and of all anonymous ones: two addresses of one client would otherwise hold all places of these. */
const READ_LIMITS: ShareLimits = { ofCaller: PLACES / 4, ofAnonymous: PLACES / 2, last: PLACES / 16 }

/** Places that a read takes at most for its bytes: a caller has four of the largest under way, and sixteen wait. */
const MOST_FOR_BYTES = READ_LIMITS.ofCaller / 4

/** Places that the greatest read takes: its caller has some left for small ones beside it. */
const GREATEST = (READ_LIMITS.ofCaller * 3) / 4

/** Places that may be waited for. A caller may wait for four times its own. */
const WAITING = 4 * PLACES

/**
 * Reads of a caller at a time whose rows may be very large, and of which it is not known yet how large they are. Those
 * behind them are weighed when one of them has shown it.
 */
const UNSEEN = 8

/** Milliseconds that a read waits for its places. */
const READ_WAIT_MS = 5_000

/** Rows of an answer that cost as much as a read by id. */
const ROWS_A_PLACE = 10

/** Conditions that cost as much as a read by id. Each may compare a text with that of each row. */
const CONDITIONS_A_PLACE = 4

/** Bytes of an answer that cost as much as a read by id. */
const BYTES_A_PLACE = 16 * 1024

/** Bytes of a row that is written alone in its turn of the event loop. */
const LARGE_ROW = 256 * 1024

/** Rows of a collection that are assumed of each row of a page. There may be a thousand of them, or none. */
const ROWS_OF_COLLECTIONS = 2

/** Places of a read by id with collections. */
const ONE_WITH_COLLECTIONS = 16

interface ReadSize {
  /** The most rows that it answers. */
  readonly rows: number
  /** The navigations of each row. */
  readonly references?: Counted
  readonly manyToMany?: Counted
  readonly children?: Counted
  readonly conditions?: readonly Condition[]
  /** What is read, where it is remembered how large the rows are, and there may be navigations within others. */
  readonly of?: RowsPlan
}

type Counted = Pick<readonly unknown[], 'length'>

/** What a read whose work is not known is taken for, such as that of an operation of the application. */
export const UNKNOWN_SIZE: ReadSize = { rows: 100 }

/**
 * What a read may cost: 1 by id, 5 for a page of 50, 100 for a list, and 192 for one with children; of a page one more for
 * each four conditions. Where the rows are large, as much as their bytes cost. `rowBytes`: about as many as each of them has.
 */
export function costOf(size: ReadSize, rowBytes = 0): number {
  const ofBytes = Math.ceil((size.rows * rowBytes) / BYTES_A_PLACE)
  return Math.min(GREATEST, Math.max(costOfRows(size), Math.min(MOST_FOR_BYTES, ofBytes)))
}

function costOfRows({ rows, references = [], manyToMany = [], children = [], conditions = [], of }: ReadSize): number {
  const collections = manyToMany.length + children.length
  const within = of === undefined ? 0 : rowsWithin(of)
  if (rows === 1) return collections === 0 && within < ROWS_OF_COLLECTIONS ? 1 : ONE_WITH_COLLECTIONS
  const ofRow = 1 + (references.length > 0 ? 1 : 0) + collections * ROWS_OF_COLLECTIONS + within
  return Math.ceil((rows * ofRow) / ROWS_A_PLACE) + Math.floor(countOf(conditions) / CONDITIONS_A_PLACE)
}

/** Rows that are assumed of each row besides those of its own navigations: those of navigations within them. */
function rowsWithin({ references = [], manyToMany = [], children = [] }: Partial<PlannedNavigations>): number {
  const followed = children.filter((one) => one.followed !== undefined).length
  return (
    references.reduce((sum, { within }) => sum + rowsOf(within), 0) +
    ROWS_OF_COLLECTIONS * manyToMany.reduce((sum, { within }) => sum + rowsOf(within), followed)
  )
}

function rowsOf(within: PlannedNavigations | undefined): number {
  if (within === undefined) return 0
  const { references, manyToMany, children } = within
  return (references.length > 0 ? 1 : 0) + (manyToMany.length + children.length) * ROWS_OF_COLLECTIONS
}

/** How many comparisons the conditions are. */
function countOf(conditions: readonly Condition[]): number {
  return conditions.reduce((sum, one) => {
    if ('anyOf' in one) return sum + countOf(one.anyOf)
    return sum + ('allOf' in one ? countOf(one.allOf) : 1)
  }, 0)
}

/** Admits the reads of this process. */
export class ReadShares {
  readonly #semaphore: FairSemaphore
  readonly #unseen: FairSemaphore
  readonly #writing = new Turns(1)
  readonly #sizes = new RowSizes()
  readonly #memory: MemoryGuard
  /** What calls hold that have made their answer. An override may read several times in one call. */
  readonly #untaken = new WeakMap<CallContext, () => void>()
  /** How many reads of a call wait for places or have them. */
  readonly #reading = new WeakMap<CallContext, number>()

  constructor(memory: MemoryGuard, { timeout = READ_WAIT_MS }: { readonly timeout?: number } = {}) {
    this.#memory = memory
    const limits = { waiting: WAITING, timeout, detail: TOO_MANY_READS, retryAfter: 1 }
    this.#semaphore = new FairSemaphore({ ...limits, places: PLACES })
    this.#unseen = new FairSemaphore({ ...limits, places: Infinity })
  }

  /** Throws `upstream.unavailable` where the memory is nearly full. */
  checkMemory(): void {
    this.#memory.check()
  }

  get places(): PlacesState {
    return this.#semaphore.places
  }

  /**
   * Reads and writes the answer in the places that it takes, which are held until the caller has taken the answer. Throws
   * `upstream.unavailable` where there are none.
   */
  async admit<Answer>(context: CallContext, size: ReadSize, read: () => Promise<Answer>): Promise<Answer> {
    this.#memory.check()
    this.#count(context, 1)
    try {
      return await this.#admit(context, size, read)
    } finally {
      this.#count(context, -1)
    }
  }

  /** Remembers how large the rows are. */
  saw(context: CallContext, read: RowsPlan, rows: readonly LoadedRow[]): void {
    this.#sizes.saw(shareKeyOf(context), read, rows)
  }

  /**
   * Writes a row that was read, and remembers how large it is. A caller writes one large row in a turn of the event loop, so that others are served in
   * between. Throws `upstream.unavailable` where the memory is nearly full.
   */
  async write<Answer>(
    context: CallContext,
    { of, row }: { readonly of: RowsPlan; readonly row: LoadedRow },
    write: () => Answer
  ): Promise<Answer> {
    const key = shareKeyOf(context)
    const bytes = this.#sizes.saw(key, of, [row])
    if (bytes < LARGE_ROW) return write()
    await new Promise<void>((resolve) => this.#writing.begin(key, resolve))
    throwIfAborted(context.cancellation)
    if (this.#memory.isFullWith(bytes)) throw this.#memory.rejection()
    return write()
  }

  #count(context: CallContext, by: number): void {
    this.#reading.set(context, (this.#reading.get(context) ?? 0) + by)
  }

  async #admit<Answer>(context: CallContext, size: ReadSize, read: () => Promise<Answer>): Promise<Answer> {
    // The read before is a part of the same answer. It would wait for its own call otherwise.
    this.#untaken.get(context)?.()
    const { of } = size
    if (of === undefined || !this.#sizes.areUnseen(shareKeyOf(context), of)) {
      return await this.#admitKnown(context, size, read)
    }
    const share = { key: shareKeyOf(context), limit: UNSEEN, waiting: READ_LIMITS.ofCaller }
    const leave = await this.#unseen.enter({ shares: [share], signal: context.cancellation })
    try {
      return await this.#admitKnown(context, size, read)
    } finally {
      // Those behind it are weighed when it has been seen.
      setImmediate(leave)
    }
  }

  async #admitKnown<Answer>(context: CallContext, size: ReadSize, read: () => Promise<Answer>): Promise<Answer> {
    const weight = costOf(size, size.of && this.#sizes.expected(shareKeyOf(context), size.of))
    const release = await this.#semaphore.enter({
      weight,
      shares: sharesOf(context.caller, countedAddress(context), READ_LIMITS),
      signal: context.cancellation
    })
    // Reads of an embedded database take no turn of the event loop. Were the next one admitted at once, one after another
    // of those that wait would run before anything else that has arrived is looked at.
    const giveBack = (): void => void setImmediate(release)
    let answer: Answer
    try {
      // Those that waited beside it have taken memory meanwhile.
      this.#memory.check()
      answer = await read()
    } catch (error) {
      giveBack()
      throw error
    }
    // Another read of the same call may wait for these places, and the call is not answered before it.
    if ((this.#reading.get(context) ?? 0) > 1) giveBack()
    else {
      this.#untaken.set(context, giveBack)
      context.onTaken(giveBack)
    }
    return answer
  }
}

function shareKeyOf(context: CallContext): string {
  return shareKey(context.caller, countedAddress(context))
}
