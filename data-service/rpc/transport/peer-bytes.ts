import { DomainError } from '../../../shared/errors.js'

/** Bytes of answers that one stream may have waiting. Beyond, it takes no further frames. */
export const MAX_OF_STREAM = 16 * 1024 * 1024

/** Bytes of all calls of a peer, which is an address or a gateway. */
const MAX_OF_PEER = 32 * 1024 * 1024

/** Bytes of all calls of the process. */
const MAX_IN_ALL = 64 * 1024 * 1024

/** Bytes that a peer, and a stream, may have whatever others have. */
export const ALWAYS = 1024 * 1024

/** Seconds after which a refused caller may try again. */
const RETRY_AFTER = 1

/**
 * What is held for peers, in bytes: answers and failures that they have not taken, with the requests of calls that run, and
 * requests that they have not sent to the end. No database is read for a peer that does not take what it has asked for already.
 */
export class PeerBytes {
  #all = 0
  readonly #byPeer = new Map<string, number>()

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
    return ofPeer > MAX_OF_PEER || (this.#all > MAX_IN_ALL && ofPeer > ALWAYS)
  }
}

/** Whose bytes are counted together, of a peer that is not known as a gateway. */
export function peerOf({ peerAddress = 'no address' }: { readonly peerAddress: string | undefined }): string {
  return peerAddress
}

/** Of a call that is not begun, because too much waits to be taken. */
export function untakenAnswers(): DomainError {
  return new DomainError('upstream.unavailable', 'Too many answers of the data service wait to be read. Try again.', {
    retryAfter: RETRY_AFTER
  })
}
