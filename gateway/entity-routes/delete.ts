import type { FastifyInstance } from 'fastify'
import { admission } from './admit.js'
import { writeCall } from './data-call.js'
import { ROW_PATH } from './entity-path.js'
import type { EntityTools, RowParams } from './entity-tools.js'
import { preconditionOf } from './precondition.js'
import { queryOfWrite } from './write-options.js'

/** `DELETE /{resource}/{id}`. A body means nothing here (RFC 9110 section 9.3.5), and neither does a key. */
export function deleteRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  app.delete<{ Params: RowParams }>(ROW_PATH.url, admission(catalogue, ROW_PATH), async (request, reply) => {
    const { resource, id } = request.params
    const { owner, unplaced } = queryOfWrite({ catalogue, operation: 'delete' }, request, reply)
    await data.delete(writeCall(request), { resource, id, precondition: preconditionOf(request), ...owner, unplaced })
    return reply.code(204).send()
  })
}
