import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError, rejectionAt } from '../../shared/errors.js'
import type { Logger } from '../../shared/logger.js'
import type { LiveCatalogue } from '../data/catalogue.js'
import { customReadNamed, FIXED_SEGMENTS } from '../entity-routes/paths.js'
import type { TrustedProxies } from '../http/client-address.js'
import { isFromAnotherOrigin, SAFE_METHODS } from '../http/cross-site.js'
import { listMembers } from '../http/header-fields.js'
import { acceptsHtml } from '../http/negotiation.js'
import type { PublicAddress } from '../http/public-address.js'
import { Overload } from '../server/admission.js'
import { type RoutedRequest, destinationOf, type OwnPaths, type PageSession, rendererPath } from './destination.js'
import { PAGES, PageShares } from './page-shares.js'
import { RendererConnections } from './renderer-connections.js'
import { drainBody, forward, LOOP_NAME, nothingHere, sendFailurePage, upstreamBody, varyByAccept } from './forward.js'

interface RendererOptions {
  /** The base URL of the renderer. */
  readonly rendererUrl: string
  readonly catalogue: LiveCatalogue
  readonly address: PublicAddress
  readonly trustedProxies: TrustedProxies
  readonly session: PageSession
  readonly log: Logger
  readonly timeouts?: RendererTimeouts
}

/** Milliseconds. */
export interface RendererTimeouts {
  readonly connect: number
  /** Until the headers of the response have come. */
  readonly headers: number
  /** Between two pieces of the response's body. */
  readonly body: number
}

/** How often a request may come through gateways of this kind: one may have another one as its renderer. */
const MOST_HOPS = 3

const DEFAULT_TIMEOUTS: RendererTimeouts = { connect: 5000, headers: 30_000, body: 60_000 }
const DESTINATION = 'destination'

/**
 * Forwards all requests that the gateway does not serve itself to the renderer. Request and response are streamed
 * (contract.md section 8). The plugin must be registered before any route, because it adds a route constraint.
 */
export const rendererProxy = fp<RendererOptions>(
  async (app, options) => {
    const own = ownPaths(options)
    app.addConstraintStrategy({
      name: DESTINATION,
      mustMatchWhenDerived: true,
      deriveConstraint: (raw) => (destinationOf(requestHead(raw), own).renderer ? 'renderer' : undefined),
      validate: () => undefined,
      storage: () => handlersByKey()
    })
    app.addHook('onRequest', (request, reply, done) => {
      if (destinationOf(requestHead(request.raw), own).both) varyByAccept(reply)
      done()
    })
    await app.register((pages) => proxyRoute(pages, options))
  },
  { name: 'renderer-proxy', dependencies: ['request-identity', 'problem-responses', 'request-limits'], fastify: '5.x' }
)

/** The store of find-my-way for the handlers of one path, by their destination. */
function handlersByKey<Handler>(): { get(key: unknown): Handler | null; set(key: unknown, handler: Handler): void } {
  const handlers = new Map<unknown, Handler>()
  return {
    get: (key) => handlers.get(key) ?? null,
    set: (key, handler) => {
      handlers.set(key, handler)
    }
  }
}

function requestHead({
  method = '',
  url = '/',
  headers
}: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): RoutedRequest {
  return { method, target: url, accept: headers.accept }
}

