import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type {
  CustomRead,
  EntityRecord,
  ListResponse,
  Resource,
  Selection,
  Shape,
  Unplaced
} from '../data/data-client.js'
import { headerRoom, type PageLink, pageLinks, type Pagination, paginationOf } from '../http/links.js'
import { entityTag } from '../http/preconditions.js'
import { unintelligible } from '../http/problem-details.js'
import { knownQuery, type ParameterName, queryOf, type RouteQuery, routeQuery } from '../http/query-string.js'
import {
  customReadNamed,
  type OwnerMember,
  ownerMember,
  ownerParameterOf,
  ownerParameterOfRead,
  pathOf,
  type ReadOperation,
  READS
} from './paths.js'
import {
  admission,
  dataCall,
  type EntityTools,
  type ResourceParams,
  type RowParams,
  unknownParameters
} from './requests.js'

/** A query with what the transport could not place, ready for the data service. */
export interface ReadQuery {
  readonly values: RouteQuery['values']
  readonly filters: RouteQuery['filters']
  readonly owner: OwnerMember
  readonly unplaced: Unplaced
}

/** Which read of which resource of the moment. */
export interface ReadOf {
  readonly resource: Resource | undefined
  readonly operation: ReadOperation
}

/**
 * Reads the query of an operation. What it does not know is named in `X-Ignored-Parameters`, or under
 * `Prefer: handling=strict` handed on to be refused together with every other violation.
 */
export function readQuery({ resource, operation }: ReadOf, request: FastifyRequest, reply: FastifyReply): ReadQuery {
  const owner = ownerParameterOf(resource, operation)
  const query = routeQuery<ParameterName>(queryOf(request.url), READS[operation], owner)
  const { unplaced } = unknownParameters(query, request, reply)
  return { values: query.values, filters: query.filters, owner: ownerMember(query), unplaced }
}

export function shapeOf({ values }: ReadQuery): Shape {
  return {
    ...(values.fields === undefined ? {} : { fields: values.fields }),
    ...(values.includeFKs === undefined ? {} : { includeFks: values.includeFKs }),
    ...(values.includeChildren === undefined ? {} : { includeChildren: values.includeChildren })
  }
}

export function selectionOf({ values, filters }: ReadQuery): Selection {
  return {
    filters: [...filters],
    ...(values.sortColumn === undefined ? {} : { sortColumn: values.sortColumn }),
    ...(values.sortDirection === undefined ? {} : { sortDirection: values.sortDirection })
  }
}

const OPENING = '['.charCodeAt(0)
const COMMA = ','.charCodeAt(0)
const CLOSING = ']'.charCodeAt(0)

