import type { FastifyReply, FastifyRequest } from 'fastify'
import { bodyOf, wellFormedOrNone } from '../entity-routes/check-json-request.js'
import { checkJsonMediaType } from '../headers/json-media-type.js'

/** A `preParsing` hook for endpoints that take nothing: where there is no body, its type does not matter. */
export function ignoreTypeOfNothing(
  { headers }: FastifyRequest,
  _reply: FastifyReply,
  ...rest: [payload: unknown, done: () => void]
): void {
  const announced = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  // Fastify refuses a type that it cannot read before it looks whether there is anything of that type.
  if (!announced) delete headers['content-type']
  rest[1]()
}

/** The `preValidation` hook beside it: a body that there is has to be JSON, whatever it says. */
export function jsonOrNothing(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (bodyOf(request).length > 0) checkJsonMediaType(request.headers)
  wellFormedOrNone(request, reply, done)
}
