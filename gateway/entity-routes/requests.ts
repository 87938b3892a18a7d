import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Cancellation, NEVER } from '../../shared/transport/cancellation.js'
import { DomainError } from '../../shared/errors.js'
import { type HttpContext, CallReport } from '../data/calls.js'
import type { LiveCatalogue } from '../data/catalogue.js'
import type { DataClient, Unplaced } from '../data/data-client.js'
import { clientAddress } from '../http/client-address.js'
import { authorizationOf } from '../http/header-fields.js'
import {
  checkApiVersion,
  confirmDryRun,
  ignoredParameters,
  preferredHandling,
  prefersRollback,
  SUPPORTED_VERSIONS
} from '../http/negotiation.js'
import type { PublicAddress } from '../http/public-address.js'
import type { RouteQuery } from '../http/query-string.js'
import { methodNotAllowed } from '../server/methods.js'
import { abortOnClose, abortOnDisconnect } from '../server/requests.js'
import type { LargeWrites } from './large-writes.js'
import { allowedMethods, type BelowResource, type EntityPath } from './paths.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether requests that say nothing of it are handled as with `Prefer: handling=strict`. */
    strictHandling: boolean
  }
}

/** What every entity route is built from. */
export interface EntityRouteDeps {
  readonly data: DataClient
  readonly catalogue: LiveCatalogue
  readonly address: PublicAddress
  readonly largeWrites: LargeWrites
  readonly now: () => Date
}

/** Path parameters, percent-decoded. */
export interface ResourceParams {
  readonly resource: string
}

export interface RowParams extends ResourceParams {
  readonly id: string
}

/** A row that a unique property names. */
export interface RowByParams extends ResourceParams {
  readonly property: string
  readonly value: string
}

/** What the metrics call the routes of the application's operations. */
export const OPERATION_LABEL = 'operation'

type RouteHook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

/**
 * The checks before every operation of a resource, as options of its route: 404 and 405 first, the API version after the
 * body is read. The checks of requestLimits and of the body come between them (contract.md section 2, order of rejections).
 */
export function routeGuards(
  catalogue: LiveCatalogue,
  path: EntityPath
): { readonly onRequest: RouteHook; readonly preValidation: RouteHook[] } {
  return {
    onRequest: (request, reply, done) => {
      const allowed = allowedAt({ catalogue, path }, request, reply)
      if (!allowed.includes(request.method)) throw methodNotAllowed(request, reply, allowed)
      done()
    },
    preValidation: [
      (request, _reply, done) => {
        checkApiVersion(request.headers['api-version'])
        done()
      }
    ]
  }
}

/**
 * The methods that the resource of the request has at the path. Sets the headers that all responses of entities have.
 * Throws `route.not-found` if the resource has no such path.
 */
export function allowedAt(
  { catalogue, path }: { readonly catalogue: LiveCatalogue; readonly path: EntityPath },
  request: FastifyRequest,
  reply: FastifyReply
): readonly string[] {
  // Every entity path has the parameter `resource`. Those below a row have the others.
  const { resource: name, ...below } = request.params as ResourceParams & BelowResource
  const resource = catalogue.find(name)
  const allowed = resource === undefined ? [] : allowedMethods(path, resource, below)
  // The router takes `/products/` for the path of a row with an empty id.
  if (below.id === '' || below.value === '' || allowed.length === 0) {
    throw noSuchPath()
  }
  // The catalogue has it, so there is a bounded number of names.
  request.resourceName = name
  setEntityHeaders(reply)
  return allowed
}

export function noSuchPath(): DomainError {
  return new DomainError('route.not-found', 'There is nothing at this path; /docs shows what there is.')
}

/** Sets the headers that all responses of entities and operations have. */
export function setEntityHeaders(reply: FastifyReply): void {
  reply.header('api-supported-versions', SUPPORTED_VERSIONS)
  reply.header('cache-control', 'no-store')
}

/** Sets them on an answer that comes before the route of its request, if that is of a resource or an operation. */
export function setHeadersOfRefusal(
  { params, routeOptions: { url = '', config } }: FastifyRequest,
  reply: FastifyReply,
  { catalogue, address }: { readonly catalogue: LiveCatalogue; readonly address: PublicAddress }
): void {
  const isOfResource =
    url.startsWith(`${address.prefix}/:resource`) && catalogue.find((params as ResourceParams).resource) !== undefined
  if (isOfResource || config.routeLabel === OPERATION_LABEL) setEntityHeaders(reply)
}

/** The context of a read. The call is cancelled if the client disconnects. */
export function readContext(request: FastifyRequest, reply: FastifyReply): HttpContext {
  return callContext(request, abortOnDisconnect(reply))
}

/** The same for an export, which looks at the signal once it has ended, too. */
export function exportContext(
  request: FastifyRequest,
  reply: FastifyReply
): HttpContext & { readonly signal: AbortSignal } {
  const signal = abortOnClose(reply.raw).signal
  return { ...callContext(request, signal), signal }
}

/**
 * The context of a write. The call is not cancelled if the client disconnects: the client meant what it sent, and a retry
 * with the same key then finds the write done or still running, and not in an unknown state.
 */
export function writeContext(request: FastifyRequest): HttpContext {
  return callContext(request, NEVER)
}

function callContext(request: FastifyRequest, signal: Cancellation): HttpContext {
  request.report ??= new CallReport()
  return {
    authorization: authorizationOf(request.raw.rawHeaders),
    requestId: request.id,
    traceparent: request.traceparent,
    clientAddress: clientAddress(request),
    signal,
    report: request.report
  }
}

/** How the parameters that a route does not know are handled. */
export interface UnknownParameterHandling {
  /** Whether the client sent `Prefer: handling=strict`, or nothing and the setting STRICT_HANDLING says so. */
  readonly strict: boolean
  /** Names that `X-Ignored-Parameters` reports; none if handling is strict. */
  readonly ignored: readonly string[]
  /** Names for the data service, which rejects the request because of them and reports all violations together. */
  readonly unplaced: Unplaced
}

/** Sets `X-Ignored-Parameters`, or `Preference-Applied` if the client asked for strict handling. */
export function handleUnknownParameters(
  { ignored, rejected }: Pick<RouteQuery, 'ignored' | 'rejected'>,
  request: FastifyRequest,
  reply: FastifyReply
): UnknownParameterHandling {
  const handling = preferredHandling(request.headers['prefer']?.toString())
  const strict = handling === undefined ? request.server.strictHandling : handling === 'strict'
  if (handling === 'strict') reply.header('preference-applied', 'handling=strict')
  if (strict) {
    return { strict, ignored: [], unplaced: { parameters: [...ignored, ...rejected] } }
  }
  setIgnoredParameters(reply, ignored)
  return { strict, ignored, unplaced: { parameters: [...rejected] } }
}

/** Whether the client asks for a dry run, `Prefer: tx=rollback`. If so, `Preference-Applied` says it, for rejections too. */
export function asksForDryRun(request: FastifyRequest, reply: FastifyReply): boolean {
  const dryRun = prefersRollback(request.headers['prefer']?.toString())
  if (dryRun) confirmDryRun(reply, dryRun)
  return dryRun
}

/** Sets `X-Ignored-Parameters` unless there is no name. */
export function setIgnoredParameters(reply: FastifyReply, names: readonly string[]): void {
  const header = ignoredParameters(names)
  if (header !== undefined) reply.header('x-ignored-parameters', header)
}
