import type { FastifyInstance } from 'fastify'
import { headerRoom, pageLinks } from '../http/links.js'
import { queryOf, routeQuery } from '../http/query-string.js'
import { entityPathOf, ownerMember, ownerParameterOf } from './paths.js'
import { sendJson } from './reads.js'
import { type EntityRouteDeps, handleUnknownParameters, readContext, routeGuards, type RowParams } from './requests.js'

export const HISTORY_PARAMETERS = ['pageSize', 'after'] as const

/** `GET /{resource}/{id}/history`: what writes have changed of a row, the newest first. */
export function historyRoute(app: FastifyInstance, { data, catalogue, address }: EntityRouteDeps): void {
  const path = entityPathOf('history')
  app.get<{ Params: RowParams }>(path.url, routeGuards(catalogue, path), async (request, reply) => {
    const { resource, id } = request.params
    const owner = ownerParameterOf(catalogue.find(resource), 'get')
    const sent = queryOf(request.url)
    const query = routeQuery(sent, { names: HISTORY_PARAMETERS, filters: false, rejected: [] }, owner)
    const { unplaced } = handleUnknownParameters(query, request, reply)
    const { pageSize, after } = query.values
    const { json, nextCursor } = await data.history(readContext(request, reply), {
      resource,
      id,
      ...(pageSize === undefined ? {} : { pageSize }),
      ...(after === undefined ? {} : { after }),
      ...ownerMember(query),
      unplaced
    })
    request.unsent?.take(json.length)
    if (nextCursor !== undefined) {
      reply.header('x-next-cursor', nextCursor)
      const url = `${address.baseFor(request)}/${resource}/${encodeURIComponent(id)}/history`
      const links = pageLinks(
        { url, query: sent },
        [{ rel: 'next', after: nextCursor }],
        headerRoom(reply.getHeaders())
      )
      if (links !== undefined) reply.header('link', links)
    }
    return sendJson(reply, json)
  })
}
