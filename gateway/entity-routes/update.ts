import type { FastifyInstance } from 'fastify'
import { admission } from './admit.js'
import { bodyOf, jsonOnly, wellFormed } from './check-json-request.js'
import { writeCall } from './data-call.js'
import { ROW_PATH } from './entity-path.js'
import type { EntityTools, RowParams } from './entity-tools.js'
import { preconditionOf } from './precondition.js'
import { sendWritten } from './send-written.js'
import { writeOptions } from './write-options.js'

/** `PUT /{resource}/{id}`: what a client may set of a row, replaced. */
export function updateRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  const { onRequest, preValidation } = admission(catalogue, ROW_PATH)
  app.put<{ Params: RowParams }>(
    ROW_PATH.url,
    { onRequest, preParsing: jsonOnly, preValidation: [wellFormed, ...preValidation] },
    async (request, reply) => {
      const { resource, id } = request.params
      const options = writeOptions({ catalogue, operation: 'update' }, request, reply)
      const answer = await data.update(writeCall(request), {
        resource,
        id,
        body: bodyOf(request),
        precondition: preconditionOf(request),
        ...options.key,
        ...options.owner,
        strict: options.strict,
        unplaced: options.unplaced
      })
      return sendWritten(reply, answer, options)
    }
  )
}
