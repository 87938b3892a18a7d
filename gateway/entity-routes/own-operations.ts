import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { OperationAtPath } from '../data/operation-paths.js'
import { headerLines } from '../http/header-fields.js'
import { bodyOf, keepBodiesAsBuffers, requireJsonBodyIfAny, requireJsonMediaType } from '../http/json-body.js'
import { checkApiVersion } from '../http/negotiation.js'
import { entityTag, idempotencyKey } from '../http/preconditions.js'
import type { PublicAddress } from '../http/public-address.js'
import { confirmDryRun } from '../http/negotiation.js'
import { pathOfTarget, percentDecode, queryOf, routeQuery } from '../http/query-string.js'
import { answerOtherMethods, methodNotAllowed } from '../server/methods.js'
import { present, JSON_TYPE } from './reads.js'
import {
  asksForDryRun,
  type EntityRouteDeps,
  handleUnknownParameters,
  noSuchPath,
  OPERATION_LABEL,
  readContext,
  setEntityHeaders,
  setIgnoredParameters,
  writeContext
} from './requests.js'
import { preconditionOf } from './writes.js'

// The operations that the application has beside the uniform ones. Their paths are known from the catalogue, which may
// change while the gateway runs, and Fastify takes no routes then: one route with a wildcard serves all of them. A
// constraint leads the requests of operations to it; without operations it costs each request one comparison.

const OPERATION_CONSTRAINT = 'operation'

/** The methods that operations may have, in the order of `Allow`. */
const OPERATION_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'] as const

type PathDeps = Pick<EntityRouteDeps, 'catalogue'> & { readonly address: PublicAddress }

/** Must be registered before any route, because it adds a route constraint. */
export const operationConstraint = fp<PathDeps>(
  async (app, { catalogue, address }) => {
    app.addConstraintStrategy({
      name: OPERATION_CONSTRAINT,
      mustMatchWhenDerived: true,
      deriveConstraint: ({ url = '/' }) => {
        const { operationPaths } = catalogue
        if (operationPaths.isEmpty) return undefined
        const segment = firstSegment(url, address.prefix)
        return segment !== undefined && operationPaths.has(segment) ? OPERATION_CONSTRAINT : undefined
      },
      validate: () => undefined,
      storage: () => {
        const handlers = new Map<unknown, never>()
        return {
          get: (key) => handlers.get(key) ?? null,
          set: (key, handler) => {
            handlers.set(key, handler as never)
          }
        }
      }
    })
  },
  { name: 'operation-constraint', dependencies: ['problem-responses'], fastify: '5.x' }
)

/** The first segment of a path below the prefix, decoded. undefined for a path that is not below it. */
function firstSegment(target: string, prefix: string): string | undefined {
  const path = pathOfTarget(target)
  const start = prefix.length
  if (!path.startsWith(prefix) || path[start] !== '/') return undefined
  const end = path.indexOf('/', start + 1)
  return percentDecode(path.slice(start + 1, end === -1 ? path.length : end))
}

/** The routes of all operations of the application. They forward bodies as the bytes that they received. */
export const operationRoutes = fp<EntityRouteDeps>(
  async (app, deps) => {
    keepBodiesAsBuffers(app)
    const { catalogue, address } = deps
    const at = (request: FastifyRequest): readonly OperationAtPath[] =>
      catalogue.operationPaths.at(pathOfTarget(request.url).slice(address.prefix.length))
    const url = '/*'
    const constraints = { [OPERATION_CONSTRAINT]: OPERATION_CONSTRAINT }
    const onRequest = (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
      const allowed = allowedOperationMethods(at(request), reply)
      if (!allowed.includes(request.method)) throw methodNotAllowed(request, reply, allowed)
      done()
    }
    const checkVersion = (request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
      checkApiVersion(request.headers['api-version'])
      done()
    }
    const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const method = request.method === 'HEAD' ? 'GET' : request.method
      const found = at(request).find(({ operation }) => operation.method === method)
      if (found === undefined) throw noSuchPath()
      return await forwardOperation(deps, found, { request, reply })
    }
    const common = { url, constraints, config: { routeLabel: OPERATION_LABEL }, onRequest, handler }
    app.route({ ...common, method: 'GET', preValidation: checkVersion })
    app.route({ ...common, method: 'DELETE', preValidation: checkVersion })
    app.route({
      ...common,
      method: ['POST', 'PUT'],
      preParsing: requireJsonMediaType,
      preValidation: [requireJsonBodyIfAny, checkVersion]
    })
    answerOtherMethods(app, {
      url,
      constraints,
      routed: OPERATION_METHODS,
      allowed: (request, reply) => allowedOperationMethods(at(request), reply)
    })
  },
  {
    name: 'operation-routes',
    encapsulate: true,
    dependencies: ['operation-constraint', 'request-identity', 'problem-responses', 'request-limits'],
    fastify: '5.x'
  }
)

/** The methods of the operations at a path. Sets the headers that all their responses have. Throws `route.not-found`. */
function allowedOperationMethods(found: readonly OperationAtPath[], reply: FastifyReply): readonly string[] {
  if (found.length === 0) throw noSuchPath()
  setEntityHeaders(reply)
  const methods = found.flatMap(({ operation: { method } }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  return OPERATION_METHODS.filter((method) => methods.includes(method))
}

async function forwardOperation(
  { data, largeWrites }: Pick<EntityRouteDeps, 'data' | 'largeWrites'>,
  { operation, path }: OperationAtPath,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply }
): Promise<FastifyReply> {
  request.resourceName = operation.name
  const isRead = operation.method === 'GET'
  const key = isRead ? undefined : idempotencyKey(headerLines(request.raw.rawHeaders, 'idempotency-key'))
  const names = operation.queryParameters.map(({ name }) => name)
  const query = routeQuery(queryOf(request.url), { names, filters: false, rejected: [] })
  const { strict, unplaced, ignored } = handleUnknownParameters(query, request, reply)
  const dryRun = !isRead && asksForDryRun(request, reply)
  const message = {
    operation: operation.name,
    path,
    query: present(query.values),
    body: bodyOf(request),
    ...(key === undefined ? {} : { idempotencyKey: key }),
    strict,
    unplaced,
    dryRun,
    ...(operation.versioned && !isRead ? { precondition: preconditionOf(request) } : {})
  }
  const call = isRead ? readContext(request, reply) : writeContext(request)
  const { json, status, rowVersion, ignoredMembers, replayed, rolledBack } = await largeWrites.inTurn(
    call,
    message.body,
    () => data.callOperation(call, isRead ? 'read' : 'write', message)
  )
  setIgnoredParameters(reply, [...ignored, ...ignoredMembers.map((name) => `body.${name}`)])
  confirmDryRun(reply, rolledBack)
  if (replayed) reply.header('idempotent-replayed', 'true')
  const tag = entityTag(rowVersion)
  if (tag !== undefined) reply.header('etag', tag)
  reply.code(status)
  return json.length === 0 ? reply.send() : reply.type(JSON_TYPE).send(json)
}
