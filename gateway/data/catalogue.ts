import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../shared/logger.js'
import type { HttpContext } from './calls.js'
import {
  type DataClient,
  type DescribeResponse,
  isolatedIn,
  type Navigation,
  type Operation,
  type Resource
} from './data-client.js'
import { catalogueChanges } from './catalogue-changes.js'
import { OperationPaths } from './operation-paths.js'

/** Milliseconds before the first retry of Describe, and the most before any later one. */
const FIRST_RETRY_DELAY = 100
const MAX_RETRY_DELAY = 1000

/** Milliseconds between two questions which resources are out of service. */
const ISOLATED_EVERY = 10_000

/** Every resource as one reader sees it at one moment, by name. */
export interface CatalogueSnapshot {
  readonly digest: string
  readonly resources: ReadonlyMap<string, Resource>
  /** Those of the application beside the uniform ones, by name. */
  readonly operations: readonly Operation[]
  /** The names of what the caller may call, by resource. Empty in the whole catalogue. */
  readonly allowed: ReadonlyMap<string, readonly string[]>
  /** The names of the application's operations that the caller may call. Empty in the whole catalogue. */
  readonly allowedOperations: readonly string[]
  /** The owner that the caller's token names, in digits; empty without one. */
  readonly owner: string
  /** Whether the caller's owner parameter may name any owner. */
  readonly everyOwner: boolean
  /** The roles of the caller. Empty in the whole catalogue. */
  readonly roles: readonly string[]
  /** Whether creates, and operations with POST, need an Idempotency-Key. */
  readonly keyRequired: boolean
}

/** The catalogue as the gateway sees it, and what documents show callers without a token. */
interface CatalogueSnapshots {
  readonly whole: CatalogueSnapshot
  readonly anonymous: CatalogueSnapshot
  readonly isolated: ReadonlyMap<string, string>
}

interface CatalogueOptions {
  /** Aborted when the gateway stops. */
  readonly signal: AbortSignal
  /** Whether documents show every resource to everybody. */
  readonly isPublic: boolean
  /** Milliseconds between two questions which resources are out of service. */
  readonly isolatedEvery?: number
}

const EMPTY_CATALOGUE: CatalogueSnapshot = {
  digest: '',
  resources: new Map(),
  operations: [],
  allowed: new Map(),
  allowedOperations: [],
  owner: '',
  everyOwner: false,
  roles: [],
  keyRequired: false
}

/**
 * The resources of the data service, and the application's operations. Routes look them up on every request, so that a changed catalogue needs no
 * restart of the gateway: the catalogue is fetched again each time a data service begins to serve. Documents for people
 * and programs show `seenBy`, since the whole catalogue holds resources and properties that take a permission to see.
 */
export class LiveCatalogue {
  readonly #data: DataClient
  readonly #log: Logger
  readonly #signal: AbortSignal
  readonly #isPublic: boolean
  readonly #isolatedEvery: number
  #current: CatalogueSnapshots = { whole: EMPTY_CATALOGUE, anonymous: EMPTY_CATALOGUE, isolated: new Map() }
  #operationPaths = new OperationPaths([])
  #isDescribed = false
  #refreshing = false
  #refreshAgain = false

  /** Waits until a data service has described itself, however long that takes. Rejects when the signal is aborted. */
  static async open(data: DataClient, log: Logger, options: CatalogueOptions): Promise<LiveCatalogue> {
    const catalogue = new LiveCatalogue(data, log, options)
    await catalogue.describe()
    return catalogue
  }

  /** It is empty until `describe` has resolved. */
  constructor(data: DataClient, log: Logger, { signal, isPublic, isolatedEvery = ISOLATED_EVERY }: CatalogueOptions) {
    this.#isolatedEvery = isolatedEvery
    this.#data = data
    this.#log = log
    this.#signal = signal
    this.#isPublic = isPublic
  }

  /**
   * Fills the catalogue, and from then on follows its changes. To be called once. Resolves when a data service has described
   * itself, however long that takes. Rejects when the signal is aborted.
   */
  async describe(): Promise<void> {
    this.#take(await describeWithRetries(this.#data, this.#log, this.#signal))
    this.#isDescribed = true
    this.#data.onConnected(() => void this.#refresh())
    void this.#watchIsolated()
  }

  /** The resources that are out of service, with the reasons, as a data service said a while ago. */
  get isolated(): ReadonlyMap<string, string> {
    return this.#current.isolated
  }

