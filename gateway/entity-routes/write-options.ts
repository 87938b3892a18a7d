import type { FastifyReply, FastifyRequest } from 'fastify'
import { headerLines } from '../headers/header-lines.js'
import { idempotencyKey } from '../headers/idempotency-key.js'
import { queryOf } from '../headers/query-parameters.js'
import { routeQuery } from '../headers/route-query.js'
import { unknownParameters, type UnknownParameters } from './unknown-parameters.js'

/** What the messages of writes have in common. */
export interface WriteOptions extends UnknownParameters {
  /** `idempotencyKey`, or nothing. */
  readonly key: { readonly idempotencyKey?: string }
}

/** Reads the `Idempotency-Key` of a write, then its query, of which writes know nothing. */
export function writeOptions(request: FastifyRequest, reply: FastifyReply): WriteOptions {
  const key = idempotencyKey(headerLines(request.raw.rawHeaders, 'idempotency-key'))
  return { ...queryOfWrite(request, reply), key: key === undefined ? {} : { idempotencyKey: key } }
}

export function queryOfWrite(request: FastifyRequest, reply: FastifyReply): UnknownParameters {
  return unknownParameters(routeQuery(queryOf(request.url), { names: [], filters: false, refused: [] }), request, reply)
}
