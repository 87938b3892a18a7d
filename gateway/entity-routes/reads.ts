import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ReadName, ReadParameter } from '../../shared/read-parameters.js'
import { jsonArray } from '../../shared/transport/wire.js'
import type {
  CustomRead,
  EntityRecord,
  ListResponse,
  PageResponse,
  Resource,
  Selection,
  Shape,
  Unplaced
} from '../data/data-client.js'
import { headerRoom, type PageLink, pageLinks, type Pagination, paginationOf } from '../http/links.js'
import { entityTag } from '../http/preconditions.js'
import { unintelligible } from '../http/problem-details.js'
import { pickParameters, queryOf, type RouteQuery, routeQuery, type SentFilters } from '../http/query-string.js'
import {
  customReadNamed,
  type OwnerMember,
  ownerMember,
  ownerParameterOf,
  ownerParameterOfRead,
  entityPathOf,
  parametersOfRead
} from './paths.js'
import {
  routeGuards,
  readContext,
  type EntityRouteDeps,
  type ResourceParams,
  type RowByParams,
  type RowParams,
  handleUnknownParameters
} from './requests.js'

/** The query of a read, ready for the message to the data service. */
interface ReadQuery extends SentFilters {
  readonly values: RouteQuery['values']
  readonly owner: OwnerMember
  readonly unplaced: Unplaced
}

/** Which read of which resource. undefined: the resource is not in the catalogue any more. */
interface AskedRead {
  readonly resource: Resource | undefined
  readonly operation: ReadName
}

/**
 * Reads the query of an operation. Unknown parameters are reported in `X-Ignored-Parameters`; under
 * `Prefer: handling=strict` the data service rejects them, together with all other violations.
 */
export function readQuery({ resource, operation }: AskedRead, request: FastifyRequest, reply: FastifyReply): ReadQuery {
  const owner = ownerParameterOf(resource, operation)
  const query = routeQuery<ReadParameter>(queryOf(request.url), parametersOfRead(operation, resource), owner)
  const { unplaced } = handleUnknownParameters(query, request, reply)
  const { values, filters, groups } = query
  return { values, filters, groups, owner: ownerMember(query), unplaced }
}

function sentShape({ values }: ReadQuery): Shape {
  return {
    ...(values.fields === undefined ? {} : { fields: values.fields }),
    ...(values.includeFKs === undefined ? {} : { includeFks: values.includeFKs }),
    ...(values.includeChildren === undefined ? {} : { includeChildren: values.includeChildren }),
    ...(values.include === undefined ? {} : { include: values.include })
  }
}

export function sentSelection({ values, filters, groups }: ReadQuery): Selection {
  return {
    filters: [...filters],
    ...(groups.length === 0 ? {} : { anyOf: groups.map((group) => ({ filters: [...group] })) }),
    ...(values.search === undefined ? {} : { search: values.search }),
    ...(values.sortColumn === undefined ? {} : { sortColumn: values.sortColumn }),
    ...(values.sortDirection === undefined ? {} : { sortDirection: values.sortDirection })
  }
}

/** The JSON array of an answer. A data service of an earlier version answers records in its place. */
function arrayOf({ json, records }: Pick<ListResponse, 'json' | 'records'>): Buffer {
  return json.length > 0 ? json : jsonArray(records.map((record) => record.json))
}

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends one row, its bytes as the data service wrote them, with its version as `ETag`. */
export function sendRecord(reply: FastifyReply, record: EntityRecord | null): FastifyReply {
  if (record === null) throw unintelligible()
  const tag = entityTag(record.rowVersion)
  if (tag !== undefined) reply.header('etag', tag)
  return sendJson(reply, record.json)
}

/** Bytes up to which a body is sent as a text. */
const MAX_TEXT_BYTES = 8 * 1024

/**
 * Sends JSON as the data service wrote it. Node writes the head of an answer and a short text at once, but takes a longer
 * way for the head and the bytes of a body.
 */
export function sendJson(reply: FastifyReply, json: Buffer): FastifyReply {
  return reply.type(JSON_TYPE).send(json.length > MAX_TEXT_BYTES ? json : json.toString())
}

/** Names the collections of which the answer has the first rows only, and the values that it does not show. */
export function headMissing(
  reply: FastifyReply,
  {
    truncatedIncludes: names = [],
    unshownValues: values
  }: { readonly truncatedIncludes?: readonly string[]; readonly unshownValues: readonly string[] }
): void {
  if (names.length > 0) reply.header('x-truncated-includes', names.join(', '))
  if (values.length > 0) reply.header('x-unshown-values', values.join(', '))
}

