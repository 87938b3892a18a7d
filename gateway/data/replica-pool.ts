import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Cancellation } from '../../shared/transport/cancellation.js'
import { DomainError } from '../../shared/errors.js'
import type { Logger } from '../../shared/logger.js'
import { targetNameOf } from '../../shared/tls.js'
import type { ReplicaState } from '../observe/gateway-metrics.js'
import { type DataCredentials, type HealthState, NO_CREDENTIALS, Replica } from './replica.js'

/** The IP addresses of a host name, in any order. Rejects if there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>

interface ReplicaPoolOptions {
  /** `host:port` of each data service, as parsed by config.ts. A host name may stand for several. */
  readonly addresses: readonly string[]
  readonly resolve?: ResolveHost
  readonly credentials?: DataCredentials
  /** Whether unary calls go by their own methods alone, and never over a stream. Default: false. */
  readonly unaryOnly?: boolean
  readonly log?: Logger
}

/** Milliseconds between two resolutions of the host names. */
const RESOLVE_INTERVAL = 30_000

/** The same while some replica does not serve: its replacement may have another address. */
const RESOLVE_INTERVAL_UNHEALTHY = 2000

/** Milliseconds that a call waits for the first addresses. */
const FIRST_RESOLUTION_TIMEOUT = 2000

/** Calls that a replica may have in flight more than another one before reads of the same tick stop following one another to it. */
const MAX_LEAD = 64

/**
 * The data service processes that the gateway can call. Each call goes to a serving replica with the fewest calls in
 * flight; replicas with equally few take turns. Reads that a data service gathers go together: those of one tick to one
 * replica, where they are one message and one statement. Spread over several replicas they would be as many of both.
 */
export class ReplicaPool {
  readonly #addresses: readonly string[]
  readonly #resolve: ResolveHost
  readonly #credentials: DataCredentials
  readonly #unaryOnly: boolean
  readonly #log: Logger | undefined
  readonly #replicas = new Map<string, Replica>()
  readonly #waiting = new Set<() => void>()
  readonly #servingListeners = new Set<() => void>()
  #resolving = false
  #firstResolutionDone = false
  #resolveTimer: NodeJS.Timeout | undefined
  #turn = 0
  /** Where the first gathered read of this tick went, while there are several replicas. */
  #ofTick: Replica | undefined
  #closed = false

  constructor(options: ReplicaPoolOptions) {
    this.#addresses = options.addresses
    this.#resolve = options.resolve ?? addressesOf
    this.#credentials = options.credentials ?? NO_CREDENTIALS
    this.#unaryOnly = options.unaryOnly ?? false
    this.#log = options.log
    setTimeout(() => this.#endFirstResolution(), FIRST_RESOLUTION_TIMEOUT).unref()
    void this.#resolveAll()
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** The replicas whose health is serving at this moment. */
  allServing(): readonly Replica[] {
    return this.#inState('serving')
  }

  /** The replicas as they are at this moment. */
  states(): readonly ReplicaState[] {
    return [...this.#replicas.values()].map(({ address, health, inFlight, stream }) => ({
      address,
      isServing: health === 'serving',
      inFlight,
      waiting: stream?.waiting ?? 0,
      hasStream: stream !== undefined
    }))
  }

  /** Calls the listener each time a replica begins to serve. */
  onServing(listener: () => void): void {
    this.#servingListeners.add(listener)
  }

  /** The replica for an attempt of a call, if there is one that serves at this moment and is not in `failed`. */
  serving(failed: ReadonlySet<Replica>): Replica | undefined {
    let fewest: Replica | undefined
    let equals = 0
    for (const replica of this.#replicas.values()) {
      if (replica.health !== 'serving' || failed.has(replica)) continue
      if (fewest === undefined || replica.inFlight < fewest.inFlight) [fewest, equals] = [replica, 1]
      else if (replica.inFlight === fewest.inFlight) equals += 1
    }
    if (equals < 2) return fewest
    return this.#leastLoaded(this.#inState('serving').filter((replica) => !failed.has(replica)))
  }

