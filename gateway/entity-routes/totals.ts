import type { FastifyInstance } from 'fastify'
import { addVary } from '../http/header-fields.js'
import { acceptsCsv } from '../http/negotiation.js'
import { entityPathOf } from './paths.js'
import { headMissing, readQuery, sendJson, sentSelection } from './reads.js'
import { type EntityRouteDeps, readContext, type ResourceParams, routeGuards } from './requests.js'

/** `GET /{resource}/totals`: what is computed of the rows that match, as JSON or as CSV. */
export function totalsRoute(app: FastifyInstance, { data, catalogue }: EntityRouteDeps): void {
  const path = entityPathOf('totals')
  app.get<{ Params: ResourceParams }>(path.url, routeGuards(catalogue, path), async (request, reply) => {
    const { resource } = request.params
    const query = readQuery({ resource: catalogue.find(resource), operation: 'totals' }, request, reply)
    const { by, measures } = query.values
    const asCsv = acceptsCsv(request.headers.accept)
    const response = await data.totals(readContext(request, reply), {
      resource,
      selection: sentSelection(query),
      ...(by === undefined ? {} : { by }),
      ...(measures === undefined ? {} : { measures }),
      asCsv,
      ...query.owner,
      unplaced: query.unplaced
    })
    const body = asCsv ? response.csv : response.json
    request.unsent?.take(body.length)
    headMissing(reply, response)
    reply.headers({
      'x-row-limit': String(response.rowLimit),
      ...(response.truncated ? { 'x-truncated': 'true' } : {})
    })
    reply.header('vary', addVary(String(reply.getHeader('vary') ?? ''), ['Accept']))
    if (!asCsv) return sendJson(reply, body)
    return reply.type('text/csv; charset=utf-8').send(body)
  })
}
