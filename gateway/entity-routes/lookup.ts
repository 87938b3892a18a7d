import type { FastifyInstance } from 'fastify'
import { refuseOtherMethods } from '../refuse-other-methods.js'
import { admit, knownResource } from './admit.js'
import { dataCall } from './data-call.js'
import type { EntityTools, ResourceParams } from './entity-tools.js'
import { readQuery } from './read-query.js'
import { JSON_TYPE } from './record-array.js'

/** `GET /{resource}/lookup`: id and name pairs. */
export function lookupRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  const url = '/:resource/lookup'
  refuseOtherMethods(app, { url, allow: ['GET', 'HEAD'], before: knownResource(catalogue, 'lookup') })
  app.get<{ Params: ResourceParams }>(url, { onRequest: admit(catalogue, 'lookup') }, async (request, reply) => {
    const query = readQuery('lookup', request, reply)
    const { search } = query.values
    const answer = await data.lookup(dataCall(request, reply), {
      resource: request.params.resource,
      ...(search === undefined ? {} : { search }),
      unplaced: query.unplaced
    })
    if (answer.truncated) reply.header('x-truncated', 'true')
    return reply.type(JSON_TYPE).send(answer.json)
  })
}
