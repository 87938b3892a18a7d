import { throttledAddress } from '../../shared/ip-address.js'
import type { TrustedProxies } from '../http/client-address.js'
import { type UnsentBounds, unsentBounds } from './unsent-answers.js'

/** Bytes that a request takes before it begins, beside its head. */
const REQUEST_OVERHEAD = 8 * 1024

/** Bytes that Node takes for a name or a value of a head, however short it is. */
const TEXT_OVERHEAD = 64

/** Bytes that an address may hold, whatever others hold: 64 requests with small heads. */
const ALWAYS = 64 * REQUEST_OVERHEAD

/** Bytes that a head takes. Node keeps it twice: its lines, and the object of its fields. `rawHeaders`: names and values in turn. */
function sizeOfHead(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((sum, { length }) => sum + 2 * length + TEXT_OVERHEAD, 0)
}

/** Whether a request counts even if it is the only one of its connection, which the number of connections bounds otherwise. */
export function hasLargeHead(rawHeaders: readonly string[]): boolean {
  return sizeOfHead(rawHeaders) > REQUEST_OVERHEAD
}

/**
 * Bounds the requests that have come and are not answered, before anything is made of them. One connection brings 32 of them
 * over HTTP/2, and over HTTP/1.1 as many as Node has read of it at once. A trusted proxy holds those of many clients, so the
 * bound of the process is the only one for it.
 */
export class OpenRequests {
  readonly #bounds: Pick<UnsentBounds, 'address' | 'process'>
  readonly #trustedProxies: Pick<TrustedProxies, 'trusts'>
  readonly #ofAddress = new Map<string, number>()
  #all = 0

  constructor(
    trustedProxies: Pick<TrustedProxies, 'trusts'>,
    bounds: Pick<UnsentBounds, 'address' | 'process'> = unsentBounds()
  ) {
    this.#trustedProxies = trustedProxies
    this.#bounds = bounds
  }

  /** Returns what is to be called once when the request has ended; undefined for a request that has to be refused. */
  admit(remoteAddress = '', rawHeaders: readonly string[] = []): (() => void) | undefined {
    const address = throttledAddress(remoteAddress)
    const held = this.#ofAddress.get(address) ?? 0
    const most = this.#trustedProxies.trusts(remoteAddress) ? this.#bounds.process : this.#bounds.address
    if (held >= most || (this.#all >= this.#bounds.process && held >= ALWAYS)) return undefined
    const bytes = REQUEST_OVERHEAD + sizeOfHead(rawHeaders)
    this.#add(address, bytes)
    return () => this.#add(address, -bytes)
  }

  #add(address: string, bytes: number): void {
    this.#all += bytes
    const ofAddress = (this.#ofAddress.get(address) ?? 0) + bytes
    if (ofAddress === 0) this.#ofAddress.delete(address)
    else this.#ofAddress.set(address, ofAddress)
  }
}
