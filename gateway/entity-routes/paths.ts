import { PARAMETERS_OF_READS, type ReadName, type ReadParameter } from '../../shared/read-parameters.js'
import type { CustomRead, Property, Resource } from '../data/data-client.js'
import type { RouteParameters, RouteQuery } from '../http/query-string.js'

/**
 * The table of the reads that resources have: their routes, the parameters that they take (contract.md section 4), and
 * what the OpenAPI document says about them. A new read is a row here and a handler in reads.ts, after its side in the data
 * service (docs/tour.md, "Where to go for a change").
 */
export const READ_ROUTES = {
  list: {
    url: '/:resource',
    methods: ['GET', 'HEAD'],
    names: PARAMETERS_OF_READS.list,
    filters: false,
    rejected: [],
    summary: 'The first rows by id',
    answer: 'Rows in order of id.',
    mediaType: 'application/json',
    body: 'rows',
    headers: ['X-Row-Limit', 'X-Truncated', 'X-Truncated-Includes', 'X-Unshown-Values', 'Link']
  },
  paged: {
    url: '/:resource/paged',
    methods: ['GET', 'HEAD'],
    names: PARAMETERS_OF_READS.paged,
    filters: true,
    rejected: [],
    summary: 'A filtered, sorted page',
    answer: 'The rows of the page.',
    mediaType: 'application/json',
    body: 'rows',
    headers: [
      'X-Pagination',
      'X-Total-Count',
      'X-Next-Cursor',
      'X-Previous-Cursor',
      'X-Truncated-Includes',
      'X-Unshown-Values',
      'Link'
    ]
  },
  export: {
    url: '/:resource/export',
    methods: ['GET'],
    names: PARAMETERS_OF_READS.export,
    filters: true,
    rejected: ['includeChildren'],
    summary: 'Every row that matches, as CSV',
    answer: 'RFC 4180 with CRLF. A cut file ends in a row that says so.',
    mediaType: 'text/csv',
    body: 'file',
    headers: ['X-Export-Row-Limit', 'Content-Disposition']
  },
  lookup: {
    url: '/:resource/lookup',
    methods: ['GET', 'HEAD'],
    names: PARAMETERS_OF_READS.lookup,
    filters: false,
    rejected: [],
    summary: 'Id and name pairs',
    answer: 'Ordered by name, then id.',
    mediaType: 'application/json',
    body: 'lookup',
    headers: ['X-Truncated', 'X-Unshown-Values']
  },
  totals: {
    url: '/:resource/totals',
    methods: ['GET', 'HEAD'],
    names: PARAMETERS_OF_READS.totals,
    filters: true,
    rejected: [],
    summary: 'Counts, sums and averages of the rows that match',
    answer: 'A row for each group, with its dimensions and measures. As CSV with `Accept: text/csv`.',
    mediaType: 'application/json',
    body: 'totals',
    headers: ['X-Row-Limit', 'X-Truncated', 'X-Unshown-Values']
  },
  get: {
    url: '/:resource/:id',
    methods: ['GET', 'HEAD'],
    names: PARAMETERS_OF_READS.get,
    filters: false,
    rejected: [],
    summary: 'One row',
    answer: 'The row.',
    mediaType: 'application/json',
    body: 'row',
    headers: ['ETag', 'X-Truncated-Includes', 'X-Unshown-Values']
  }
} as const satisfies Readonly<Record<ReadName, ReadRoute>>

interface ReadRoute extends EntityRoute, RouteParameters<ReadParameter> {
  readonly summary: string
  /** What the body of a 200 is, in words. */
  readonly answer: string
  readonly mediaType: string
  /** What the body of a 200 is, for the OpenAPI document. */
  readonly body: 'row' | 'rows' | 'lookup' | 'totals' | 'file'
  /** Response headers that the OpenAPI document names. */
  readonly headers: readonly string[]
}

