import { type IncomingMessage, METHODS } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError, shortened } from '../../shared/errors.js'
import { MERGE_PATCH_TYPE } from '../http/json-body.js'
import { healthOf } from '../../shared/observe/admin-server.js'
import { NotReady } from './admission.js'

/**
 * Adds every method that Node can parse to the router: a renderer may serve it. Without a renderer each of them would be a
 * route at every path, and does nothing there but reject (`routeMethod`).
 */
export function addAllMethods(app: FastifyInstance): void {
  // Node emits CONNECT as an event of its own (malformed-http.ts).
  const added = METHODS.filter((method) => method !== 'CONNECT' && !app.supportedMethods.includes(method))
  for (const method of added) app.addHttpMethod(method)
}

/**
 * Gives a request whose method the router does not know that of TRACE, which nothing serves either: 405 at a known path, 404
 * elsewhere. HTTP/2 allows any token. The header `:method`, which HTTP/1.1 cannot carry, keeps what was sent.
 */
export function routeMethod(raw: IncomingMessage, routable: ReadonlySet<string>): void {
  const { method = '' } = raw
  if (routable.has(method)) return
  raw.headers[':method'] = method
  Object.defineProperty(raw, 'method', { value: 'TRACE' })
}

/**
 * Adds routes that answer OPTIONS at a path with 204 and `Allow` (RFC 9110 section 9.3.7), and all other methods with 405
 * and `Allow` (section 15.5.6). Without them the router would try a parametric path: `HEAD /products/export` would become
 * `HEAD /products/{id}`.
 */
export function answerOtherMethods(
  app: FastifyInstance,
  path: {
    readonly url: string
    /** Of the routes, for a path that is not everybody's. */
    readonly constraints?: Readonly<Record<string, string>>
    /** Methods that have a route of their own at the path. */
    readonly routed: readonly string[]
    /** The value of `Allow` if it depends on the request. Throws if the path does not exist for the request. */
    readonly allowed?: (request: FastifyRequest, reply: FastifyReply) => readonly string[]
  }
): void {
  const { url, constraints = {}, routed, allowed = () => routed } = path
  const reject = (request: FastifyRequest, reply: FastifyReply): never => {
    throw methodNotAllowed(request, reply, allowed(request, reply))
  }
  app.route({
    method: app.supportedMethods.filter((method) => method !== 'OPTIONS' && !routed.includes(method)),
    url,
    constraints,
    onRequest: reject,
    handler: reject
  })
  app.options(url, { constraints }, (request, reply) => {
    const methods = allowed(request, reply)
    reply.header('allow', allowValue(methods))
    // RFC 5789 section 3.1.
    if (methods.includes('PATCH')) reply.header('accept-patch', MERGE_PATCH_TYPE)
    return reply.code(204).send()
  })
}

function allowValue(methods: readonly string[]): string {
  return [...methods, 'OPTIONS'].join(', ')
}

/** The error for a wrong method. Sets `Allow` on the reply. */
export function methodNotAllowed(
  request: FastifyRequest,
  reply: FastifyReply,
  allowed: readonly string[]
): DomainError {
  const allow = allowValue(allowed)
  reply.header('allow', allow)
  const method = sentMethod(request)
  return new DomainError('method.not-allowed', `${method} is not allowed here. Allowed: ${allow}.`)
}

/** Characters of a method that an answer or a line of the log repeats. */
const MAX_SHOWN = 200

/** The method as it was sent, shortened. It may be one that the router does not know. */
export function sentMethod({ method, raw }: FastifyRequest): string {
  const sent = raw.headers[':method']
  return typeof sent === 'string' ? shortened(sent, MAX_SHOWN) : method
}

/**
 * The method for metrics and traces, from a bounded set. `_OTHER` is what the semantic conventions of OpenTelemetry call one
 * that the router does not know.
 */
export function countedMethod({ method, raw }: FastifyRequest): string {
  const sent = raw.headers[':method']
  return typeof sent === 'string' && sent !== method ? '_OTHER' : method
}

/**
 * `/health/live` answers 200 while the process runs. `/health/ready` and `/health` answer 200 while requests can be
 * served, else 503. They say how many resources are out of service. `isReady` must answer from memory.
 */
export const health = fp<{ isReady: () => boolean; isolated: () => ReadonlyMap<string, string> }>(
  async (app, { isReady, isolated }) => {
    const pages = [
      ['/health', isReady],
      ['/health/ready', isReady],
      ['/health/live', () => true]
    ] as const
    for (const [url, isHealthy] of pages) {
      answerOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
      app.get(url, { config: { atStart: true, rateLimit: false, whateverLoad: true } }, async (_request, reply) => {
        if (!isHealthy()) {
          throw new DomainError('upstream.unavailable', 'Requests cannot be served at the moment.', {
            cause: new NotReady(url)
          })
        }
        reply.header('cache-control', 'no-store')
        return healthOf(url === '/health/live' ? new Map() : isolated())
      })
    }
  },
  { name: 'health', dependencies: ['problem-responses'], fastify: '5.x' }
)