/** The JSON array of records, their bytes copied once and never parsed. */
export function recordArray(records: readonly EntityRecord[]): Buffer {
  const separators = Math.max(2, records.length + 1)
  const body = Buffer.allocUnsafe(records.reduce((sum, { json }) => sum + json.length, separators))
  body[0] = OPENING
  let at = 1
  for (const [index, { json }] of records.entries()) {
    if (index > 0) body[at++] = COMMA
    at += json.copy(body, at)
  }
  body[at] = CLOSING
  return body
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Answers one row, its bytes as they came and its version as `ETag`. */
export function sendRecord(reply: FastifyReply, record: EntityRecord | null): FastifyReply {
  if (record === null) {
    throw unintelligible()
  }
  const tag = entityTag(record.rowVersion)
  if (tag !== undefined) reply.header('etag', tag)
  return reply.type(JSON_TYPE).send(record.json)
}

/** The reads of every resource but the export (exports.ts). */
export function readRoutes(app: FastifyInstance, tools: EntityTools): void {
  for (const route of [listRoute, pagedRoute, lookupRoute, byIdRoute]) route(app, tools)
}

/** `GET /{resource}`: the first rows by id. */
function listRoute(app: FastifyInstance, { data, catalogue, address }: EntityTools): void {
  const path = pathOf('list')
  app.get<{ Params: ResourceParams }>(path.url, admission(catalogue, path), async (request, reply) => {
    const { resource } = request.params
    const known = catalogue.find(resource)
    const query = readQuery({ resource: known, operation: 'list' }, request, reply)
    const answer = await data.list(dataCall(request, reply), {
      resource,
      shape: shapeOf(query),
      ...query.owner,
      unplaced: query.unplaced
    })
    reply.header('x-row-limit', String(answer.rowLimit))
    if (answer.truncated) {
      reply.header('x-truncated', 'true')
      const url = `${address.baseFor(request)}/${resource}/paged`
      const there = { url, query: understood(queryOf(request.url), known) }
      const link = pageLinks(there, [rest(answer)], headerRoom(reply.getHeaders()))
      if (link !== undefined) reply.header('link', link)
    }
    return reply.type(JSON_TYPE).send(recordArray(answer.records))
  })
}

/**
 * What the list ignores is left out of the link: the paged route would filter and sort by some of that. Where that route
 * ignores the owner parameter, a filter takes its place, since the rest of the list is narrowed as its beginning is.
 */
function understood(query: string, resource: Resource | undefined): string {
  const shape = knownQuery(query, READS.list.names)
  const owner = ownerParameterOf(resource, 'list')
  const named = owner === undefined ? '' : knownQuery(query, [owner])
  const taken = ownerParameterOf(resource, 'paged') === owner
  const pieces = [shape, taken ? named : asFilter(named, resource?.ownerProperty ?? '')]
  return pieces.filter((piece) => piece !== '').join('&')
}

function asFilter(named: string, property: string): string {
  const value = named.split('=')[1]
  return value === undefined ? '' : `filters[${property}].operator=equals&filters[${property}].value=${value}`
}

/** The page that starts with the first row left out. */
function rest({ rowLimit, continuationPageSize: size }: ListResponse): PageLink {
  return { rel: 'next', pageNumber: String(1 + rowLimit / size), pageSize: String(size) }
}

/** `GET /{resource}/paged`: a filtered, sorted page with its place among the others. */
function pagedRoute(app: FastifyInstance, { data, catalogue, address }: EntityTools): void {
  const path = pathOf('paged')
  app.get<{ Params: ResourceParams }>(path.url, admission(catalogue, path), async (request, reply) => {
    const { resource } = request.params
    const query = readQuery({ resource: catalogue.find(resource), operation: 'paged' }, request, reply)
    const { pageNumber, pageSize, includeTotal } = query.values
    const answer = await data.page(dataCall(request, reply), {
      resource,
      selection: selectionOf(query),
      shape: shapeOf(query),
      ...(pageNumber === undefined ? {} : { pageNumber }),
      ...(pageSize === undefined ? {} : { pageSize }),
      ...(includeTotal === undefined ? {} : { includeTotal }),
      ...query.owner,
      unplaced: query.unplaced
    })
    const pagination = paginationOf({ ...answer, totalCount: answer.totalCount })
    reply.header('x-pagination', pagination.json)
    if (pagination.totalCount !== undefined) reply.header('x-total-count', pagination.totalCount)
    const url = `${address.baseFor(request)}/${resource}/paged`
    const here = { url, query: queryOf(request.url) }
    const links = pageLinks(here, linksOf(pagination), headerRoom(reply.getHeaders()))
    if (links !== undefined) reply.header('link', links)
    return reply.type(JSON_TYPE).send(recordArray(answer.records))
  })
}

function linksOf({ previous, next, last }: Pagination): PageLink[] {
  return [
    { rel: 'first', pageNumber: '1' },
    ...(previous === undefined ? [] : [{ rel: 'prev', pageNumber: previous } as const]),
    ...(next === undefined ? [] : [{ rel: 'next', pageNumber: next } as const]),
    ...(last === undefined ? [] : [{ rel: 'last', pageNumber: last } as const])
  ]
}

/** `GET /{resource}/lookup`: id and name pairs. */
function lookupRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  const path = pathOf('lookup')
  app.get<{ Params: ResourceParams }>(path.url, admission(catalogue, path), async (request, reply) => {
    const { resource } = request.params
    const query = readQuery({ resource: catalogue.find(resource), operation: 'lookup' }, request, reply)
    const { search } = query.values
    const answer = await data.lookup(dataCall(request, reply), {
      resource,
      ...(search === undefined ? {} : { search }),
      ...query.owner,
      unplaced: query.unplaced
    })
    if (answer.truncated) reply.header('x-truncated', 'true')
    return reply.type(JSON_TYPE).send(answer.json)
  })
}

/** `GET /{resource}/{id}`: one row, or one of the resource's own reads. */
function byIdRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  const path = pathOf('get')
  app.get<{ Params: RowParams }>(path.url, admission(catalogue, path), async (request, reply) => {
    const { id } = request.params
    const resource = catalogue.find(request.params.resource)
    const read = customReadNamed(resource, id)
    if (resource !== undefined && read !== undefined) return answerCustomRead({ data, resource, read }, request, reply)
    const query = readQuery({ resource, operation: 'get' }, request, reply)
    const { record } = await data.get(dataCall(request, reply), {
      resource: request.params.resource,
      id,
      shape: shapeOf(query),
      ...query.owner,
      unplaced: query.unplaced
    })
    return sendRecord(reply, record)
  })
}

/** Answers `GET /{resource}/{name}`: an array of items, which is no row and so has no `ETag`. */
export async function answerCustomRead(
  { data, resource, read }: Pick<EntityTools, 'data'> & { readonly resource: Resource; readonly read: CustomRead },
  request: FastifyRequest,
  reply: FastifyReply
): Promise<FastifyReply> {
  const names = read.parameters.map(({ name }) => name)
  const route = { names, filters: false, rejected: [] }
  const query = routeQuery(queryOf(request.url), route, ownerParameterOfRead(resource, read))
  const { unplaced } = unknownParameters(query, request, reply)
  const answer = await data.read(dataCall(request, reply), {
    resource: resource.name,
    name: read.name,
    parameters: present(query.values),
    ...ownerMember(query),
    unplaced
  })
  reply.header('x-row-limit', String(answer.rowLimit))
  if (answer.truncated) reply.header('x-truncated', 'true')
  return reply.type(JSON_TYPE).send(answer.json)
}

function present(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  )
}
