import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/domain-error.js'
import type { Catalogue } from '../catalogue.js'
import { checkApiVersion, SUPPORTED_VERSIONS } from '../headers/api-version.js'
import { checkBodySize } from '../headers/body-size.js'
import type { ReadOperation } from '../headers/route-parameters.js'

type Hook = (request: FastifyRequest, reply: FastifyReply) => void

/** What stands before every operation of a resource, as an `onRequest` hook: 404 route, then 413, then version. */
export function admit(
  catalogue: Catalogue,
  operation: ReadOperation
): (...args: [...Parameters<Hook>, () => void]) => void {
  const known = knownResource(catalogue, operation)
  return (request, reply, done) => {
    known(request, reply)
    checkBodySize(request.headers['content-length'])
    checkApiVersion(request.headers['api-version'])
    done()
  }
}

/** Sets the headers of every entity response; throws `route.not-found` unless the resource serves the operation. */
export function knownResource(catalogue: Catalogue, operation: ReadOperation): Hook {
  return (request, reply) => {
    // Both parametric routes and their refusals are registered under `/:resource`.
    const { resource, id } = request.params as { resource: string; id?: string }
    // `/products/` matches the by-id path with an empty id, which is no path of ours.
    if (id === '' || catalogue.find(resource)?.operations.includes(operation) !== true) {
      throw new DomainError('route.not-found', 'There is nothing at this path.')
    }
    reply.header('api-supported-versions', SUPPORTED_VERSIONS)
    reply.header('cache-control', 'no-store')
  }
}
