import type { FastifyReply, FastifyRequest } from 'fastify'
import { headerLines } from '../headers/header-lines.js'
import { idempotencyKey } from '../headers/idempotency-key.js'
import { queryOf } from '../headers/query-parameters.js'
import { NO_PARAMETERS } from '../headers/route-parameters.js'
import { routeQuery } from '../headers/route-query.js'
import type { Catalogue } from '../catalogue.js'
import type { Operation } from './entity-path.js'
import type { ResourceParams } from './entity-tools.js'
import { ownerMember, ownerParameterOf, type OwnerMember } from './owner-parameter.js'
import { unknownParameters, type UnknownParameters } from './unknown-parameters.js'

/** What the query of a write says. */
export interface WriteQuery extends UnknownParameters {
  readonly owner: OwnerMember
}

/** What the messages of writes have in common. */
export interface WriteOptions extends WriteQuery {
  /** `idempotencyKey`, or nothing. */
  readonly key: { readonly idempotencyKey?: string }
}

/** Which write of which resource of the moment. */
export interface WriteOf {
  readonly catalogue: Catalogue
  readonly operation: Operation
}

type WriteRequest = FastifyRequest<{ Params: ResourceParams }>

/** Reads the `Idempotency-Key` of a write, then its query. */
export function writeOptions(of: WriteOf, request: WriteRequest, reply: FastifyReply): WriteOptions {
  const key = idempotencyKey(headerLines(request.raw.rawHeaders, 'idempotency-key'))
  return { ...queryOfWrite(of, request, reply), key: key === undefined ? {} : { idempotencyKey: key } }
}

/** Writes take no parameter but that of an owner filter. */
export function queryOfWrite(
  { catalogue, operation }: WriteOf,
  request: WriteRequest,
  reply: FastifyReply
): WriteQuery {
  const owner = ownerParameterOf(catalogue.find(request.params.resource), operation)
  const query = routeQuery(queryOf(request.url), NO_PARAMETERS, owner)
  return { ...unknownParameters(query, request, reply), owner: ownerMember(query) }
}
