import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/errors.js'
import type { Catalogue } from '../data/catalogue.js'
import type { CallContext } from '../data/calls.js'
import type { DataClient, Unplaced } from '../data/data-client.js'
import { clientAddress } from '../http/client-address.js'
import { authorizationOf } from '../http/header-fields.js'
import { checkApiVersion, ignoredParameters, prefersStrict, SUPPORTED_VERSIONS } from '../http/negotiation.js'
import { type PublicAddress } from '../http/public-address.js'
import type { RouteQuery } from '../http/query-string.js'
import { methodNotAllowed, rejectOtherMethods } from '../server/methods.js'
import { allowedMethods, type BelowResource, type EntityPath, routedMethods } from './paths.js'

/** What every operation works with. */
export interface EntityTools {
  readonly data: DataClient
  readonly catalogue: Catalogue
  readonly address: PublicAddress
  readonly now: () => Date
}

/** Path parameters as they are after one percent-decoding. */
export interface ResourceParams {
  readonly resource: string
}

export interface RowParams extends ResourceParams {
  readonly id: string
}

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

/**
 * What stands before every operation of a resource, as options of its route: 404 and 405 at once, the version once the
 * body is read. What is between them in the order of rejections is plugins/request-limits.ts and checkJsonRequest.
 */
export function admission(
  catalogue: Catalogue,
  path: EntityPath
): { readonly onRequest: Hook; readonly preValidation: Hook[] } {
  return {
    onRequest: (request, reply, done) => {
      const allowed = allowedAt(catalogue, path, { request, reply })
      if (!allowed.includes(request.method)) throw methodNotAllowed(request, reply, allowed)
      done()
    },
    preValidation: [checkVersion]
  }
}

/** Answers every method that no operation of the path has: 404 where the resource has no such path, else 405. */
export function rejectOthersAt(app: FastifyInstance, catalogue: Catalogue, path: EntityPath): void {
  rejectOtherMethods(app, {
    url: path.url,
    routed: routedMethods(path),
    allowed: (request, reply) => allowedAt(catalogue, path, { request, reply })
  })
}

/** Sets the headers of every entity response; throws `route.not-found` unless the resource has the path. */
function allowedAt(
  catalogue: Catalogue,
  path: EntityPath,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply }
): readonly string[] {
  // Every entity path has the first, and those below a row have the others.
  const { resource: name, ...below } = request.params as ResourceParams & BelowResource
  const resource = catalogue.find(name)
  const allowed = resource === undefined ? [] : allowedMethods(path, resource, below)
  // `/products/` matches the path of a row with an empty id, which is no path of ours.
  if (below.id === '' || allowed.length === 0)
    throw new DomainError('route.not-found', 'There is nothing at this path; /docs shows what there is.')
  reply.header('api-supported-versions', SUPPORTED_VERSIONS)
  reply.header('cache-control', 'no-store')
  return allowed
}

const checkVersion: Hook = (request, _reply, done) => {
  checkApiVersion(request.headers['api-version'])
  done()
}

/** What a call takes over from its request. It is cancelled when the client goes away before it has its answer. */
export function dataCall(request: FastifyRequest, reply: FastifyReply): CallContext {
  return callOf(request, untilAbandoned(reply))
}

/** Aborted when the client goes away before it has its answer. */
export function untilAbandoned(reply: FastifyReply): AbortSignal {
  const abandoned = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) abandoned.abort(new DomainError('upstream.unavailable', 'The client went away.'))
  })
  return abandoned.signal
}

/**
 * The call of a write. Not cancelled when the client goes away: what was sent was meant, and a retry with the same key
 * then finds it done, or under way, rather than in doubt.
 */
export function writeCall(request: FastifyRequest): CallContext {
  return callOf(request, new AbortController().signal)
}

function callOf(request: FastifyRequest, signal: AbortSignal): CallContext {
  return {
    authorization: authorizationOf(request.raw.rawHeaders),
    requestId: request.id,
    traceparent: request.traceparent,
    clientAddress: clientAddress(request),
    signal
  }
}

/** What becomes of the parameters that a route does not know. */
export interface UnknownParameters {
  /** Under `Prefer: handling=strict`, which is confirmed then. */
  readonly strict: boolean
  /** Named in `X-Ignored-Parameters`; none where handling is strict. */
  readonly ignored: readonly string[]
  /** Handed on, to be refused together with every other violation. */
  readonly unplaced: Unplaced
}

export function unknownParameters(
  { ignored, rejected }: Pick<RouteQuery, 'ignored' | 'rejected'>,
  request: FastifyRequest,
  reply: FastifyReply
): UnknownParameters {
  const strict = prefersStrict(request.headers['prefer']?.toString())
  if (strict) {
    reply.header('preference-applied', 'handling=strict')
    return { strict, ignored: [], unplaced: { parameters: [...ignored, ...rejected] } }
  }
  sayIgnored(reply, ignored)
  return { strict, ignored, unplaced: { parameters: [...rejected] } }
}

/** Sets `X-Ignored-Parameters` where there is something to name. */
export function sayIgnored(reply: FastifyReply, names: readonly string[]): void {
  const header = ignoredParameters(names)
  if (header !== undefined) reply.header('x-ignored-parameters', header)
}
