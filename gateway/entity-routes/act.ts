import type { FastifyInstance } from 'fastify'
import { admission } from './admit.js'
import { bodyOf, jsonOnly, wellFormedOrNone } from './check-json-request.js'
import { writeCall } from './data-call.js'
import { ACTION_PATH } from './entity-path.js'
import type { EntityTools, RowParams } from './entity-tools.js'
import { preconditionOf } from './precondition.js'
import { sendWritten } from './send-written.js'
import { writeOptions } from './write-options.js'

/** `PUT /{resource}/{id}/{action}`: one of the resource's own actions. */
export function actRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  const { onRequest, preValidation } = admission(catalogue, ACTION_PATH)
  app.put<{ Params: RowParams & { readonly action: string } }>(
    ACTION_PATH.url,
    { onRequest, preParsing: jsonOnly, preValidation: [wellFormedOrNone, ...preValidation] },
    async (request, reply) => {
      const { resource, id, action } = request.params
      const options = writeOptions({ catalogue, operation: 'act' }, request, reply)
      const answer = await data.act(writeCall(request), {
        resource,
        id,
        action,
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
