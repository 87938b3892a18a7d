import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../../shared/errors.js'

/** Node hands CONNECT to a listener of its own. */
const SERVABLE = METHODS.filter((method) => method !== 'CONNECT')

/** Teaches the router every method that Node can parse, so that a wrong one is 405 and not 404. */
export function knowEveryMethod(app: FastifyInstance): void {
  for (const method of SERVABLE) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
}

/**
 * Answers 405 with `Allow` to every other method at a path. A route of its own, since another method's lookup would
 * else fall through to a parametric path: `HEAD /products/export` is no `HEAD /products/{id}`.
 */
export function rejectOtherMethods(
  app: FastifyInstance,
  path: {
    readonly url: string
    /** Methods that have a route of their own at the path. */
    readonly routed: readonly string[]
    /** What to say in `Allow` where that depends on the request; throws where the path is none after all. */
    readonly allowed?: (request: FastifyRequest, reply: FastifyReply) => readonly string[]
  }
): void {
  const { url, routed, allowed = () => routed } = path
  const refuse = (request: FastifyRequest, reply: FastifyReply): never => {
    throw methodNotAllowed(request, reply, allowed(request, reply))
  }
  app.route({
    method: SERVABLE.filter((method) => !routed.includes(method)),
    url,
    onRequest: refuse,
    handler: refuse
  })
}

/** Sets `Allow`. */
export function methodNotAllowed(
  request: FastifyRequest,
  reply: FastifyReply,
  allowed: readonly string[]
): DomainError {
  const allow = allowed.join(', ')
  reply.header('allow', allow)
  return new DomainError('method.not-allowed', `${request.method} is not allowed here. Allowed: ${allow}.`)
}

/**
 * `/health/live` is 200 while the process runs; `/health/ready`, and `/health`, while requests can be served, which they
 * cannot without a data service that can, nor while this process ends. `isReady` answers from memory.
 */
export const health = fp<{ isReady: () => boolean }>(
  async (app, { isReady }) => {
    const pages = [
      ['/health', isReady],
      ['/health/ready', isReady],
      ['/health/live', () => true]
    ] as const
    for (const [url, isWell] of pages) {
      rejectOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
      app.get(url, async (_request, reply) => {
        if (!isWell()) throw new DomainError('upstream.unavailable', 'Requests cannot be served at the moment.')
        reply.header('cache-control', 'no-store')
        return { status: 'ok' }
      })
    }
  },
  { name: 'health', dependencies: ['problem-responses'], fastify: '5.x' }
)