async function proxyRoute(app: FastifyInstance, options: RendererOptions): Promise<void> {
  const { rendererUrl, session, log, timeouts = DEFAULT_TIMEOUTS } = options
  const base = new URL(rendererUrl)
  // They are loaded only where there is a renderer.
  const { default: replyFrom } = await import('@fastify/reply-from')
  const { Pool } = await import('undici')
  const pool = new Pool(base.origin, {
    connections: PAGES,
    connect: { timeout: timeouts.connect, rejectUnauthorized: true },
    headersTimeout: timeouts.headers,
    bodyTimeout: timeouts.body
  })
  app.addHook('onClose', () => pool.destroy())
  const connections = new RendererConnections(pool)
  await app.register(replyFrom, { base: base.origin, disableRequestLogging: true, undici: connections })
  const shares = new PageShares(timeouts.headers)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, upstreamBody(payload)))
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof DomainError) || !error.code.startsWith('upstream.')) throw error
    varyByAccept(reply)
    if (!acceptsHtml(request.headers.accept)) throw error
    // A flood, or a client that is gone, is no failure of the renderer and does not fill the log.
    if (!(error.cause instanceof Overload) && !reply.raw.destroyed) {
      log.warn({ requestId: request.id, code: error.code, err: error }, 'renderer failure')
    }
    return sendFailurePage(reply, error, request.id)
  })
  app.route({
    // The answer of TRACE would show scripts the cookies that they cannot read.
    method: app.supportedMethods.filter((method) => !['CONNECT', 'TRACE'].includes(method)),
    url: '*',
    constraints: { [DESTINATION]: 'renderer' },
    config: { streamsBody: true, routeLabel: 'renderer' },
    onRequest: async (request, reply) => {
      rejectOtherOrigins(request)
      rejectUpgrade(request)
      rejectLoop(request)
      // This throws for an invalid path, and so comes before a refresh of the session.
      rendererPath(request.url, base)
      await session.refresh(request, reply)
    },
    preHandler: async (request) => {
      if (SAFE_METHODS.has(request.method)) return
      if (isOfProgram(request)) throw nothingHere()
      await session.checkAntiforgery(request)
    },
    handler: async (request, reply) => {
      const client = await shares.enter(reply)
      return connections.while(client, () => forward(request, reply, { ...options, base }))
    },
    // The client may still be sending a body that nobody reads. The connection serves no other request before its end.
    onResponse: (request, _reply, done) => {
      drainBody(request)
      done()
    }
  })
}

/** Rejects an unsafe request that a page of another origin has sent, even with a valid token (contract.md section 8). */
function rejectOtherOrigins({ method, headers }: FastifyRequest): void {
  if (SAFE_METHODS.has(method) || !isFromAnotherOrigin(headers['sec-fetch-site'])) return
  const detail = 'Forms are for pages of this origin: a page of another one sent the request.'
  throw rejectionAt('request.cross-site', detail, { place: { in: 'header', name: 'Sec-Fetch-Site' } })
}

/**
 * Whether an unsafe request comes from a client of the API and from no page: it has credentials of its own and no cookie.
 * It could hold no antiforgery token, whose cookie it lacks, and what it lacks is a route of the gateway.
 */
function isOfProgram({ headers }: FastifyRequest): boolean {
  return headers.authorization !== undefined && headers.cookie === undefined
}

/** Rejects what has come through gateways like this one so often that one of them leads back to itself (RFC 8586). */
function rejectLoop({ headers }: FastifyRequest): void {
  const hops = listMembers(String(headers['cdn-loop'] ?? '')).filter((one) => one === LOOP_NAME).length
  if (hops < MOST_HOPS) return
  const detail = `The request has come through this gateway ${hops} times. RENDERER_URL must be the address of the renderer itself.`
  throw rejectionAt('request.malformed', detail, { place: { in: 'header', name: 'CDN-Loop' } })
}

function rejectUpgrade({ headers }: FastifyRequest): void {
  const options = listMembers(headers.connection ?? '').map((option) => option.toLowerCase())
  if (headers.upgrade === undefined || !options.includes('upgrade')) return
  throw new DomainError(
    'request.malformed',
    `An upgrade to ${headers.upgrade} is not served here; send a plain request.`
  )
}

function ownPaths({ catalogue, address }: RendererOptions): OwnPaths {
  return {
    prefix: address.prefix,
    isResource: (segment) => catalogue.find(segment) !== undefined,
    isOperation: (segment) => catalogue.operationPaths.has(segment),
    isRead: (resource, segment) =>
      FIXED_SEGMENTS.includes(segment) || customReadNamed(catalogue.find(resource), segment) !== undefined
  }
}
