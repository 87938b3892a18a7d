import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { DomainError } from '../../shared/errors.js'
import type { Logger } from '../../shared/logger.js'
import { targetNameOf } from '../../shared/tls.js'
import { type DataCredentials, NO_CREDENTIALS } from './credentials.js'
import { Replica } from './replica.js'

/** The IP addresses of a host name, in any order; rejects where there are none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>

export interface DataReplicasOptions {
  /** `host:port` of each, as parsed by config.ts; a host name may stand for several. */
  readonly addresses: readonly string[]
  readonly resolve?: ResolveHost
  readonly credentials?: DataCredentials
  readonly log?: Logger
}

/** Milliseconds between two looks at what the names stand for. */
const RESOLVE_INTERVAL = 30_000

/** The same while some replica does not serve: whoever took its place may stand at another address. */
const RESOLVE_AGAIN = 2000

/** Milliseconds that a call waits for the first addresses. */
const FIRST_RESOLUTION = 2000

/**
 * The data services that the gateway has. Each call goes to one whose health is serving, to the one with the fewest
 * calls in flight; among equals they take turns. Names are resolved again every 30 seconds, and every
 * 2 seconds while some replica does not serve.
 */
export class DataReplicas {
  readonly #addresses: readonly string[]
  readonly #resolve: ResolveHost
  readonly #credentials: DataCredentials
  readonly #log: Logger | undefined
  readonly #replicas = new Map<string, Replica>()
  readonly #waiting = new Set<() => void>()
  readonly #listeners = new Set<() => void>()
  #resolving = false
  #resolvedOnce = false
  #next: NodeJS.Timeout | undefined
  #turn = 0
  #closed = false

  constructor(options: DataReplicasOptions) {
    this.#addresses = options.addresses
    this.#resolve = options.resolve ?? addressesOf
    this.#credentials = options.credentials ?? NO_CREDENTIALS
    this.#log = options.log
    setTimeout(() => this.#firstResolutionIsOver(), FIRST_RESOLUTION).unref()
    void this.#resolveAll()
  }

  /** Whether some replica's health is serving at this moment. */
  get isServing(): boolean {
    return this.#standing('serving').length > 0
  }

  /** Calls the listener each time a replica begins to serve. */
  onServing(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /**
   * The replica for the next attempt of a call. Those in `avoided`, which have failed it, are chosen only where no other
   * serves and `again` allows it. Where none is serving, a connected one is chosen, whose own refusal says why. Waits for
   * replicas that are being connected. Throws `upstream.unavailable` where there is none, and once the signal is aborted.
   */
  async choose(signal: AbortSignal, how: { avoided: ReadonlySet<Replica>; again: boolean }): Promise<Replica> {
    const { avoided, again } = how
    const allowed = (one: Replica): boolean => again || !avoided.has(one)
    for (;;) {
      if (signal.aborted) throw new DomainError('upstream.unavailable', 'Nobody waits for the answer any more.')
      const serving = this.#standing('serving')
      const chosen = this.#leastLoaded(serving.filter((one) => !avoided.has(one)))
      if (chosen !== undefined) return chosen
      if (this.#resolvedOnce && !this.#standing('connecting').some(allowed)) {
        const other =
          this.#leastLoaded(serving.filter(allowed)) ?? this.#leastLoaded(this.#standing('refusing').filter(allowed))
        if (other !== undefined) return other
        const detail = 'The data service cannot be reached at the moment.'
        throw new DomainError('upstream.unavailable', detail, { retryAfter: 1 })
      }
      await this.#change(signal)
    }
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#next)
    for (const replica of this.#replicas.values()) replica.close()
    this.#replicas.clear()
    this.#firstResolutionIsOver()
  }

  #standing(standing: Replica['standing']): Replica[] {
    return [...this.#replicas.values()].filter((one) => one.standing === standing)
  }

  #leastLoaded(candidates: readonly Replica[]): Replica | undefined {
    const fewest = Math.min(...candidates.map(({ inFlight }) => inFlight))
    const equals = candidates.filter(({ inFlight }) => inFlight === fewest)
    this.#turn = (this.#turn + 1) % 2 ** 30
    return equals[this.#turn % equals.length]
  }

  #changed(replica: Replica): void {
    const { address, standing } = replica
    if (standing === 'unreachable') this.#log?.warn({ address }, 'a data service cannot be reached')
    else if (standing !== 'connecting') this.#log?.info({ address, standing }, 'health of a data service')
    if (standing === 'unreachable') this.#resolveIn(RESOLVE_AGAIN)
    this.#wake()
    if (standing === 'serving') for (const listener of this.#listeners) listener()
  }

  /** Resolves at the next change of any replica, and when the signal is aborted. */
  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(held)
        this.#waiting.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      // A connection that is being made does not keep the process alive; who waits for one does.
      const held = setTimeout(wake, FIRST_RESOLUTION)
      this.#waiting.add(wake)
      signal.addEventListener('abort', wake)
    })
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
  }

  #firstResolutionIsOver(): void {
    this.#resolvedOnce = true
    this.#wake()
  }

  #resolveIn(delay: number): void {
    if (this.#closed || this.#resolving) return
    clearTimeout(this.#next)
    this.#next = setTimeout(() => void this.#resolveAll(), delay).unref()
  }

  /** Never rejects: what a name stood for holds until it can be resolved again. */
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
    this.#firstResolutionIsOver()
    this.#resolveIn(this.#standing('serving').length === this.#replicas.size ? RESOLVE_INTERVAL : RESOLVE_AGAIN)
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
    const onChange = (replica: Replica): void => this.#changed(replica)
    this.#replicas.set(address, new Replica({ address, name, credentials: this.#credentials, onChange }))
  }
}

async function addressesOf(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true })
  return found.map(({ address }) => address)
}
