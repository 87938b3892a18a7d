import { IncomingMessage } from 'node:http'
import { Http2ServerRequest } from 'node:http2'
import type { Readable } from 'node:stream'
import { throttledAddress } from '../../shared/ip-address.js'
import type { TrustedProxies } from '../http/client-address.js'
import { type UnsentBounds, unsentBounds } from './unsent-answers.js'

/** Bytes that a request takes before it begins, beside its head. */
const REQUEST_OVERHEAD = 8 * 1024

/** Bytes that Node takes for a name or a value of a head, however short it is. */
const TEXT_OVERHEAD = 64

/** How much longer than a line of the head a query of the same length is looked at. */
const URL_FACTOR = 4

/** Bytes that Node takes for each piece of a body, however little it holds. */
const PIECE_OVERHEAD = 256

/** Bytes that an address may hold, whatever others hold: 64 requests with small heads. */
const GUARANTEED_BYTES = 64 * REQUEST_OVERHEAD

/** Bytes that a head takes. Node keeps it twice: its lines, and the object of its fields. `rawHeaders`: names and values in turn. */
function sizeOfHead(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, { length }) => sum + 2 * length + TEXT_OVERHEAD, 0)
}

/**
 * Whether a request counts even if it is the only one of its connection, which the number of connections bounds otherwise.
 * Such requests of a client begin one after the other, too.
 */
export function hasLargeHead({ rawHeaders, url = '' }: Pick<IncomingMessage, 'rawHeaders' | 'url'>): boolean {
  return sizeOfHead(rawHeaders) + URL_FACTOR * url.length > REQUEST_OVERHEAD
}

/** Where a request comes from. */
interface Origin {
  readonly remoteAddress: string | undefined
  readonly forwardedFor: string | undefined
}

/** A request that counts for its client. */
interface OpenRequest {
  /** Counts a piece of its body. Returns whether its client may go on. */
  receivePiece(): boolean
  /** All pieces that came so far have been read and are kept no more. */
  forgetPieces(): void
  /** It has ended. Calling it twice is harmless. */
  end(): void
}

/**
 * Bounds the requests that have come and are not answered, before anything is made of them. One connection brings 32 of them
 * over HTTP/2, and over HTTP/1.1 as many as Node has read of it at once. Requests of a trusted proxy count for its clients.
 * Those of which it names no client are bounded by the process alone.
 */
export class OpenRequests {
  readonly #bounds: Pick<UnsentBounds, 'address' | 'process'>
  readonly #trustedProxies: Pick<TrustedProxies, 'trusts' | 'clientOf'>
  readonly #ofAddress = new Map<string, number>()
  #all = 0

  constructor(
    trustedProxies: Pick<TrustedProxies, 'trusts' | 'clientOf'>,
    bounds: Pick<UnsentBounds, 'address' | 'process'> = unsentBounds()
  ) {
    this.#trustedProxies = trustedProxies
    this.#bounds = bounds
  }

  /** Returns undefined for a request that has to be refused. */
  admit({ remoteAddress = '', forwardedFor }: Origin, rawHeaders: readonly string[] = []): OpenRequest | undefined {
    const client = this.#trustedProxies.clientOf(remoteAddress, forwardedFor)
    const address = throttledAddress(client)
    const most = this.#trustedProxies.trusts(client) ? this.#bounds.process : this.#bounds.address
    if (!this.#hasRoom(address, most)) return undefined
    const ofHead = REQUEST_OVERHEAD + sizeOfHead(rawHeaders)
    let bytes = ofHead
    let isOpen = true
    this.#add(address, bytes)
    return {
      receivePiece: () => {
        if (!isOpen) return true
        bytes += PIECE_OVERHEAD
        this.#add(address, PIECE_OVERHEAD)
        return this.#hasRoom(address, most)
      },
      forgetPieces: () => {
        if (isOpen) this.#add(address, ofHead - bytes)
        bytes = ofHead
      },
      end: () => {
        if (isOpen) this.#add(address, -bytes)
        isOpen = false
      }
    }
  }

  #hasRoom(address: string, most: number): boolean {
    const held = this.#ofAddress.get(address) ?? 0
    return held < most && (this.#all < this.#bounds.process || held < GUARANTEED_BYTES)
  }

  #add(address: string, bytes: number): void {
    this.#all += bytes
    const ofAddress = (this.#ofAddress.get(address) ?? 0) + bytes
    if (ofAddress === 0) this.#ofAddress.delete(address)
    else this.#ofAddress.set(address, ofAddress)
  }
}

/** What the pieces of a body are counted for. */
interface PieceCounter {
  /** Returns whether the client may go on. */
  receivePiece(piece: unknown): boolean
  forgetPieces(): void
  /** Called with the first piece for which the client has no room. It is dropped, as all later ones. */
  refuse(): void
  /** Called when the body is whole. */
  complete?(): void
}

/**
 * Counts the pieces of a request's body as they come, whether anybody reads them or not: a body may come as a piece for each
 * of its bytes. Trailers, which nothing reads, are dropped: Node would keep them until the answer is taken.
 */
export function countPieces(body: Readable, { receivePiece, forgetPieces, refuse, complete }: PieceCounter): void {
  const push = body.push.bind(body)
  let isRefused = false
  if (body instanceof IncomingMessage) keepPushing(body)
  body.push = (piece: unknown, encoding?: BufferEncoding): boolean => {
    if (isRefused) return false
    if (piece === null) {
      if (body instanceof IncomingMessage) body.rawTrailers = []
      complete?.()
      return push(piece, encoding)
    }
    if (body.readableLength + (piecewise.get(body)?.readableLength ?? 1) === 0) forgetPieces()
    if (receivePiece(piece)) return push(piece, encoding)
    isRefused = true
    refuse()
    return false
  }
}

/** The bodies of which nobody keeps a piece that was read, with the requests that they are read from. */
const piecewise = new WeakMap<Readable, Readable>()

/**
 * Says that a body is read in parts: it may have any number of pieces, as long as they do not pile up. Returns what is called
 * when nobody wants the rest of it: its pieces count from then on, since no answer waits for them.
 */
export function readPiecewise(request: IncomingMessage): () => void {
  const raw: unknown = request
  const body = raw instanceof Http2ServerRequest ? raw.stream : request
  piecewise.set(body, request)
  return () => void piecewise.delete(body)
}

/**
 * Node sets `_dumped` after the answer. From then on it parses the rest of the body and hands no piece of it on, so that
 * nobody could count them. Here `_dumped` stays false.
 */
function keepPushing(request: IncomingMessage): void {
  Object.defineProperty(request, '_dumped', { get: () => false, set() {} })
}
