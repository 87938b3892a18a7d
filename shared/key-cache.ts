import type { VerificationKey } from './access-token.js'
import { DomainError } from './errors.js'
import { SingleFlight } from './single-flight.js'

/** The keys of one fetch, by an id that the owner of the cache chooses. */
export interface FetchedKeys {
  readonly keys: ReadonlyMap<string, VerificationKey>
  /** Whether this fetch shows that an id which is not among its keys does not exist. Left out: it does for every id. */
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
  /** Milliseconds between two fetches, and, counted separately, between two fetches that unknown ids cause. */
  readonly coolDown: number
  /** Called when fetches begin to fail, with the failure, and with undefined when they work again. */
  readonly onChange?: (failure: Error | undefined) => void
}

interface UnknownId {
  /** How many fetches had begun when the id was first asked for. */
  readonly askedAfter: number
  /** When the last fetch began that showed that there is no such key; undefined for none. */
  absentAt: number | undefined
}

/** Ids are chosen by callers, so only the most recent ones are remembered. A forgotten one is in doubt again. */
const MAX_UNKNOWN_IDS = 500

/**
 * Public keys that are fetched from elsewhere, with one fetch at a time. No method waits for a fetch where a key is
 * known, and none rejects because a fetch failed.
 *
 * An unknown id is told apart from one that nobody can decide on: it is absent only if a fetch has completed that began
 * after the id was first asked for, for an earlier one may have come before the issuer published the key. Anybody can
 * make up ids. They cause at most one fetch in each `coolDown`, and this limit is separate from all other fetches, so
 * that a fetch in the background never takes the turn of an id that is asked for.
 */
export class KeyCache<Fetched extends FetchedKeys = FetchedKeys, Context = void> {
  readonly #options: KeyCacheOptions<Fetched, Context>
  /** In order of use, the least recent first. */
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

  /** The key of an id; undefined where none is known. */
  known(id: string): VerificationKey | undefined {
    return this.current?.keys.get(id)
  }

  /** The last answer, unless it is too old to be used; undefined for none. */
  get current(): Fetched | undefined {
    return this.#age() > this.#options.stale ? undefined : this.#fetched
  }

  /** Whether the last answer is recent enough not to be fetched again. */
  get isFresh(): boolean {
    return this.#age() <= this.#options.fresh
  }

  /** Why the last fetch failed; undefined when it succeeded. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** Fetches, or waits for the fetch under way. Never rejects: see `failure`. */
  fetch(context: Context): Promise<void> {
    return this.#flights.run('fetch', () => this.#fetchOnce(context))
  }

  /** As fetch, but does nothing within `coolDown` of the fetch before. */
  async refresh(context: Context): Promise<void> {
    const isCool = this.#options.now() - this.#begunAt >= this.#options.coolDown
    if (this.#flights.running('fetch') !== undefined || isCool) await this.fetch(context)
  }

  /** Fetches for an id that is not known, where that may tell more and `coolDown` allows it. Never rejects. */
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

  /** Whether nobody knows if there is a key of this id. While fetches fail that holds for every unknown id. */
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

  /** There is one fetch at a time, so every id that was asked for before the last one began has an older number. */
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

/** Nobody can tell whether a token is valid. `coolDown` in milliseconds: the next fetch may be made then. */
export function keysUnavailable(coolDown: number): DomainError {
  return new DomainError('upstream.unavailable', KEYS_UNAVAILABLE, { retryAfter: coolDown / 1000 })
}

/**
 * Whether an error is keysUnavailable, of this process or told by the data service. Such an error is logged at level
 * debug alone: forged tokens cause as many as somebody likes, and why keys cannot be fetched is logged once by whoever
 * fetches them. The detail is compared because it is what arrives over gRPC.
 */
export function isKeysUnavailable({ code, message }: DomainError): boolean {
  return code === 'upstream.unavailable' && message === KEYS_UNAVAILABLE
}