/** The parameters that a read takes of this resource. A resource without searchable properties has no `search`. */
export function parametersOfRead(operation: ReadName, resource: Resource | undefined): RouteParameters<ReadParameter> {
  if (resource === undefined) return unsearchable(operation)
  const known = knownParameters.get(resource)
  if (known !== undefined) return known[operation]
  const isSearchable = resource.properties.some(({ searchable }) => searchable)
  const entries = READ_NAMES.map((read) => [
    read,
    read === 'lookup' || isSearchable ? READ_ROUTES[read] : unsearchable(read)
  ])
  // The keys are all the operations.
  const made = Object.fromEntries(entries) as Record<ReadName, RouteParameters<ReadParameter>>
  knownParameters.set(resource, made)
  return made[operation]
}

/** Found once for each resource of the catalogue, not for each request. */
const knownParameters = new WeakMap<Resource, Readonly<Record<ReadName, RouteParameters<ReadParameter>>>>()

function unsearchable(operation: ReadName): RouteParameters<ReadParameter> {
  const route: ReadRoute = READ_ROUTES[operation]
  return operation === 'lookup' ? route : { ...route, names: route.names.filter((name) => name !== 'search') }
}

/** In the order of the OpenAPI document. The cast is safe: the keys of the table are its operations. */
export const READ_NAMES = Object.keys(READ_ROUTES) as readonly ReadName[]

/** The reads whose route is a fixed segment below the resource, at the place of an id. */
const FIXED_READS: readonly string[] = READ_NAMES.filter((read) => READ_ROUTES[read].url.endsWith(`/${read}`))

/** Below it unique properties name rows. By itself it is no path. */
const BY = 'by'

/** What is at the place of an id and is none. */
export const FIXED_SEGMENTS: readonly string[] = [...FIXED_READS, BY]

interface EntityRoute {
  readonly url: string
  readonly methods: readonly string[]
}

/** The routes of writes. `act` stands for every action of a resource. */
const WRITE_ROUTES = {
  create: { url: '/:resource', methods: ['POST'] },
  /** Only where the id of the path is `batch`, which no POST to a row could mean. */
  batch: { url: '/:resource/:id', methods: ['POST'] },
  /** Likewise, where the id is `import`. */
  import: { url: '/:resource/:id', methods: ['POST'] },
  update: { url: '/:resource/:id', methods: ['PUT', 'PATCH'] },
  /** Likewise: the id of the path is `batch`, in place of the update of a row with that id. */
  updateBatch: { url: '/:resource/:id', methods: ['PATCH'] },
  delete: { url: '/:resource/:id', methods: ['DELETE'] },
  /** Only where the rest of the path is `batch/delete`. */
  deleteBatch: { url: '/:resource/:id/:action', methods: ['POST'] },
  act: { url: '/:resource/:id/:action', methods: ['PUT'] }
} as const satisfies Readonly<Record<string, EntityRoute>>

/** The read by id and the update of a row that a unique property names in place of its id. */
const BY_ROUTES = {
  getBy: { url: '/:resource/by/:property/:value', methods: READ_ROUTES.get.methods },
  updateBy: { url: '/:resource/by/:property/:value', methods: ['PUT'] }
} as const satisfies Readonly<Record<string, EntityRoute>>

/** Only where the rest of the path is `history`, which a PUT may take for the name of an action. */
const ROUTE_BELOW = {
  history: { url: '/:resource/:id/:action', methods: READ_ROUTES.get.methods }
} as const satisfies Readonly<Record<string, EntityRoute>>

/** Every operation that a resource may have. */
export type EntityOperation = ReadName | keyof typeof WRITE_ROUTES | keyof typeof BY_ROUTES | keyof typeof ROUTE_BELOW

const ROUTES: Readonly<Record<EntityOperation, EntityRoute>> = {
  ...READ_ROUTES,
  ...WRITE_ROUTES,
  ...BY_ROUTES,
  ...ROUTE_BELOW
}

/** A path with the operations that resources may have there. */
export interface EntityPath {
  readonly url: string
  readonly operations: readonly EntityOperation[]
}

/** Every path of entities, each of them once. */
export const ENTITY_PATHS: readonly EntityPath[] = [...new Set(Object.values(ROUTES).map(({ url }) => url))].map(
  (url) => ({
    url,
    // The keys of the table are its operations.
    operations: (Object.keys(ROUTES) as EntityOperation[]).filter((operation) => ROUTES[operation].url === url)
  })
)

