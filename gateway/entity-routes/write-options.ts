import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DataCall } from '../data-calls.js'
import { authorizationOf } from '../headers/authorization.js'
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

/**
 * What the call of a write takes over from its request. Not cancelled when the client goes away: what was sent was
 * meant, and a retry with the same key then finds it done, or under way, rather than in doubt.
 */
export function writeCall(request: FastifyRequest): DataCall {
  return {
    authorization: authorizationOf(request.raw.rawHeaders),
    requestId: request.id,
    traceparent: request.traceparent,
    signal: new AbortController().signal
  }
}
