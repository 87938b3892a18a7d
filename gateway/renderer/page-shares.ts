import type { FastifyReply } from 'fastify'
import { FairSemaphore } from '../../shared/fair-semaphore.js'
import type { Cancellation } from '../../shared/transport/cancellation.js'
import { throttledAddress } from '../../shared/ip-address.js'
import { clientAddress } from '../http/client-address.js'
import { Overload } from '../server/admission.js'
import { abortOnEnd } from '../server/requests.js'

/** Connections to the renderer, each of which makes one page at a time. */
export const PAGES = 128

/** Pages of one address at a time. It takes the last half of all only as far as others have as many left. */
const PAGES_OF_ADDRESS = 64

/** Pages that may wait, in all. Of an address it is four times its share. */
const WAITING_PAGES = 1024

/** Lets clients share the connections to the renderer: one whose pages take long leaves some to others. */
export class PageShares {
  readonly #places: FairSemaphore

  /** `timeout`: milliseconds that a page waits for its turn. */
  constructor(timeout: number) {
    this.#places = new FairSemaphore({
      places: PAGES,
      waiting: WAITING_PAGES,
      timeout,
      detail: 'Too many pages are under way. Try again.',
      retryAfter: 1,
      // A flood is no fault of the service, and does not fill the log.
      cause: new Overload('pages')
    })
  }

  /**
   * Resolves when the page may begin, with what is aborted once its answer has ended: then its place is free again. Rejects with
   * `upstream.unavailable`.
   */
  async enter(reply: FastifyReply): Promise<Cancellation> {
    const { raw, request } = reply
    const { signal } = abortOnEnd(raw)
    const all = { key: 'all', limit: PAGES }
    const within = [{ share: all, last: PAGES / 2, atLeast: 2 }]
    const own = { key: `address ${throttledAddress(clientAddress(request))}`, limit: PAGES_OF_ADDRESS, within }
    const leave = await this.#places.enter({ shares: [all, own], signal })
    if (signal.aborted) leave()
    else signal.addEventListener('abort', { handleEvent: leave })
    return signal
  }
}
