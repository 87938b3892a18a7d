import type { FastifyInstance } from 'fastify'
import { admission } from './admit.js'
import { customReadNamed } from './custom-read-named.js'
import { answerCustomRead } from './custom-read.js'
import { dataCall } from './data-call.js'
import { ROW_PATH } from './entity-path.js'
import type { EntityTools, RowParams } from './entity-tools.js'
import { readQuery, shapeOf } from './read-query.js'
import { sendRecord } from './send-record.js'

/** `GET /{resource}/{id}`: one row, or one of the resource's own reads. */
export function byIdRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  app.get<{ Params: RowParams }>(ROW_PATH.url, admission(catalogue, ROW_PATH), async (request, reply) => {
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
