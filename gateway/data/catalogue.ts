import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../shared/logger.js'
import type { DataClient, DescribeResponse, Resource } from './data-client.js'

/** Milliseconds before the first retry of Describe, and the most before any later one. */
const FIRST_RETRY_DELAY = 100
const MAX_RETRY_DELAY = 1000

/** Every resource as described at one moment, by name. */
interface CatalogueSnapshot {
  readonly digest: string
  readonly resources: ReadonlyMap<string, Resource>
}

/**
 * The resources of the data service. Routes look a resource up on every request, so that a changed catalogue needs no
 * restart of the gateway: the catalogue is fetched again each time a data service begins to serve.
 */
export class Catalogue {
  readonly #data: DataClient
  readonly #log: Logger
  readonly #signal: AbortSignal
  #current: CatalogueSnapshot
  #refreshing = false
  #refreshAgain = false

  /** Waits until a data service has described itself, however long that takes. Rejects when the signal is aborted. */
  static async open(data: DataClient, log: Logger, signal: AbortSignal): Promise<Catalogue> {
    const first = snapshotOf(await describeWithRetries(data, log, signal))
    return new Catalogue({ data, log, signal, first })
  }

  private constructor(from: { data: DataClient; log: Logger; signal: AbortSignal; first: CatalogueSnapshot }) {
    this.#data = from.data
    this.#log = from.log
    this.#signal = from.signal
    this.#current = from.first
    this.#data.onConnected(() => void this.#refresh())
  }

  get current(): CatalogueSnapshot {
    return this.#current
  }

  find(resource: string): Resource | undefined {
    return this.#current.resources.get(resource)
  }

  /** Never rejects. If a data service begins to serve during a refresh, another refresh follows. */
  async #refresh(): Promise<void> {
    this.#refreshAgain = true
    if (this.#refreshing) return
    this.#refreshing = true
    while (this.#refreshAgain && !this.#signal.aborted) {
      this.#refreshAgain = false
      const response = await describeWithRetries(this.#data, this.#log, this.#signal).catch(() => undefined)
      if (response === undefined || response.digest === this.#current.digest) continue
      this.#current = snapshotOf(response)
      this.#log.info({ digest: response.digest, resources: response.resources.length }, 'catalogue changed')
    }
    this.#refreshing = false
  }
}

function snapshotOf({ digest, resources }: DescribeResponse): CatalogueSnapshot {
  return { digest, resources: new Map(resources.map((resource) => [resource.name, resource])) }
}

async function describeWithRetries(data: DataClient, log: Logger, signal: AbortSignal): Promise<DescribeResponse> {
  for (let wait = FIRST_RETRY_DELAY; ; wait = Math.min(wait * 2, MAX_RETRY_DELAY)) {
    signal.throwIfAborted()
    try {
      return await data.describe(signal)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.info({ reason, retryInMs: wait }, 'waiting for the data service')
      await delay(wait, undefined, { signal })
    }
  }
}
