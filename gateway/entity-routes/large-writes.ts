import { FairSemaphore, type Entrant } from '../../shared/fair-semaphore.js'
import { throttledAddress } from '../../shared/ip-address.js'
import { NEVER } from '../../shared/transport/cancellation.js'
import type { HttpContext } from '../data/calls.js'
import { Overload } from '../server/admission.js'

/** Bytes of a body from which a write is large: a batch, or a row with many children. */
const LARGE_WRITE_BYTES = 64 * 1024

/** Large writes of all callers at a time. */
const LARGE_WRITES = 8

/** Large writes that may wait. Each keeps its body, which has up to 1 MiB. */
const WAITING_WRITES = 32

/** Of one address, whose callers may have one each. A caller that logs in several times has several tokens. */
const OF_ADDRESS = 2

/** Milliseconds that one waits. */
const WRITE_TIMEOUT_MS = 10_000
const HEAVY_TIMEOUT_MS = 5000

/**
 * A large write holds a data service for a good part of a second. Those of one caller go one after the other, so that what
 * others ask comes between them.
 */
export class LargeWrites {
  readonly #turns: FairSemaphore

  constructor({ timeout = WRITE_TIMEOUT_MS }: { readonly timeout?: number } = {}) {
    const detail = 'Too many large writes are under way. Try again.'
    // A flood is no fault of the service, and does not fill the log.
    const cause = new Overload('large writes')
    this.#turns = new FairSemaphore({
      places: LARGE_WRITES,
      waiting: WAITING_WRITES,
      timeout,
      detail,
      retryAfter: 1,
      cause
    })
  }

  /** Writes at once, or a large body when it has its turn. Rejects with `upstream.unavailable`, with nothing written, beyond. */
  async inTurn<Answer>(call: HttpContext, body: Pick<Buffer, 'length'>, write: () => Promise<Answer>): Promise<Answer> {
    if (body.length < LARGE_WRITE_BYTES) return await write()
    const release = await this.#turns.enter({ shares: heavyWorkShares(call), signal: NEVER })
    try {
      return await write()
    } finally {
      release()
    }
  }
}

/**
 * The shares of work that is done once at a time for a caller and twice for an address. `waiting`: how much of it may wait,
 * where the semaphore's own rule does not say it.
 */
export function heavyWorkShares(
  { authorization, clientAddress }: HttpContext,
  waiting?: { readonly ofCaller: number; readonly ofAddress: number }
): Entrant['shares'] {
  const key = `address ${throttledAddress(clientAddress ?? '')}`
  const address = { key, limit: OF_ADDRESS, ...(waiting && { waiting: waiting.ofAddress }) }
  const caller = { limit: 1, ...(waiting && { waiting: waiting.ofCaller }) }
  // Without a token the address is the caller.
  return authorization === undefined ? [{ key, ...caller }] : [address, { key: `token ${authorization}`, ...caller }]
}

/** How much of such work may wait of a caller, and of an address. */
const WAITING_HEAVY = { ofCaller: 16, ofAddress: 32 }

/** Work that asks a data service what a token sees, or makes a document of it: it has turns, and is refused early. */
export class HeavyWork {
  readonly #turns: FairSemaphore

  /** `what`: for the log. `waiting`: how much of it may wait in all. */
  constructor({ what, waiting, detail }: { readonly what: string; readonly waiting: number; readonly detail: string }) {
    // A flood is no fault of the service, and does not fill the log.
    const cause = new Overload(what)
    this.#turns = new FairSemaphore({ places: 8, waiting, timeout: HEAVY_TIMEOUT_MS, detail, retryAfter: 1, cause })
  }

  /** Resolves, with what ends the turn, when a turn has come. Rejects with `upstream.unavailable`. */
  enter(call: HttpContext): Promise<() => void> {
    return this.#turns.enter({ shares: heavyWorkShares(call, WAITING_HEAVY), signal: call.signal })
  }
}
