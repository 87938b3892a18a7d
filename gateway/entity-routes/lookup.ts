import type { FastifyInstance } from 'fastify'
import { admission } from './admit.js'
import { dataCall } from './data-call.js'
import { LOOKUP_PATH } from './entity-path.js'
import type { EntityTools, ResourceParams } from './entity-tools.js'
import { readQuery } from './read-query.js'
import { JSON_TYPE } from './record-array.js'

/** `GET /{resource}/lookup`: id and name pairs. */
export function lookupRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  app.get<{ Params: ResourceParams }>(LOOKUP_PATH.url, admission(catalogue, LOOKUP_PATH), async (request, reply) => {
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
