import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../shared/domain-error.js'
import { checkBodySize } from './headers/body-size.js'

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
export function refuseOtherMethods(
  app: FastifyInstance,
  path: {
    readonly url: string
    readonly allow: readonly string[]
    /** Runs first, so that an unknown resource stays 404. */
    readonly before?: (request: FastifyRequest, reply: FastifyReply) => void
  }
): void {
  const allow = path.allow.join(', ')
  const refuse = (request: FastifyRequest, reply: FastifyReply): never => {
    path.before?.(request, reply)
    checkBodySize(request.headers['content-length'])
    reply.header('allow', allow)
    throw new DomainError('method.not-allowed', `${request.method} is not allowed here. Allowed: ${allow}.`)
  }
  app.route({
    method: SERVABLE.filter((method) => !path.allow.includes(method)),
    url: path.url,
    onRequest: refuse,
    handler: refuse
  })
}