  /** The same for a read that data services gather with others: that of the others of this tick. */
  servingGathered(failed: ReadonlySet<Replica>): Replica | undefined {
    const fewest = this.serving(failed)
    if (fewest === undefined || this.#replicas.size < 2) return fewest
    const same = this.#ofTick
    const isUsable =
      same !== undefined &&
      same.health === 'serving' &&
      !failed.has(same) &&
      same.inFlight - fewest.inFlight <= MAX_LEAD
    if (isUsable) return same
    if (same === undefined) setImmediate(() => (this.#ofTick = undefined))
    this.#ofTick = fewest
    return fewest
  }

  /**
   * The replica for the next attempt of a call. A replica in `failed` is chosen only if no other one is serving and
   * `reuse` allows it. If none is serving, a connected one is chosen, whose own error tells the reason. Waits for
   * replicas that are connecting. Throws `upstream.unavailable` if there is no replica, or the signal is aborted.
   */
  async choose(
    signal: Cancellation,
    { failed, reuse }: { readonly failed: ReadonlySet<Replica>; readonly reuse: boolean }
  ): Promise<Replica> {
    const isAllowed = (replica: Replica): boolean => reuse || !failed.has(replica)
    for (;;) {
      if (signal.aborted) throw new DomainError('upstream.unavailable', 'The client no longer waits for the answer.')
      const chosen = this.serving(failed)
      if (chosen !== undefined) return chosen
      const serving = this.#inState('serving')
      if (this.#firstResolutionDone && !this.#inState('connecting').some(isAllowed)) {
        const other =
          this.#leastLoaded(serving.filter(isAllowed)) ??
          this.#leastLoaded(this.#inState('not-serving').filter(isAllowed))
        if (other !== undefined) return other
        const detail = 'The data service cannot be reached at the moment.'
        throw new DomainError('upstream.unavailable', detail, { retryAfter: 1 })
      }
      await this.#nextChange(signal)
    }
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#resolveTimer)
    for (const replica of this.#replicas.values()) replica.close()
    this.#replicas.clear()
    this.#endFirstResolution()
  }

  #inState(health: HealthState): Replica[] {
    return [...this.#replicas.values()].filter((replica) => replica.health === health)
  }

  #leastLoaded(candidates: readonly Replica[]): Replica | undefined {
    const fewest = Math.min(...candidates.map(({ inFlight }) => inFlight))
    const equals = candidates.filter(({ inFlight }) => inFlight === fewest)
    this.#turn = (this.#turn + 1) % 2 ** 30
    return equals[this.#turn % equals.length]
  }

  #onHealthChange({ address, health }: Replica): void {
    if (health === 'unreachable') this.#log?.warn({ address }, 'a data service cannot be reached')
    else if (health !== 'connecting') this.#log?.info({ address, health }, 'health of a data service')
    if (health === 'unreachable') this.#resolveIn(RESOLVE_INTERVAL_UNHEALTHY)
    this.#wakeWaiting()
    if (health === 'serving') for (const listener of this.#servingListeners) listener()
  }

  /** Resolves at the next health change of any replica, and when the signal is aborted. */
  #nextChange(signal: Cancellation): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', listener)
        resolve()
      }
      const listener = { handleEvent: wake }
      // The timers of a connecting replica do not keep the process alive. This one does, for the caller that waits.
      const timer = setTimeout(wake, FIRST_RESOLUTION_TIMEOUT)
      this.#waiting.add(wake)
      signal.addEventListener('abort', listener)
    })
  }

  #wakeWaiting(): void {
    for (const wake of this.#waiting) wake()
  }

  #endFirstResolution(): void {
    this.#firstResolutionDone = true
    this.#wakeWaiting()
  }

  #resolveIn(delay: number): void {
    if (this.#closed || this.#resolving) return
    clearTimeout(this.#resolveTimer)
    this.#resolveTimer = setTimeout(() => void this.#resolveAll(), delay).unref()
  }

  /** Never rejects. The addresses of a name stay in use until the name can be resolved again. */
  async #resolveAll(): Promise<void> {
    this.#resolving = true
    const resolved = await Promise.all(this.#addresses.map((name) => this.#resolveOne(name)))
    this.#resolving = false
    if (this.#closed) return
    const found = new Map(resolved.flatMap(({ name, addresses }) => addresses.map((one) => [one, name] as const)))
    const unresolved = new Set(resolved.flatMap(({ name, addresses }) => (addresses.length === 0 ? [name] : [])))
    for (const [address, replica] of this.#replicas) {
      if (found.has(address) || unresolved.has(replica.name)) continue
      this.#replicas.delete(address)
      replica.retire()
    }
    for (const [address, name] of found) if (!this.#replicas.has(address)) this.#add(address, name)
    this.#endFirstResolution()
    const allServe = this.#inState('serving').length === this.#replicas.size
    this.#resolveIn(allServe ? RESOLVE_INTERVAL : RESOLVE_INTERVAL_UNHEALTHY)
  }

  async #resolveOne(name: string): Promise<{ readonly name: string; readonly addresses: readonly string[] }> {
    const [host, port] = [targetNameOf(name), name.slice(name.lastIndexOf(':') + 1)]
    try {
      const resolved = isIP(host) === 0 ? await this.#resolve(host) : [host]
      return { name, addresses: resolved.map((ip) => (isIP(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`)) }
    } catch (error) {
      this.#log?.warn({ host, reason: String(error) }, 'the name of the data service cannot be resolved')
      return { name, addresses: [] }
    }
  }

  #add(address: string, name: string): void {
    const onChange = (replica: Replica): void => this.#onHealthChange(replica)
    const shared = { credentials: this.#credentials, unaryOnly: this.#unaryOnly, onChange, log: this.#log }
    this.#replicas.set(address, new Replica({ address, name, ...shared }))
  }
}

async function addressesOf(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}
