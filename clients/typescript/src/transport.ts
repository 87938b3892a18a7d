import { ConnectionError, isProblem, ProblemError, problemOf } from './problem.js'
import type { Session } from './session.js'

/** Time and chance, which tests choose themselves. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after so many milliseconds; rejects with the signal's reason when it is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>
  /** From 0, less than 1. */
  random(): number
}

/** How often and when a request is sent again. */
export interface RetryOptions {
  /** Further attempts after the first, 3 without it; 0 for none. */
  readonly attempts?: number
  /** The longest wait before the second attempt in milliseconds, 200 without it. It doubles with each further one. */
  readonly baseDelay?: number
  /** The longest wait in milliseconds, 30,000 without it. Where `Retry-After` asks for more, the problem is thrown. */
  readonly maxDelay?: number
}

export interface TransportOptions {
  /** `https://shop.example/api`, without a query; a path alone in browsers. Empty, as without it, for the page's own origin. */
  readonly baseUrl?: string
  /** In place of the global one. */
  readonly fetch?: typeof globalThis.fetch
  /** What fetch does with cookies, as it takes it: `same-origin` if it is not said. The API itself takes no cookie. */
  readonly credentials?: 'omit' | 'same-origin' | 'include'
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  readonly retry?: RetryOptions
  readonly clock?: Clock
}

/** When a request may be sent again although it may have been carried out: a read, a write with a key, or neither. */
export type Repeatable = 'read' | 'keyed' | 'never'

export interface Call {
  readonly method: string
  /** From the base URL, with the query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, URLSearchParams as a form, and a Blob or a stream that a function opens as they are. */
  readonly body?: unknown
  readonly repeatable: Repeatable
  readonly signal?: AbortSignal | undefined
}

/** Statuses of which an attempt can be followed by another. 429 comes before any work, so it holds for every request. */
const REPEATED: Readonly<Record<Repeatable, readonly number[]>> = {
  read: [429, 502, 503],
  // With a key, what was carried out is answered and not done again.
  keyed: [429, 502, 503, 504],
  never: [429]
}

const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      const onAbort = (): void => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, milliseconds)
      signal?.addEventListener('abort', onAbort, { once: true })
    })
}

/** Sends requests, again where that is safe, and makes an error of each answer that is no success. */
export class Transport {
  readonly #options: TransportOptions
  readonly #base: string
  readonly #clock: Clock

  constructor(options: TransportOptions) {
    this.#options = options
    this.#base = (options.baseUrl ?? '').replace(/\/+$/, '')
    this.#clock = options.clock ?? systemClock
  }

  /**
   * Resolves with what `read` makes of a successful answer. An answer that breaks off while it is read counts as none. A
   * request whose token is rejected is sent once more with a new one.
   * Throws a ProblemError, a ConnectionError, or the signal's reason.
   */
  async send<Result>(
    call: Call,
    read: (response: Response) => Promise<Result> | Result,
    session?: Session
  ): Promise<Result> {
    const { attempts = 3 } = this.#options.retry ?? {}
    for (let attempt = 0; ; attempt++) {
      // What a token costs in attempts is its provider's: its errors end the call.
      const token = await session?.token(call.signal)
      try {
        return await this.#once(call, read, token)
      } catch (error) {
        const renewed = isUnauthorized(error) ? await session?.renewed(token, call.signal) : undefined
        const result = renewed === undefined || renewed === token ? { error } : await this.#outcome(call, read, renewed)
        if ('value' in result) return result.value
        const delay = attempt < attempts ? this.#delay(result.error, call.repeatable, attempt) : undefined
        if (delay === undefined) throw result.error
        call.signal?.throwIfAborted()
        await this.#clock.sleep(delay, call.signal)
      }
    }
  }

  async #outcome<Result>(
    call: Call,
    read: (response: Response) => Promise<Result> | Result,
    token: string
  ): Promise<{ readonly value: Result } | { readonly error: unknown }> {
    try {
      return { value: await this.#once(call, read, token) }
    } catch (error) {
      return { error }
    }
  }

  /** Milliseconds until the next attempt; undefined if there is none. */
  #delay(error: unknown, repeatable: Repeatable, attempt: number): number | undefined {
    const { baseDelay = 200, maxDelay = 30_000 } = this.#options.retry ?? {}
    const backoff = Math.min(maxDelay, baseDelay * 2 ** attempt) * this.#clock.random()
    if (error instanceof ConnectionError) return repeatable === 'never' ? undefined : backoff
    if (!isProblem(error)) return undefined
    const { code, status } = error.problem
    const isRunning = code === 'idempotency.in-flight' && repeatable === 'keyed'
    if (!isRunning && !REPEATED[repeatable].includes(status)) return undefined
    if (error.retryAfter === undefined) return backoff
    // Not before the service asks for it, and not all clients at the same moment.
    return error.retryAfter > maxDelay ? undefined : error.retryAfter + baseDelay * this.#clock.random()
  }

  async #once<Result>(
    { method, path, headers, body, signal }: Call,
    read: (response: Response) => Promise<Result> | Result,
    token: string | undefined
  ): Promise<Result> {
    const { credentials, fetch = globalThis.fetch, headers: always } = this.#options
    const { payload, isJson } = payloadOf(body)
    try {
      const response = await fetch(`${this.#base}${path}`, {
        method,
        headers: {
          ...(isJson ? { 'content-type': 'application/json' } : {}),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...always,
          ...headers
        },
        // Without `duplex` fetch takes no stream.
        ...(payload === undefined ? {} : { body: payload, duplex: 'half' }),
        ...(credentials === undefined ? {} : { credentials }),
        ...(signal === undefined ? {} : { signal })
      })
      if (response.ok) return await read(response)
      const problem = problemOf(response, await response.text(), path.replace(/\?.*/s, ''))
      throw new ProblemError(problem, this.#retryAfter(response.headers.get('retry-after')))
    } catch (error) {
      if (isProblem(error)) throw error
      signal?.throwIfAborted()
      throw new ConnectionError(`${method} ${path.replace(/\?.*/s, '')} got no whole answer.`, { cause: error })
    }
  }

  /** Seconds or a date (RFC 9110 section 10.2.3), in milliseconds from now; undefined for anything else. */
  #retryAfter(header: string | null): number | undefined {
    if (header === null) return undefined
    const at = /^\d+$/.test(header) ? this.#clock.now() + Number(header) * 1000 : Date.parse(header)
    return Number.isNaN(at) ? undefined : Math.max(0, at - this.#clock.now())
  }
}

function payloadOf(body: unknown): { readonly payload?: Payload; readonly isJson: boolean } {
  if (body === undefined) return { isJson: false }
  if (body instanceof URLSearchParams || body instanceof Blob) return { payload: body, isJson: false }
  if (typeof body === 'function') return { payload: (body as OpenStream)(), isJson: false }
  return { payload: JSON.stringify(body), isJson: true }
}

type OpenStream = () => ReadableStream<Uint8Array>
type Payload = string | URLSearchParams | Blob | ReturnType<OpenStream>

function isUnauthorized(error: unknown): boolean {
  return isProblem(error) && error.problem.status === 401
}
