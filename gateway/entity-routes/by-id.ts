import type { FastifyInstance } from 'fastify'
import { DomainError } from '../../shared/domain-error.js'
import { entityTag } from '../headers/entity-tag.js'
import { refuseOtherMethods } from '../refuse-other-methods.js'
import { admit, knownResource } from './admit.js'
import { dataCall } from './data-call.js'
import type { EntityTools, ResourceParams } from './entity-tools.js'
import { readQuery, shapeOf } from './read-query.js'
import { JSON_TYPE } from './record-array.js'

/** `GET /{resource}/{id}`: one row. */
export function byIdRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  const url = '/:resource/:id'
  refuseOtherMethods(app, { url, allow: ['GET', 'HEAD'], before: knownResource(catalogue, 'get') })
  app.get<{ Params: ResourceParams & { readonly id: string } }>(
    url,
    { onRequest: admit(catalogue, 'get') },
    async (request, reply) => {
      const { resource, id } = request.params
      const query = readQuery('get', request, reply)
      const { record } = await data.get(dataCall(request, reply), {
        resource,
        id,
        shape: shapeOf(query),
        unplaced: query.unplaced
      })
      if (record === null) {
        throw new DomainError('upstream.bad-gateway', 'The data service gave an answer that could not be understood.')
      }
      const tag = entityTag(record.rowVersion)
      if (tag !== undefined) reply.header('etag', tag)
      return reply.type(JSON_TYPE).send(record.json)
    }
  )
}
