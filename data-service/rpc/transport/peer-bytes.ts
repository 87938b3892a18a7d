import { DomainError } from '../../../shared/errors.js'
import { isLoopback, throttledAddress } from '../../../shared/ip-address.js'
import type { Connection, IsGateway } from './interceptors.js'

/** Bytes of answers that one stream may have waiting. Beyond, it takes no further frames. */
export const MAX_OF_STREAM = 16 * 1024 * 1024

export const MIB = 1024 * 1024

/** Bytes that a peer, and a stream, may have whatever others have. */
export const ALWAYS = MIB

interface PeerBounds {
  /** Bytes of all calls of a peer, which is an address or a gateway. */
  readonly ofPeer: number
  /** Bytes of all calls of the process. */
  readonly inAll: number
  /** Bytes that a peer may have whatever others have. */
  readonly always: number
}

const BOUNDS: PeerBounds = { ofPeer: 32 * MIB, inAll: 64 * MIB, always: ALWAYS }

/**
 * What is held for peers, in bytes: answers and failures that they have not taken, with the requests of calls that run, and
 * requests that they have not sent to the end. No database is read for a peer that does not take what it has asked for already.
 */
export class PeerBytes {
  readonly #bounds: PeerBounds
  readonly #isGateway: IsGateway
  #all = 0
  readonly #byPeer = new Map<string, number>()

  constructor(bounds: PeerBounds = BOUNDS, isGateway: IsGateway = () => false) {
    this.#bounds = bounds
    this.#isGateway = isGateway
  }

  /** Whose bytes are counted together. A process takes any address of the loopback, unless it has proved to be a gateway. */
  peerOf(call: Connection): string {
    const { peerAddress = 'no address' } = call
    if (this.#isGateway(call)) return `gateway ${peerAddress}`
    return isLoopback(peerAddress) ? 'the loopback' : throttledAddress(peerAddress)
  }

  get bytes(): number {
    return this.#all
  }

  /** Negative for what has been taken. */
  count(peer: string, bytes: number): void {
    this.#all += bytes
    const ofPeer = (this.#byPeer.get(peer) ?? 0) + bytes
    if (ofPeer === 0) this.#byPeer.delete(peer)
    else this.#byPeer.set(peer, ofPeer)
  }

  isFull(peer: string): boolean {
    const ofPeer = this.#byPeer.get(peer) ?? 0
    const { ofPeer: most, inAll, always } = this.#bounds
    return ofPeer > most || (this.#all > inAll && ofPeer > always)
  }
}

/** Of a call that is not begun, because too much waits to be taken. */
export function untakenAnswers(): DomainError {
  return new DomainError('upstream.unavailable', 'Too many answers of the data service wait to be read. Try again.', {
    retryAfter: 1
  })
}
