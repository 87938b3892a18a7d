import type { IncomingMessage } from 'node:http'
import replyFrom from '@fastify/reply-from'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../../shared/errors.js'
import type { Logger } from '../../shared/logger.js'
import type { Catalogue } from '../data/catalogue.js'
import { customReadNamed, READ_SEGMENTS } from '../entity-routes/paths.js'
import type { TrustedProxies } from '../http/client-address.js'
import { isFromAnotherOrigin } from '../http/cross-site.js'
import { listMembers } from '../http/header-fields.js'
import { acceptsHtml } from '../http/negotiation.js'
import type { PublicAddress } from '../http/public-address.js'
import { type Asked, destinationOf, type OwnPaths, type PageSession, rendererPath } from './destination.js'
import { forward, leaveUpstreamBody, sendFailurePage, upstreamBody } from './forward.js'

export interface RendererOptions {
  /** Base of the renderer's paths. */
  readonly rendererUrl: string
  readonly catalogue: Catalogue
  readonly address: PublicAddress
  readonly trustedProxies: TrustedProxies
  readonly session: PageSession
  readonly log: Logger
  /** Milliseconds. */
  readonly timeouts?: RendererTimeouts
}

export interface RendererTimeouts {
  readonly connect: number
  /** Until the page begins. */
  readonly headers: number
  /** Between two pieces of it. */
  readonly body: number
}

const TIMEOUTS: RendererTimeouts = { connect: 5000, headers: 30_000, body: 60_000 }
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
const DESTINATION = 'destination'

/**
 * Pages: whatever the gateway does not serve itself goes to the renderer, both ways as a stream (contract.md section 8).
 * Has to be registered before any route.
 */
export const rendererProxy = fp<RendererOptions>(
  async (app, options) => {
    const own = ownPaths(options)
    app.addConstraintStrategy({
      name: DESTINATION,
      mustMatchWhenDerived: true,
      deriveConstraint: (raw) => (destinationOf(asked(raw), own).renderer ? 'renderer' : undefined),
      validate: () => undefined,
      storage: () => handlersByKey()
    })
    app.addHook('onRequest', (request, reply, done) => {
      if (destinationOf(asked(request.raw), own).both) reply.header('vary', 'Accept')
      done()
    })
    await app.register((pages) => proxyRoute(pages, options))
  },
  { name: 'renderer-proxy', dependencies: ['request-identity', 'problem-responses', 'request-limits'], fastify: '5.x' }
)

/** Of one path, by the destination that they are for. */
function handlersByKey<Handler>(): { get(key: unknown): Handler | null; set(key: unknown, handler: Handler): void } {
  const handlers = new Map<unknown, Handler>()
  return {
    get: (key) => handlers.get(key) ?? null,
    set: (key, handler) => {
      handlers.set(key, handler)
    }
  }
}

function asked({ method = '', url = '/', headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): Asked {
  return { method, target: url, accept: headers.accept }
}

async function proxyRoute(app: FastifyInstance, options: RendererOptions): Promise<void> {
  const { rendererUrl, session, log, timeouts = TIMEOUTS } = options
  const base = new URL(rendererUrl)
  await app.register(replyFrom, {
    base: base.origin,
    disableRequestLogging: true,
    undici: {
      connect: { timeout: timeouts.connect, rejectUnauthorized: true },
      headersTimeout: timeouts.headers,
      bodyTimeout: timeouts.body
    }
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, upstreamBody(payload)))
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof DomainError) || !error.code.startsWith('upstream.')) throw error
    reply.header('vary', 'Accept')
    if (!acceptsHtml(request.headers.accept)) throw error
    log.warn({ requestId: request.id, code: error.code, err: error }, 'renderer failure')
    return sendFailurePage(reply, error, request.id)
  })
  app.route({
    // TRACE would show scripts the cookies that they cannot read.
    method: app.supportedMethods.filter((method) => !['CONNECT', 'TRACE'].includes(method)),
    url: '*',
    constraints: { [DESTINATION]: 'renderer' },
    config: { streamsBody: true },
    onRequest: async (request, reply) => {
      rejectOtherOrigins(request)
      rejectUpgrade(request)
      // Before a session is refreshed for nothing.
      rendererPath(request.url, base)
      await session.refresh(request, reply)
    },
    preHandler: async (request) => {
      if (!SAFE.has(request.method)) await session.checkAntiforgery(request)
    },
    handler: (request, reply) => forward(request, reply, { ...options, base }),
    // A body that was not wanted is still on its way, and the connection serves nothing else before it has come.
    onResponse: (request, _reply, done) => {
      leaveUpstreamBody(request)
      done()
    }
  })
}

/** Whatever an unsafe request carries, a page of another origin must not have sent it (contract.md section 8). */
function rejectOtherOrigins({ method, headers }: FastifyRequest): void {
  if (SAFE.has(method) || !isFromAnotherOrigin(headers['sec-fetch-site'])) return
  throw new DomainError(
    'request.cross-site',
    'Forms are for pages of this origin: a page of another one sent the request.'
  )
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
    isRead: (resource, segment) =>
      READ_SEGMENTS.includes(segment) || customReadNamed(catalogue.find(resource), segment) !== undefined
  }
}
