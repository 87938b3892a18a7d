import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../shared/logger.js'
import type { CatalogueAnswer, DataClient, Resource } from './data-calls.js'

const FIRST_DELAY = 100
const LONGEST_DELAY = 1000

/** What there is to know of every resource, at one moment. */
export interface CatalogueSnapshot {
  readonly digest: string
  readonly resources: ReadonlyMap<string, Resource>
}

/**
 * The resources of the data service. Routes ask it on every request, so a changed catalogue needs no restart: it is
 * described anew whenever a connection to the data service comes into being.
 */
export class Catalogue {
  readonly #data: DataClient
  readonly #log: Logger
  readonly #signal: AbortSignal
  #current: CatalogueSnapshot
  #refreshing = false
  #again = false

  /** Waits until the data service has described itself, however long that takes. Aborting rejects. */
  static async open(data: DataClient, log: Logger, signal: AbortSignal): Promise<Catalogue> {
    return new Catalogue({ data, log, signal, first: snapshotOf(await describePatiently(data, log, signal)) })
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

  /** Never rejects. A connection that comes up while one is being described makes it describe once more. */
  async #refresh(): Promise<void> {
    this.#again = true
    if (this.#refreshing) return
    this.#refreshing = true
    while (this.#again && !this.#signal.aborted) {
      this.#again = false
      const answer = await describePatiently(this.#data, this.#log, this.#signal).catch(() => undefined)
      if (answer === undefined || answer.digest === this.#current.digest) continue
      this.#current = snapshotOf(answer)
      this.#log.info({ digest: answer.digest, resources: answer.resources.length }, 'catalogue changed')
    }
    this.#refreshing = false
  }
}

function snapshotOf(answer: CatalogueAnswer): CatalogueSnapshot {
  return {
    digest: answer.digest,
    resources: new Map(answer.resources.map((resource) => [resource.name, resource]))
  }
}

async function describePatiently(data: DataClient, log: Logger, signal: AbortSignal): Promise<CatalogueAnswer> {
  for (let wait = FIRST_DELAY; ; wait = Math.min(wait * 2, LONGEST_DELAY)) {
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