/** All reads except the export (exports.ts) and totals (totals.ts). */
export function readRoutes(app: FastifyInstance, deps: EntityRouteDeps): void {
  for (const route of [listRoute, pagedRoute, lookupRoute, byIdRoute, byPropertyRoute]) route(app, deps)
}

/** `GET /{resource}`: the first rows in the order of their ids. */
function listRoute(app: FastifyInstance, { data, catalogue, address }: EntityRouteDeps): void {
  const path = entityPathOf('list')
  app.get<{ Params: ResourceParams }>(path.url, routeGuards(catalogue, path), async (request, reply) => {
    const { resource } = request.params
    const known = catalogue.find(resource)
    const query = readQuery({ resource: known, operation: 'list' }, request, reply)
    const response = await data.list(readContext(request, reply), {
      resource,
      shape: sentShape(query),
      asArray: true,
      ...(query.values.search === undefined ? {} : { search: query.values.search }),
      ...query.owner,
      unplaced: query.unplaced
    })
    const json = arrayOf(response)
    request.unsent?.take(json.length)
    reply.header('x-row-limit', String(response.rowLimit))
    headMissing(reply, response)
    if (response.truncated) {
      reply.header('x-truncated', 'true')
      const url = `${address.baseFor(request)}/${resource}/paged`
      const there = { url, query: continuationQuery(queryOf(request.url), known) }
      const link = pageLinks(there, [continuationLink(response)], headerRoom(reply.getHeaders()))
      if (link !== undefined) reply.header('link', link)
    }
    return sendJson(reply, json)
  })
}

/**
 * The query of the link to the rows that a truncated list leaves out. Parameters that the list ignores are not in it,
 * because the paged route would filter and sort by some of them. If the paged route has no owner parameter but the list
 * has one, an equivalent filter takes its place.
 */
function continuationQuery(query: string, resource: Resource | undefined): string {
  const shapeParameters = pickParameters(query, parametersOfRead('list', resource).names)
  const owner = ownerParameterOf(resource, 'list')
  const ownerParameter = owner === undefined ? '' : pickParameters(query, [owner])
  const isKnown = ownerParameterOf(resource, 'paged') === owner
  const ownerPart = isKnown ? ownerParameter : ownerFilter(ownerParameter, resource?.ownerProperty ?? '')
  const pieces = [shapeParameters, ownerPart]
  return pieces.filter((piece) => piece !== '').join('&')
}

function ownerFilter(parameter: string, property: string): string {
  const value = parameter.split('=')[1]
  return value === undefined ? '' : `filters[${property}].operator=equals&filters[${property}].value=${value}`
}

/** The link to the page that starts with the first row left out. */
function continuationLink({ rowLimit, continuationPageSize: size }: ListResponse): PageLink {
  return { rel: 'next', pageNumber: String(1 + rowLimit / size), pageSize: String(size) }
}

/** `GET /{resource}/paged`: a filtered, sorted page with links to the other pages. */
function pagedRoute(app: FastifyInstance, { data, catalogue, address }: EntityRouteDeps): void {
  const path = entityPathOf('paged')
  app.get<{ Params: ResourceParams }>(path.url, routeGuards(catalogue, path), async (request, reply) => {
    const { resource } = request.params
    const query = readQuery({ resource: catalogue.find(resource), operation: 'paged' }, request, reply)
    const { pageNumber, pageSize, includeTotal, totalLimit, after, before } = query.values
    const response = await data.page(readContext(request, reply), {
      resource,
      selection: sentSelection(query),
      shape: sentShape(query),
      asArray: true,
      ...(pageNumber === undefined ? {} : { pageNumber }),
      ...(pageSize === undefined ? {} : { pageSize }),
      ...(includeTotal === undefined ? {} : { includeTotal }),
      ...(totalLimit === undefined ? {} : { totalLimit }),
      ...(after === undefined ? {} : { after }),
      ...(before === undefined ? {} : { before }),
      ...query.owner,
      unplaced: query.unplaced
    })
    const json = arrayOf(response)
    request.unsent?.take(json.length)
    headMissing(reply, response)
    const pagination = paginationOf({ ...response, totalCount: response.totalCount })
    reply.header('x-pagination', pagination.json)
    if (pagination.totalCount !== undefined) reply.header('x-total-count', pagination.totalCount)
    const { nextCursor, previousCursor } = response
    if (nextCursor !== undefined) reply.header('x-next-cursor', nextCursor)
    if (previousCursor !== undefined) reply.header('x-previous-cursor', previousCursor)
    const url = `${address.baseFor(request)}/${resource}/paged`
    const here = { url, query: queryOf(request.url) }
    const links = pageLinks(here, linksOf(pagination, response), headerRoom(reply.getHeaders()))
    if (links !== undefined) reply.header('link', links)
    return sendJson(reply, json)
  })
}