  /** Never rejects. A data service that does not answer is asked again. */
  async #watchIsolated(): Promise<void> {
    while (!this.#signal.aborted) {
      await delay(this.#isolatedEvery, undefined, { signal: this.#signal, ref: false }).catch(() => undefined)
      if (this.#signal.aborted) return
      const isolated = await this.#data.isolated(this.#signal).catch(() => undefined)
      if (isolated !== undefined) this.#current = { ...this.#current, isolated }
    }
  }

  /** Whether a data service has described itself. Until then no resource is known, and nothing can be said about any path. */
  get isDescribed(): boolean {
    return this.#isDescribed
  }

  /** Every resource with all its properties, for the routes. */
  get current(): CatalogueSnapshot {
    return this.#current.whole
  }

  /** The paths of the application's operations. */
  get operationPaths(): OperationPaths {
    return this.#operationPaths
  }

  find(resource: string): Resource | undefined {
    return this.#current.whole.resources.get(resource)
  }

  /**
   * What documents show the caller: the resources that it may read or write somehow and the operations that it may call or, where the catalogue is public, all
   * of them, with the properties that it may see. Without a token it is known already; otherwise the data service judges the
   * token and answers.
   * Rejects with DomainErrors: `auth.invalid-token` for one.
   */
  async seenBy(call: HttpContext): Promise<CatalogueSnapshot> {
    if (call.authorization === undefined) return this.#current.anonymous
    return this.#shown(snapshotOf(await this.#data.describeTo(call)))
  }

  /** Never rejects. If a data service begins to serve during a refresh, another refresh follows. */
  async #refresh(): Promise<void> {
    this.#refreshAgain = true
    if (this.#refreshing) return
    this.#refreshing = true
    while (this.#refreshAgain && !this.#signal.aborted) {
      this.#refreshAgain = false
      const described = await describeWithRetries(this.#data, this.#log, this.#signal).catch(() => undefined)
      const { whole, anonymous } = this.#current
      if (described === undefined) continue
      this.#take(described)
      const { digest, resources } = described.whole
      if (digest === whole.digest && this.#current.anonymous.digest === anonymous.digest) continue
      const changes = catalogueChanges(whole, described.whole)
      this.#log.info({ digest, resources: resources.size, changes }, 'catalogue changed')
    }
    this.#refreshing = false
  }

  #take({ whole, anonymous, isolated }: CatalogueSnapshots): void {
    this.#current = { whole, anonymous: this.#shown(anonymous), isolated }
    this.#operationPaths = new OperationPaths(whole.operations)
  }

  #shown(seen: CatalogueSnapshot): CatalogueSnapshot {
    return this.#isPublic ? seen : onlyAllowed(seen)
  }
}

function snapshotOf({
  digest,
  resources,
  operations,
  allowed,
  allowedOperations,
  owner,
  everyOwner,
  roles,
  keyRequired
}: DescribeResponse): CatalogueSnapshot {
  return {
    digest,
    resources: new Map(resources.map((resource) => [resource.name, resource])),
    operations,
    allowed: new Map(allowed.map(({ resource, names }) => [resource, names])),
    allowedOperations,
    owner,
    everyOwner,
    roles,
    keyRequired
  }
}

/**
 * The resources of which the caller may call something, the operations that it may call, and no name of another one.
 * Write-only columns are in the bodies of creates and updates alone, so they are there for callers who may send one.
 */
function onlyAllowed(seen: CatalogueSnapshot): CatalogueSnapshot {
  const names = [...seen.resources.keys()].filter((name) => (seen.allowed.get(name) ?? []).length > 0)
  const known = new Set(names)
  const written = new Set(
    names.filter((name) => ['create', 'update'].some((one) => seen.allowed.get(name)?.includes(one) === true))
  )
  const shown = (of: Navigation, isWritten: boolean): Navigation => {
    const { resource, navigations, references, writeOnly, ...rest } = of
    return {
      ...rest,
      resource: known.has(resource) ? resource : '',
      writeOnly: isWritten ? writeOnly : [],
      navigations: navigations.map((one) => shown(one, isWritten)),
      references: references.map((one) => shown(one, isWritten))
    }
  }
  const resources = [...seen.resources.values()]
    .filter(({ name }) => known.has(name))
    .map((resource): [string, Resource] => {
      const isWritten = written.has(resource.name)
      const navigations = resource.navigations.map((one) => shown(one, isWritten))
      return [resource.name, { ...resource, navigations, writeOnly: isWritten ? resource.writeOnly : [] }]
    })
  const operations = seen.operations.filter(({ name }) => seen.allowedOperations.includes(name))
  const parts = [names, [...written], operations.map(({ name }) => name)].map((one) => one.join())
  return {
    ...seen,
    operations,
    resources: new Map(resources),
    allowed: new Map([...seen.allowed].filter(([name]) => known.has(name))),
    digest: createHash('sha256')
      .update(`${seen.digest} ${parts.join(' ')}`)
      .digest('base64url')
  }
}

async function describeWithRetries(data: DataClient, log: Logger, signal: AbortSignal): Promise<CatalogueSnapshots> {
  const anonymous = { authorization: undefined, requestId: 'describe', traceparent: undefined, signal }
  for (let wait = FIRST_RETRY_DELAY; ; wait = Math.min(wait * 2, MAX_RETRY_DELAY)) {
    signal.throwIfAborted()
    try {
      const described = await data.describe(signal)
      return {
        whole: snapshotOf(described),
        anonymous: snapshotOf(await data.describeTo(anonymous)),
        isolated: isolatedIn(described)
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.info({ reason, retryInMs: wait }, 'waiting for the data service')
      await delay(wait, undefined, { signal })
    }
  }
}
