/**
 * Answers an access token, or undefined for a caller without one. It is called when a token is needed first, and again with
 * the one that the service rejected: then it answers another. Concurrent requests share one call.
 */
export type TokenProvider = (rejected: string | undefined) => string | undefined | Promise<string | undefined>

/** A token that is asked for anew before it expires: the first time that it is needed after `renewAt`, in milliseconds. */
export interface IssuedToken {
  readonly token: string
  readonly renewAt: number
}

type Provided = string | IssuedToken | undefined
type Provide = (rejected: string | undefined) => Provided | Promise<Provided>

/** The access token of the caller. It is in memory only, since every script of a site can read the storage of a browser. */
export class Session {
  readonly #provide: Provide
  readonly #now: () => number
  #held: Promise<string | undefined> | undefined
  #renewAt = Infinity

  constructor(provide: Provide, now: () => number) {
    this.#provide = provide
    this.#now = now
  }

  token(signal?: AbortSignal): Promise<string | undefined> {
    if (this.#now() >= this.#renewAt) this.set()
    return abortable((this.#held ??= this.#ask(undefined)), signal)
  }

  /** A token in place of the rejected one: that which another request has got meanwhile, or a new one. */
  async renewed(rejected: string | undefined, signal?: AbortSignal): Promise<string | undefined> {
    const known = this.#held
    const current = await this.token(signal)
    if (current !== rejected) return current
    // Whoever comes first asks, and the others wait for the same answer.
    if (this.#held === known) this.#held = this.#ask(rejected)
    return await this.token(signal)
  }

  /** The next request asks for a token anew, or has the one given. */
  set(token?: string): void {
    this.#renewAt = Infinity
    this.#held = token === undefined ? undefined : Promise.resolve(token)
  }

  #ask(rejected: string | undefined): Promise<string | undefined> {
    this.#renewAt = Infinity
    const asked: Promise<string | undefined> = Promise.resolve()
      .then(() => this.#provide(rejected))
      .then((provided) => {
        if (typeof provided !== 'object') return provided
        if (this.#held === asked) this.#renewAt = provided.renewAt
        return provided.token
      })
      .catch((error: unknown) => {
        if (this.#held === asked) this.#held = undefined
        throw error
      })
    return asked
  }
}

/** The work goes on for others who wait for it. */
function abortable<Result>(work: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    // Also after an abort: a rejection that nobody takes would end a process.
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
