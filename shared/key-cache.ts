import type { VerificationKey } from './access-token.js'
import { DomainError } from './errors.js'
import { SingleFlight } from './single-flight.js'

/** The keys of one fetch, by an id that the owner of the cache chooses. */
export interface FetchedKeys {
  readonly keys: ReadonlyMap<string, VerificationKey>
  /** Whether this fetch proves that an id which is not among its keys does not exist. If left out, it does for every id. */
  readonly showsAbsent?: (id: string) => boolean
}

interface KeyCacheOptions<Fetched extends FetchedKeys, Context> {
  /** Must take a bounded time. `context` is that of the call which caused the fetch. */
  readonly fetch: (context: Context) => Promise<Fetched>
  /** Epoch milliseconds. */
  readonly now: () => number
  /** Milliseconds after which keys are fetched again. A withdrawn key is forgotten then. */
  readonly fresh: number
  /** Milliseconds for which keys are used while they cannot be fetched again. */
  readonly stale: number
  /** Milliseconds between two fetches, and, counted separately, between two fetches that are caused by unknown ids. */
  readonly coolDown: number
  /** Called with the failure when fetches begin to fail, and with undefined when they work again. */
  readonly onChange?: (failure: Error | undefined) => void
}

interface UnknownId {
  /** How many fetches had begun when the id was first asked for. */
  readonly askedAfter: number
  /** The start of the last fetch which proved that there is no such key; undefined if there was none. */
  absentAt: number | undefined
}

/** Callers choose the ids, so only the most recent ones are remembered. An id that is forgotten is in doubt again. */
const MAX_UNKNOWN_IDS = 500

/**
 * Public keys that are fetched from another service, with one fetch at a time. No method waits for a fetch if it is asked
 * for a known key, and none rejects because a fetch failed.
 *
 * An id without a key is either absent or in doubt. It is absent only if a fetch has completed that began after the id was
 * first asked for, because the issuer may have published the key after an earlier one. Anybody can make up ids. They cause
 * at most one fetch in each `coolDown`. This limit is separate from that of all other fetches, so that a fetch in the
 * background never delays the fetch for an id that is asked for.
 */
export class KeyCache<Fetched extends FetchedKeys = FetchedKeys, Context = void> {
  readonly #options: KeyCacheOptions<Fetched, Context>
  /** In order of use, the least recently used id first. */
  readonly #unknown = new Map<string, UnknownId>()
  #fetched: Fetched | undefined
  #fetchedAt = -Infinity
  #failure: Error | undefined
  readonly #flights = new SingleFlight<'fetch', void>()
  #begun = 0
  #begunAt = -Infinity
  #begunForUnknownAt = -Infinity

  constructor(options: KeyCacheOptions<Fetched, Context>) {
    this.#options = options
  }

  /** The key of an id; undefined if none is known. */
  known(id: string): VerificationKey | undefined {
    return this.current?.keys.get(id)
  }

  /** What was fetched last; undefined if there is nothing or if it is too old to be used. */
  get current(): Fetched | undefined {
    return this.#age() > this.#options.stale ? undefined : this.#fetched
  }

  /** Whether the last successful fetch is recent enough that none is needed. */
  get isFresh(): boolean {
    return this.#age() <= this.#options.fresh
  }

  /** Why the last fetch failed; undefined if it succeeded. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Fetches, or waits for the fetch that is running. Never rejects; `failure` tells whether it failed. */
  fetch(context: Context): Promise<void> {
    return this.#flights.run('fetch', () => this.#fetchOnce(context))
  }

  /** Like `fetch`, but does nothing if the previous fetch began less than `coolDown` ago. */
  async refresh(context: Context): Promise<void> {
    const isCool = this.#options.now() - this.#begunAt >= this.#options.coolDown
    if (this.#flights.running('fetch') !== undefined || isCool) await this.fetch(context)
  }

  /** Fetches for an id that is not known, if a fetch can tell more about it and `coolDown` allows one. Never rejects. */
  async lookFor(id: string, context: Context): Promise<void> {
    const { now, coolDown } = this.#options
    if (this.known(id) !== undefined) return
    const asked = this.#remember(id, this.#unknown.get(id) ?? { askedAfter: this.#begun, absentAt: undefined })
    for (;;) {
      const fetching = this.#flights.running('fetch')
      if (fetching !== undefined) {
        await fetching
        if (this.#failure !== undefined || this.known(id) !== undefined) return
      } else {
        if (now() - (asked.absentAt ?? -Infinity) < coolDown) return
        if (now() - this.#begunForUnknownAt < coolDown) return
        this.#begunForUnknownAt = now()
        void this.fetch(context)
      }
    }
  }

  /** Whether it is not known if a key with this id exists. While fetches fail this is so for every unknown id. */
  isInDoubt(id: string): boolean {
    if (this.known(id) !== undefined) return false
    return this.current === undefined || this.#failure !== undefined || this.#unknown.get(id)?.absentAt === undefined
  }

  #age(): number {
    return this.#options.now() - this.#fetchedAt
  }

  async #fetchOnce(context: Context): Promise<void> {
    const { fetch, now, onChange } = this.#options
    const before = this.#failure
    this.#begun += 1
    const begunAt = now()
    this.#begunAt = begunAt
    try {
      const fetched = await fetch(context)
      this.#markAbsent(fetched, begunAt)
      this.#fetched = fetched
      this.#fetchedAt = now()
      this.#failure = undefined
    } catch (error) {
      this.#failure = error instanceof Error ? error : new TypeError('No Error was thrown', { cause: error })
    }
    if ((before === undefined) !== (this.#failure === undefined)) onChange?.(this.#failure)
  }

  /** There is one fetch at a time, so an id that was asked for before this fetch began has a lower `askedAfter`. */
  #markAbsent({ keys, showsAbsent = () => true }: FetchedKeys, begunAt: number): void {
    for (const id of this.#fetched?.keys.keys() ?? []) {
      if (!keys.has(id)) this.#remember(id, { askedAfter: this.#begun - 1, absentAt: undefined })
    }
    for (const [id, unknown] of this.#unknown) {
      if (keys.has(id)) this.#unknown.delete(id)
      else if (unknown.askedAfter < this.#begun && showsAbsent(id)) unknown.absentAt = begunAt
    }
  }

  #remember(id: string, unknown: UnknownId): UnknownId {
    this.#unknown.delete(id)
    this.#unknown.set(id, unknown)
    const [oldest] = this.#unknown.keys()
    if (this.#unknown.size > MAX_UNKNOWN_IDS && oldest !== undefined) this.#unknown.delete(oldest)
    return unknown
  }
}

const KEYS_UNAVAILABLE = 'The keys that verify this token cannot be fetched at the moment.'

/** For a token that cannot be checked at the moment. `coolDown`: milliseconds until the next fetch is allowed. */
export function keysUnavailable(coolDown: number): DomainError {
  return new DomainError('upstream.unavailable', KEYS_UNAVAILABLE, { retryAfter: coolDown / 1000 })
}

/**
 * Whether an error comes from keysUnavailable, in this process or in the data service. Such errors are logged at level
 * debug only: anybody can cause any number of them with forged tokens, and the component that fetches the keys logs once
 * why it cannot. The message is compared because nothing else that identifies the error arrives over gRPC.
 */
export function isKeysUnavailable({ code, message }: DomainError): boolean {
  return code === 'upstream.unavailable' && message === KEYS_UNAVAILABLE
}
