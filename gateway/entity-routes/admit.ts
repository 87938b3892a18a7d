import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/domain-error.js'
import type { Catalogue } from '../catalogue.js'
import { checkApiVersion, SUPPORTED_VERSIONS } from '../headers/api-version.js'
import { methodNotAllowed, refuseOtherMethods } from '../refuse-other-methods.js'
import { allowedMethods, routedMethods, type BelowResource, type EntityPath } from './entity-path.js'
import type { ResourceParams } from './entity-tools.js'

type Hook = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void

/**
 * What stands before every operation of a resource, as options of its route: 404 and 405 at once, the version once the
 * body is read. What is between them in the order of refusals is plugins/request-limits.ts and checkJsonRequest.
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
export function refuseOthersAt(app: FastifyInstance, catalogue: Catalogue, path: EntityPath): void {
  refuseOtherMethods(app, {
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
