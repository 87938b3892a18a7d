import type { Dispatcher, Pool } from 'undici'
import { type Cancellation, NEVER } from '../../shared/transport/cancellation.js'

/**
 * The connections to the renderer. A request whose client is gone before the head of its page is broken off: it would keep one
 * of the connections for as long as the renderer takes, and whoever leaves early could have all of them.
 */
export class RendererConnections {
  readonly #pool: Pool
  #client: Cancellation = NEVER

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** Calls `send`, whose request is broken off once `client` is aborted. @fastify/reply-from sends before it returns. */
  while<Sent>(client: Cancellation, send: () => Sent): Sent {
    this.#client = client
    try {
      return send()
    } finally {
      this.#client = NEVER
    }
  }

  /** As @fastify/reply-from calls it. */
  readonly request = ((options: Dispatcher.RequestOptions, callback: RequestCallback) => {
    const client = this.#client
    const controller = new AbortController()
    const gone = { handleEvent: () => controller.abort() }
    if (client.aborted) controller.abort()
    client.addEventListener('abort', gone)
    this.#pool.request({ ...options, signal: controller.signal }, (error, answer) => {
      client.removeEventListener('abort', gone)
      callback(error, answer)
    })
  }) as Dispatcher['request'] // its overload with a promise is not called
}

type RequestCallback = (error: Error | null, answer: Dispatcher.ResponseData) => void
