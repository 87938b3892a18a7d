import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { checkJsonBody } from '../headers/json-body.js'
import { checkJsonMediaType } from '../headers/json-media-type.js'

/** Bodies of any type reach the routes of this scope as the bytes they are. */
export function keepBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

/** A `preParsing` hook: 415 before any of the body is read. */
export function jsonOnly(
  request: FastifyRequest,
  _reply: FastifyReply,
  ...rest: [payload: unknown, done: () => void]
): void {
  checkJsonMediaType(request.headers)
  rest[1]()
}

/** The first `preValidation` hook: the body must be JSON. */
export function wellFormed(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  checkJsonBody(bodyOf(request))
  done()
}

/** As wellFormed, where no body at all stands for `{}`. */
export function wellFormedOrNone(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const body = bodyOf(request)
  if (body.length > 0) checkJsonBody(body)
  done()
}

/** The bytes of the body as sent (keepBodiesAsBytes); none where there was no body. */
export function bodyOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
