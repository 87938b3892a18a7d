import type { FastifyInstance } from 'fastify'
import type { ListAnswer } from '../data-calls.js'
import { pageLinks } from '../headers/page-links.js'
import { knownQuery } from '../headers/known-query.js'
import { queryOf } from '../headers/query-parameters.js'
import { ROUTE_PARAMETERS } from '../headers/route-parameters.js'
import { admission } from './admit.js'
import { dataCall } from './data-call.js'
import { COLLECTION_PATH } from './entity-path.js'
import type { EntityTools, ResourceParams } from './entity-tools.js'
import { readQuery, shapeOf } from './read-query.js'
import { JSON_TYPE, recordArray } from './record-array.js'

/** `GET /{resource}`: the first rows by id. */
export function listRoute(app: FastifyInstance, { data, catalogue, address }: EntityTools): void {
  app.get<{ Params: ResourceParams }>(
    COLLECTION_PATH.url,
    admission(catalogue, COLLECTION_PATH),
    async (request, reply) => {
      const { resource } = request.params
      const query = readQuery('list', request, reply)
      const answer = await data.list(dataCall(request, reply), {
        resource,
        shape: shapeOf(query),
        unplaced: query.unplaced
      })
      reply.header('x-row-limit', String(answer.rowLimit))
      if (answer.truncated) {
        reply.header('x-truncated', 'true')
        const link = rest(answer, `${address.baseFor(request)}/${resource}/paged`, queryOf(request.url))
        if (link !== undefined) reply.header('link', link)
      }
      return reply.type(JSON_TYPE).send(recordArray(answer.records))
    }
  )
}

/**
 * The page that starts with the first row left out. What the list ignores is left out of it: the paged route would
 * filter and sort by some of that.
 */
function rest(answer: ListAnswer, url: string, query: string): string | undefined {
  const { rowLimit, continuationPageSize: size } = answer
  const known = knownQuery(query, ROUTE_PARAMETERS.list.names)
  return pageLinks(url, known, [{ rel: 'next', pageNumber: String(1 + rowLimit / size), pageSize: String(size) }])
}
