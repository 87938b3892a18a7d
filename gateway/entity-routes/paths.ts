import type { CustomRead, Resource } from '../data/data-client.js'
import type { ParameterName, RouteParameters, RouteQuery } from '../http/query-string.js'

/**
 * The one table of the reads that resources have: their routes, what they take from the query (contract.md section 4),
 * and what the OpenAPI document says of them. A new read is a row here and a handler in reads.ts.
 */
export const READS = {
  list: {
    url: '/:resource',
    methods: ['GET', 'HEAD'],
    names: ['fields', 'includeFKs', 'includeChildren'],
    filters: false,
    rejected: [],
    summary: 'The first rows by id',
    answer: 'Rows in order of id.',
    mediaType: 'application/json',
    schema: rows,
    headers: ['X-Row-Limit', 'X-Truncated', 'Link']
  },
  paged: {
    url: '/:resource/paged',
    methods: ['GET', 'HEAD'],
    names: [
      'sortColumn',
      'sortDirection',
      'pageSize',
      'pageNumber',
      'includeTotal',
      'fields',
      'includeFKs',
      'includeChildren'
    ],
    filters: true,
    rejected: [],
    summary: 'A filtered, sorted page',
    answer: 'The rows of the page.',
    mediaType: 'application/json',
    schema: rows,
    headers: ['X-Pagination', 'X-Total-Count', 'Link']
  },
  export: {
    url: '/:resource/export',
    methods: ['GET'],
    names: ['sortColumn', 'sortDirection', 'fields', 'bom', 'escapeFormulas'],
    filters: true,
    rejected: ['includeChildren'],
    summary: 'Every row that matches, as CSV',
    answer: 'RFC 4180 with CRLF. A cut file ends in a row that says so.',
    mediaType: 'text/csv',
    schema: () => ({ type: 'string' }),
    headers: ['X-Export-Row-Limit', 'Content-Disposition']
  },
  lookup: {
    url: '/:resource/lookup',
    methods: ['GET', 'HEAD'],
    names: ['search'],
    filters: false,
    rejected: [],
    summary: 'Id and name pairs',
    answer: 'Ordered by name, then id.',
    mediaType: 'application/json',
    schema: (resource: string) => row(`${resource}.lookup`),
    headers: ['X-Truncated']
  },
  get: {
    url: '/:resource/:id',
    methods: ['GET', 'HEAD'],
    names: ['fields', 'includeFKs', 'includeChildren'],
    filters: false,
    rejected: [],
    summary: 'One row',
    answer: 'The row.',
    mediaType: 'application/json',
    schema: row,
    headers: ['ETag']
  }
} as const satisfies Readonly<Record<string, ReadRoute>>

interface ReadRoute extends Route, RouteParameters<ParameterName> {
  readonly summary: string
  /** What the body of a 200 is, in words. */
  readonly answer: string
  readonly mediaType: string
  /** The JSON schema of the body of a 200, for a resource by name. */
  readonly schema: (resource: string) => object
  /** Response headers that the OpenAPI document names. */
  readonly headers: readonly string[]
}

function row(schema: string): object {
  return { $ref: `#/components/schemas/${schema}` }
}

function rows(resource: string): object {
  return { type: 'array', items: row(resource) }
}

/** A read operation, in the words of the catalogue. */
export type ReadOperation = keyof typeof READS

/** In the order of the OpenAPI document. */
// The keys of the table are its operations.
export const READ_OPERATIONS = Object.keys(READS) as readonly ReadOperation[]

/** The reads that are a segment below their resource, where an id may stand too. */
export const READ_SEGMENTS: readonly string[] = READ_OPERATIONS.filter((read) => READS[read].url.endsWith(`/${read}`))

interface Route {
  readonly url: string
  readonly methods: readonly string[]
}

/** The routes of writes; `act` is each action of a resource. */
const WRITES = {
  create: { url: '/:resource', methods: ['POST'] },
  update: { url: '/:resource/:id', methods: ['PUT'] },
  delete: { url: '/:resource/:id', methods: ['DELETE'] },
  act: { url: '/:resource/:id/:action', methods: ['PUT'] }
} as const satisfies Readonly<Record<string, Route>>

/** Whatever a resource may serve; `act` is each of its actions. */
export type Operation = ReadOperation | keyof typeof WRITES

const ROUTES: Readonly<Record<Operation, Route>> = { ...READS, ...WRITES }

/** A path of the uniform surface with the operations that may be there. */
export interface EntityPath {
  readonly url: string
  readonly operations: readonly Operation[]
}

/** Every path of the uniform surface, once. */
export const ENTITY_PATHS: readonly EntityPath[] = [...new Set(Object.values(ROUTES).map(({ url }) => url))].map(
  (url) => ({
    url,
    // The keys of the table are its operations.
    operations: (Object.keys(ROUTES) as Operation[]).filter((operation) => ROUTES[operation].url === url)
  })
)

/** The path of an operation, with the other operations that stand there. */
export function pathOf(operation: Operation): EntityPath {
  const path = ENTITY_PATHS.find(({ operations }) => operations.includes(operation))
  if (path === undefined) throw new TypeError(`${operation} has no path`)
  return path
}

function methodsOf(operation: Operation): readonly string[] {
  return ROUTES[operation].methods
}

/** One of the resource's own reads, where it has one of this name. */
export function customReadNamed(resource: Resource | undefined, name: string | undefined): CustomRead | undefined {
  return resource?.reads.find((read) => read.name === name)
}

/** Methods that have a route at the path, whatever the resource. */
export function routedMethods({ operations }: EntityPath): string[] {
  return operations.flatMap(methodsOf)
}

/**
 * Methods that this resource takes at the path; none where the path is not one of its own. One of its own reads stands
 * where the id of a row would, which no id is written like.
 */
export function allowedMethods(path: EntityPath, resource: Resource, below: BelowResource): readonly string[] {
  if (path.url === READS.get.url && customReadNamed(resource, below.id) !== undefined) return READS.get.methods
  const served = (operation: Operation): boolean =>
    operation === 'act'
      ? resource.actions.some(({ name }) => name === below.action)
      : resource.operations.includes(operation)
  return path.operations.filter(served).flatMap(methodsOf)
}

/** What stands in a path below its resource. */
export interface BelowResource {
  readonly id?: string
  readonly action?: string
}

/** The owner parameter of a message, or nothing. */
export interface OwnerMember {
  readonly ownerParameter?: string
}

/** The query parameter that the resource's owner filter takes on an operation; undefined where it takes none. */
export function ownerParameterOf(resource: Resource | undefined, operation: Operation): string | undefined {
  return resource?.ownerFiltered.includes(operation) === true ? resource.ownerParameter : undefined
}

/** As ownerParameterOf, of one of the resource's own reads. */
export function ownerParameterOfRead({ ownerParameter }: Resource, read: CustomRead): string | undefined {
  return read.ownerFiltered ? ownerParameter : undefined
}

export function ownerMember({ owner }: Pick<RouteQuery, 'owner'>): OwnerMember {
  return owner === undefined ? {} : { ownerParameter: owner }
}