/** The neighbours of a page with a number are numbers, those of an answer to a cursor are cursors. */
function linksOf({ previous, next, last }: Pagination, { currentPage, ...cursors }: PageResponse): PageLink[] {
  const isNumbered = currentPage !== ''
  const before = isNumbered ? undefined : cursors.previousCursor
  const after = isNumbered ? undefined : cursors.nextCursor
  return [
    { rel: 'first', pageNumber: '1' },
    ...(previous === undefined ? [] : [{ rel: 'prev', pageNumber: previous } as const]),
    ...(before === undefined ? [] : [{ rel: 'prev', before } as const]),
    ...(next === undefined ? [] : [{ rel: 'next', pageNumber: next } as const]),
    ...(after === undefined ? [] : [{ rel: 'next', after } as const]),
    ...(last === undefined ? [] : [{ rel: 'last', pageNumber: last } as const])
  ]
}

/** `GET /{resource}/lookup`: id and name pairs. */
function lookupRoute(app: FastifyInstance, { data, catalogue }: EntityRouteDeps): void {
  const path = entityPathOf('lookup')
  app.get<{ Params: ResourceParams }>(path.url, routeGuards(catalogue, path), async (request, reply) => {
    const { resource } = request.params
    const query = readQuery({ resource: catalogue.find(resource), operation: 'lookup' }, request, reply)
    const { search } = query.values
    const response = await data.lookup(readContext(request, reply), {
      resource,
      ...(search === undefined ? {} : { search }),
      ...query.owner,
      unplaced: query.unplaced
    })
    request.unsent?.take(response.json.length)
    headMissing(reply, response)
    if (response.truncated) reply.header('x-truncated', 'true')
    return sendJson(reply, response.json)
  })
}

/** `GET /{resource}/{id}`: one row, or a custom read of the resource. */
function byIdRoute(app: FastifyInstance, { data, catalogue }: EntityRouteDeps): void {
  const path = entityPathOf('get')
  app.get<{ Params: RowParams }>(path.url, routeGuards(catalogue, path), async (request, reply) => {
    const { id } = request.params
    const resource = catalogue.find(request.params.resource)
    const read = customReadNamed(resource, id)
    if (resource !== undefined && read !== undefined) return sendCustomRead({ data, resource, read }, request, reply)
    const query = readQuery({ resource, operation: 'get' }, request, reply)
    const response = await data.get(readContext(request, reply), {
      resource: request.params.resource,
      id,
      shape: sentShape(query),
      ...query.owner,
      unplaced: query.unplaced
    })
    return sendRow(request, reply, response)
  })
}

/** `GET /{resource}/by/{property}/{value}`: the row that has the value in a unique property, as by its id. */
function byPropertyRoute(app: FastifyInstance, { data, catalogue }: EntityRouteDeps): void {
  const path = entityPathOf('getBy')
  app.get<{ Params: RowByParams }>(path.url, routeGuards(catalogue, path), async (request, reply) => {
    const { resource, property, value } = request.params
    const query = readQuery({ resource: catalogue.find(resource), operation: 'get' }, request, reply)
    const response = await data.getBy(readContext(request, reply), {
      resource,
      property,
      value,
      shape: sentShape(query),
      ...query.owner,
      unplaced: query.unplaced
    })
    return sendRow(request, reply, response)
  })
}

function sendRow(
  request: FastifyRequest,
  reply: FastifyReply,
  response: {
    readonly record: EntityRecord | null
    readonly truncatedIncludes: string[]
    readonly unshownValues: string[]
  }
): FastifyReply {
  request.unsent?.take(response.record?.json.length ?? 0)
  headMissing(reply, response)
  return sendRecord(reply, response.record)
}

/** `GET /{resource}/{name}`: the items of a custom read. They are not a row, so there is no `ETag`. */
async function sendCustomRead(
  { data, resource, read }: Pick<EntityRouteDeps, 'data'> & { readonly resource: Resource; readonly read: CustomRead },
  request: FastifyRequest,
  reply: FastifyReply
): Promise<FastifyReply> {
  const names = read.parameters.map(({ name }) => name)
  const route = { names, filters: false, rejected: [] }
  const query = routeQuery(queryOf(request.url), route, ownerParameterOfRead(resource, read))
  const { unplaced } = handleUnknownParameters(query, request, reply)
  const response = await data.read(readContext(request, reply), {
    resource: resource.name,
    name: read.name,
    parameters: present(query.values),
    ...ownerMember(query),
    unplaced
  })
  request.unsent?.take(response.json.length)
  reply.header('x-row-limit', String(response.rowLimit))
  if (response.truncated) reply.header('x-truncated', 'true')
  return sendJson(reply, response.json)
}

/** The values that were sent. */
export function present(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  )
}
