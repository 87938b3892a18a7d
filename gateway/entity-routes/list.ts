import type { FastifyInstance } from 'fastify'
import type { ListAnswer, Resource } from '../data-calls.js'
import { headerRoom } from '../headers/header-room.js'
import { pageLinks, type PageLink } from '../headers/page-links.js'
import { knownQuery } from '../headers/known-query.js'
import { queryOf } from '../headers/query-parameters.js'
import { ROUTE_PARAMETERS } from '../headers/route-parameters.js'
import { admission } from './admit.js'
import { dataCall } from './data-call.js'
import { COLLECTION_PATH } from './entity-path.js'
import type { EntityTools, ResourceParams } from './entity-tools.js'
import { ownerParameterOf } from './owner-parameter.js'
import { readQuery, shapeOf } from './read-query.js'
import { JSON_TYPE, recordArray } from './record-array.js'

/** `GET /{resource}`: the first rows by id. */
export function listRoute(app: FastifyInstance, { data, catalogue, address }: EntityTools): void {
  app.get<{ Params: ResourceParams }>(
    COLLECTION_PATH.url,
    admission(catalogue, COLLECTION_PATH),
    async (request, reply) => {
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
    }
  )
}

/**
 * What the list ignores is left out of the link: the paged route would filter and sort by some of that. Where that route
 * ignores the owner parameter, a filter takes its place, since the rest of the list is narrowed as its beginning is.
 */
function understood(query: string, resource: Resource | undefined): string {
  const shape = knownQuery(query, ROUTE_PARAMETERS.list.names)
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
function rest({ rowLimit, continuationPageSize: size }: ListAnswer): PageLink {
  return { rel: 'next', pageNumber: String(1 + rowLimit / size), pageSize: String(size) }
}
