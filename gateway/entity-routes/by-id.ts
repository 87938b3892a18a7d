import type { FastifyInstance } from 'fastify'
import { admission } from './admit.js'
import { dataCall } from './data-call.js'
import { ROW_PATH } from './entity-path.js'
import type { EntityTools, RowParams } from './entity-tools.js'
import { readQuery, shapeOf } from './read-query.js'
import { sendRecord } from './send-record.js'

/** `GET /{resource}/{id}`: one row. */
export function byIdRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  app.get<{ Params: RowParams }>(ROW_PATH.url, admission(catalogue, ROW_PATH), async (request, reply) => {
    const { resource, id } = request.params
    const query = readQuery('get', request, reply)
    const { record } = await data.get(dataCall(request, reply), {
      resource,
      id,
      shape: shapeOf(query),
      unplaced: query.unplaced
    })
    return sendRecord(reply, record)
  })
}
