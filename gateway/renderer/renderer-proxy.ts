import type { IncomingMessage } from 'node:http'
import replyFrom from '@fastify/reply-from'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../../shared/domain-error.js'
import type { Logger } from '../../shared/logger.js'
import type { Catalogue } from '../catalogue.js'
import { pathOf } from '../headers/query-parameters.js'
import type { PublicAddress } from '../public-address.js'
import type { TrustedProxies } from '../settings/trusted-proxies.js'
import { acceptsHtml, destinationOf, type Asked, type OwnPaths } from './destination.js'
import { downstreamHeaders } from './downstream-headers.js'
import type { PageSession } from './page-session.js'
import { rendererFailure, sendFailurePage } from './renderer-failure.js'
import { upstreamHeaders } from './upstream-headers.js'

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
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])
const SESSION_COOKIE = /(?:^|;)\s*app_auth_(?:access|refresh)\s*=/
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
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  app.setErrorHandler((error, request, reply) => {
    const failed = error instanceof DomainError && error.code.startsWith('upstream.')
    if (!failed || !acceptsHtml(request.headers.accept)) throw error
    log.warn({ requestId: request.id, code: error.code, err: error }, 'renderer failure')
    return sendFailurePage(reply, error, request.id)
  })
  app.route({
    method: app.supportedMethods.filter((method) => method !== 'CONNECT'),
    url: '*',
    constraints: { [DESTINATION]: 'renderer' },
    config: { streamsBody: true },
    onRequest: async (request, reply) => {
      refuseUpgrade(request)
      await session.refresh(request, reply)
    },
    preHandler: async (request) => {
      if (!SAFE.has(request.method)) await session.checkAntiforgery(request)
    },
    handler: (request, reply) => forward(request, reply, { ...options, base })
  })
}

function forward(
  request: FastifyRequest,
  reply: FastifyReply,
  { base, session, address, trustedProxies }: RendererOptions & { readonly base: URL }
): FastifyReply {
  const cookie = session.cookiesOf(request)
  const publicBase = new URL(address.baseFor(request))
  const remote = request.socket.remoteAddress ?? ''
  const before = trustedProxies.trusts(remote) ? request.headers['x-forwarded-for'] : undefined
  return reply.from(sourceOf(request, base), {
    // One try: what to make of a failure is the browser's to say.
    retryDelay: () => null,
    rewriteRequestHeaders: (_request, headers) => ({
      ...upstreamHeaders(
        headers,
        {
          requestId: request.id,
          traceparent: request.traceparent,
          cookie,
          host: publicBase.host,
          proto: publicBase.protocol.slice(0, -1),
          forwardedFor: [before ?? [], remote].flat().join(', ')
        },
        request.body !== undefined && request.body !== null
      ),
      host: base.host
    }),
    rewriteHeaders: (headers) => {
      const ours = [reply.getHeader('vary') ?? []].flat().map(String)
      const varies = ours.some((names) => names.includes('Accept'))
      const setsCookies = reply.getHeader('set-cookie') !== undefined
      return downstreamHeaders(headers, { personal: SESSION_COOKIE.test(cookie ?? ''), setsCookies, varies })
    },
    onError: (failed, { error }) => {
      void failed.send(rendererFailure(error))
    }
  })
}

/** The renderer's path for a request's own. */
function sourceOf(request: FastifyRequest, base: URL): string {
  const path = pathOf(request.originalUrl)
  try {
    const steps = decodeURIComponent(path).split(/[/\\]/)
    if (!steps.includes('..')) return base.pathname.replace(/\/$/, '') + path
  } catch {
    // Answered below.
  }
  throw new DomainError('request.malformed', 'The path must be percent-encoded UTF-8 without `..` segments.')
}

function refuseUpgrade({ headers }: FastifyRequest): void {
  if (headers.upgrade === undefined || !/(?:^|,)\s*upgrade\s*(?:,|$)/i.test(headers.connection ?? '')) return
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
      ['paged', 'export', 'lookup'].includes(segment) ||
      catalogue.find(resource)?.reads.some(({ name }) => name === segment) === true
  }
}