/** The path of an operation, with the other operations that have the same path. */
export function entityPathOf(operation: EntityOperation): EntityPath {
  const path = ENTITY_PATHS.find(({ operations }) => operations.includes(operation))
  if (path === undefined) throw new TypeError(`${operation} has no path`)
  return path
}

function methodsOf(operation: EntityOperation): readonly string[] {
  return ROUTES[operation].methods
}

/** The custom read of the resource with this name, if it has one. */
export function customReadNamed(resource: Resource | undefined, name: string | undefined): CustomRead | undefined {
  return resource?.reads.find((read) => read.name === name)
}

/** The methods that have a route at the path, for any resource. */
export function routedMethods({ operations }: EntityPath): string[] {
  return [...new Set(operations.flatMap(methodsOf))]
}

/**
 * The methods that this resource has at the path; empty if it has no such path. The name of a custom read is at the place
 * of an id, and is never the text of an id.
 */
export function allowedMethods(path: EntityPath, resource: Resource, below: BelowResource): readonly string[] {
  if (below.id === BY) return []
  if (below.property !== undefined) return servedMethods(path, resource, below)
  if (path.url === READ_ROUTES.get.url && customReadNamed(resource, below.id) !== undefined)
    return READ_ROUTES.get.methods
  if (below.action !== undefined || below.id === 'batch' || below.id === 'import')
    return servedMethods(path, resource, below)
  const known = methodsAt.get(resource)?.get(path)
  if (known !== undefined) return known
  const served = servedMethods(path, resource, below)
  methodsAt.set(resource, new Map([...(methodsAt.get(resource) ?? []), [path, served]]))
  return served
}

/** Those of the paths whose methods are the same for all ids, found once for each resource of the catalogue. */
const methodsAt = new WeakMap<Resource, ReadonlyMap<EntityPath, readonly string[]>>()

function servedMethods(path: EntityPath, resource: Resource, below: BelowResource): readonly string[] {
  const served = (operation: EntityOperation): boolean => {
    if (operation === 'act') return resource.actions.some(({ name }) => name === below.action)
    if (operation === 'getBy') return uniqueProperties(resource).some((one) => isNamed(one, below.property))
    if (operation === 'updateBy') {
      return resource.updatesByProperty && uniqueProperties(resource).some((one) => isNamed(one, below.property))
    }
    if (operation === 'deleteBatch' && below.action !== 'delete') return false
    if (operation === 'history' && below.action !== 'history') return false
    return resource.operations.includes(operation) && (IN_PLACE_OF_ID.get(operation) ?? below.id) === below.id
  }
  return [...new Set(path.operations.filter(served).flatMap(methodsOf))]
}

/** The properties whose values name rows. */
export function uniqueProperties({ properties }: Resource): readonly Property[] {
  return properties.filter(({ unique }) => unique)
}

/** Letter case does not count in names of properties. */
function isNamed({ name }: Property, text: string | undefined): boolean {
  return name.toLowerCase() === text?.toLowerCase()
}

/** What the paths of operations have in place of an id. */
const IN_PLACE_OF_ID: ReadonlyMap<EntityOperation, string> = new Map([
  ['batch', 'batch'],
  ['updateBatch', 'batch'],
  ['deleteBatch', 'batch'],
  ['import', 'import']
])

/** The parameters of a path below its resource. */
export interface BelowResource {
  readonly id?: string
  readonly action?: string
  /** With a value of it, in place of the id. */
  readonly property?: string
  readonly value?: string
}

/** The member of a gRPC message that holds the owner parameter. It is absent if the client sent none. */
export interface OwnerMember {
  readonly ownerParameter?: string
}

/** The query parameter of the resource's owner filter for an operation; undefined if it takes none there. */
export function ownerParameterOf(resource: Resource | undefined, operation: EntityOperation): string | undefined {
  return resource?.ownerFiltered.includes(operation) === true ? resource.ownerParameter : undefined
}

/** The same for a custom read of the resource. */
export function ownerParameterOfRead({ ownerParameter }: Resource, read: CustomRead): string | undefined {
  return read.ownerFiltered ? ownerParameter : undefined
}

export function ownerMember({ owner }: Pick<RouteQuery, 'owner'>): OwnerMember {
  return owner === undefined ? {} : { ownerParameter: owner }
}
