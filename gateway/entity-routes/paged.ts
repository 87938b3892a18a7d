import type { FastifyInstance } from 'fastify'
import { headerRoom } from '../headers/header-room.js'
import { pageLinks, type PageLink } from '../headers/page-links.js'
import { paginationOf, type Pagination } from '../headers/pagination.js'
import { queryOf } from '../headers/query-parameters.js'
import { admission } from './admit.js'
import { dataCall } from './data-call.js'
import { PAGED_PATH } from './entity-path.js'
import type { EntityTools, ResourceParams } from './entity-tools.js'
import { readQuery, selectionOf, shapeOf } from './read-query.js'
import { JSON_TYPE, recordArray } from './record-array.js'

/** `GET /{resource}/paged`: a filtered, sorted page with its place among the others. */
export function pagedRoute(app: FastifyInstance, { data, catalogue, address }: EntityTools): void {
  app.get<{ Params: ResourceParams }>(PAGED_PATH.url, admission(catalogue, PAGED_PATH), async (request, reply) => {
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
