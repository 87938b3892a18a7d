import { DomainError } from '../../shared/domain-error.js'

/** Log-ins of this process that are checked at once: one or two are hashed (passwords.ts) while others are at the database. */
const AT_ONCE = 3
/** Those that wait for it, about three seconds' worth; a longer queue would outlast the deadlines of those in it. */
const WAITING = 256
/** Milliseconds, far less than a call may take: on a machine that is slow, waiting on would be in vain. */
const PATIENCE = 5000
/** Of one address, so that those who flood the service leave room for others. */
const WAITING_PER_ADDRESS = 128

interface Waiting {
  readonly address: string
  readonly begin: () => void
}

/**
 * Where log-ins wait to be checked, which is slow on purpose. The queue is bounded, and whoever goes away leaves it:
 * nothing is looked up or hashed for a caller who has gone.
 */
export class LoginQueue {
  #running = 0
  readonly #waiting = new Set<Waiting>()

  /**
   * Resolves, when it is the caller's turn, with the function that ends it. Rejects with the signal's reason once that
   * is aborted, and with `quota-exceeded` where too many wait already, or it waited for too long.
   */
  async enter(address: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#running < AT_ONCE) this.#running += 1
    else await this.#turn(address, signal)
    return () => this.#next()
  }

  #turn(address: string, signal: AbortSignal): Promise<void> {
    const ofAddress = [...this.#waiting].filter((one) => one.address === address).length
    if (this.#waiting.size >= WAITING || ofAddress >= WAITING_PER_ADDRESS) throw crowded()
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(waiting)
        signal.removeEventListener('abort', abort)
      }
      const abort = (): void => {
        leave()
        reject(signal.reason)
      }
      const begin = (): void => {
        leave()
        resolve()
      }
      const timer = setTimeout(() => {
        leave()
        reject(crowded())
      }, PATIENCE)
      const waiting: Waiting = { address, begin }
      this.#waiting.add(waiting)
      signal.addEventListener('abort', abort, { once: true })
    })
  }

  /** The first in line takes over the place. */
  #next(): void {
    const [next] = this.#waiting
    if (next === undefined) this.#running -= 1
    else next.begin()
  }
}

function crowded(): DomainError {
  return new DomainError('quota-exceeded', 'Too many log-ins wait at the moment. Try again.', { retryAfter: 1 })
}
