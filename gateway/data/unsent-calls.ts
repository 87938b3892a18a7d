import { DomainError } from '../../shared/errors.js'
import { throttledAddress } from '../../shared/ip-address.js'

/**
 * Bytes of requests, and of tokens that are new, after which a message takes no further call. Calls that are in a message cannot be taken back: the data
 * service may work on them after their callers have given up.
 */
const FULL_MESSAGE_BYTES = 64 * 1024

/** Bytes that the objects of a call take beside its request. */
const OVERHEAD = 1024

/** Bytes of the calls of a stream that are not sent yet. The gateway's own may have as many beside them. */
const MAX_UNSENT = 8 * 1024 * 1024

/**
 * The same of one address. The gateway does not verify tokens, so an address that sends many of them is one sender here.
 */
const MAX_OF_ADDRESS = MAX_UNSENT / 4

/** What one address has on a stream. */
interface StreamShare {
  /** Empty for the gateway's own calls. */
  readonly address: string
  /** Bytes that are not sent yet. */
  unsent: number
  underWay: number
}

/** A call from its beginning to its end. */
export interface SharedCall {
  /** Bytes of its request. */
  readonly size: number
  /** Bytes of the token that goes before it, if the data service does not know that yet. */
  readonly tokenSize: number
  readonly share: StreamShare
}

/**
 * The calls of a stream that no message holds yet. Addresses take turns, so that one with many calls does not keep the
 * others waiting. A call that ends here costs the data service no work.
 */
export class UnsentCalls<Call extends SharedCall> {
  readonly #shares = new Map<string, StreamShare>()
  // No Set: see CallTable.
  #calls: Call[] = []
  #bytes = 0

  get size(): number {
    return this.#calls.length
  }

  values(): readonly Call[] {
    return this.#calls
  }

  shareOf(clientAddress: string): StreamShare {
    const address = throttledAddress(clientAddress)
    return this.#shares.get(address) ?? { address, unsent: 0, underWay: 0 }
  }

  /** Throws `upstream.unavailable` if too much waits already. */
  add(call: Call): void {
    const { share } = call
    const bytes = unsentBytes(call)
    // A check of the data service must not fail because clients send too much.
    const isFull =
      share.address === ''
        ? share.unsent + bytes > MAX_UNSENT
        : share.unsent + bytes > MAX_OF_ADDRESS || this.#bytes + bytes > MAX_UNSENT
    if (isFull) {
      const detail = 'Too many calls wait for the data service. Try again.'
      throw new DomainError('upstream.unavailable', detail, { retryAfter: 1 })
    }
    this.#shares.set(share.address, share)
    this.#calls.push(call)
    this.#count(share, bytes)
  }

  /** Takes out a call that its caller has given up. */
  delete(call: Call): void {
    const at = this.#calls.indexOf(call)
    if (at === -1) return
    this.#calls.splice(at, 1)
    this.#count(call.share, -unsentBytes(call))
    this.#forget(call.share)
  }

  /**
   * Takes out the calls of the next message, of which the stream has room for so many. They are under way from then on. An
   * address has no more of them than there is room left: half of the stream alone, a third beside another one. So room is
   * left for one more, however many addresses send.
   */
  take(room: number): readonly Call[] {
    const { length } = this.#calls
    const isCrowded = 2 * length > room || this.#bytes - length * OVERHEAD > FULL_MESSAGE_BYTES
    const taken: Call[] = []
    const unsent: Call[] = []
    let size = 0
    for (const call of isCrowded ? inTurns(this.#calls) : this.#calls) {
      const { share } = call
      const left = room - taken.length
      const isFull = left <= 0 || (share.address !== '' && share.underWay >= left)
      if (isFull || size >= FULL_MESSAGE_BYTES) unsent.push(call)
      else {
        taken.push(call)
        size += call.size + call.tokenSize
        share.underWay += 1
        this.#count(share, -unsentBytes(call))
      }
    }
    this.#calls = unsent
    return taken
  }

  /** A call that was taken has ended. */
  ended({ share }: Call): void {
    share.underWay -= 1
    this.#forget(share)
  }

  #count(share: StreamShare, bytes: number): void {
    share.unsent += bytes
    this.#bytes += bytes
  }

  #forget({ address, unsent, underWay }: StreamShare): void {
    if (unsent === 0 && underWay === 0) this.#shares.delete(address)
  }
}

function unsentBytes({ size }: SharedCall): number {
  return size + OVERHEAD
}

/** First the first call of each address, then the second ones. */
function inTurns<Call extends SharedCall>(calls: readonly Call[]): readonly Call[] {
  const seen = new Map<StreamShare, number>()
  const turns: Call[][] = []
  for (const call of calls) {
    const turn = seen.get(call.share) ?? 0
    seen.set(call.share, turn + 1)
    const others = (turns[turn] ??= [])
    others.push(call)
  }
  return turns.flat()
}
