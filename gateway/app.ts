import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Logger } from '../shared/logger.js'
import type { TlsCertificates } from '../shared/tls.js'
import { MAX_BODY_BYTES, requestIdOf } from '../shared/wire.js'
import type { GatewayConfig } from './config.js'
import type { AuthClient } from './data/auth-client.js'
import type { Catalogue } from './data/catalogue.js'
import type { DataClient } from './data/data-client.js'
import { entityReads, entityRejections, entityWrites } from './entity-routes/entity-routes.js'
import { untrustedProxyWarning } from './http/client-address.js'
import { PublicAddress } from './http/public-address.js'
import { originForm } from './http/query-string.js'
import { MAX_HEAD_BYTES } from './http/request-head.js'
import { type KeyRing, processRing } from './key-ring/key-ring.js'
import { docsPage } from './openapi/docs-page.js'
import { openApi } from './openapi/document.js'
import { pageSession } from './renderer/destination.js'
import { rendererProxy } from './renderer/renderer-proxy.js'
import { CONNECTION_TIMES, Connections, type ConnectionTimes } from './server/connections.js'
import { Http2Listener, overTls } from './server/http2.js'
import { MalformedHttp } from './server/malformed-http.js'
import { health, knowEveryMethod } from './server/methods.js'
import { problemPages } from './server/problem-pages.js'
import { problemResponses, ProblemSender } from './server/problem-responses.js'
import {
  logWhenDone,
  privateCookies,
  requestIdentity,
  requestLimits,
  requestLog,
  responseSafety
} from './server/requests.js'
import { AntiforgeryCheck, antiforgeryRoute, AntiforgeryTokens } from './session/antiforgery.js'
import { authRoutes, keySetRoute } from './session/auth-routes.js'
import { HtmlRefresh } from './session/html-refresh.js'
import { ownSiteOnly, sessionTools } from './session/session-tools.js'

export interface GatewayParts {
  readonly config: GatewayConfig
  readonly data: DataClient
  readonly auth: AuthClient
  readonly catalogue: Catalogue
  readonly log: Logger
  /** Default: one of this process alone. */
  readonly keyRing?: KeyRing
  readonly address?: PublicAddress
  /** Aborted when the process is asked to end: it is not ready any more then. */
  readonly stopping?: AbortSignal
  /** Serves HTTPS, with HTTP/1.1 and HTTP/2, in place of HTTP. */
  readonly certificates?: TlsCertificates | undefined
  readonly now?: () => Date
  readonly newRequestId?: () => string
  readonly times?: ConnectionTimes
}

/** Milliseconds that requests under way get when the process is asked to end. */
export const CLOSING_TIME = 10_000

/**
 * The parser's own limit stands well above the contract's, so that what is too long is told apart and answered like any
 * other rejection (plugins/request-limits.ts).
 */
const PARSER_HEAD_BYTES = 4 * MAX_HEAD_BYTES

/** The gateway, not yet listening. Hooks run in the order of the registrations. */
export async function buildGateway(parts: GatewayParts): Promise<FastifyInstance> {
  const { config, data, auth, catalogue, log, now = () => new Date(), newRequestId = randomUUID } = parts
  const address = parts.address ?? new PublicAddress(config)
  const antiforgery = new AntiforgeryTokens(parts.keyRing ?? processRing(now))
  const problems = new ProblemSender(address, log)
  const sessions = sessionTools(auth, config, now)
  const malformed = new MalformedHttp({ address, log, newRequestId, strictTransport: config.strictTransport })
  const { times = CONNECTION_TIMES } = parts
  const connections = new Connections({ times, maxConnections: config.maxConnections, log })
  // Below a warning Fastify only repeats what main.ts says of the start.
  const loggerInstance: FastifyBaseLogger = log.isLevelEnabled('info') ? log.child({}, { level: 'warn' }) : log
  const { certificates } = parts
  const http = { maxHeaderSize: PARSER_HEAD_BYTES, requireHostHeader: false, ...connections.serverOptions }
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: () => loggerInstance,
    genReqId: (raw) => requestIdOf(raw.headers['x-request-id'], newRequestId),
    trustProxy: (remote: string) => config.trustedProxies.trusts(remote),
    rewriteUrl: (raw) => originForm(raw.url ?? '/'),
    frameworkErrors: (error, request, reply) => {
      logWhenDone(log, request, reply)
      problems.send(error, request, reply)
    },
    clientErrorHandler: (error, socket) => {
      if (!connections.excuses(error, socket)) malformed.onClientError(error, socket)
    },
    return503OnClosing: false,
    bodyLimit: MAX_BODY_BYTES,
    http,
    ...(certificates === undefined ? {} : { serverFactory: overTls(certificates, http) }),
    routerOptions: { maxParamLength: PARSER_HEAD_BYTES, querystringParser: () => ({}) }
  })
  app.server.maxHeadersCount = 0
  if (certificates !== undefined) {
    const http2 = new Http2Listener(app.server, { certificates, maxHeaderBytes: PARSER_HEAD_BYTES, times })
    malformed.attachHttp2(http2.server)
    app.addHook('preClose', (done) => {
      http2.close(CLOSING_TIME)
      done()
    })
  }
  connections.attach(app.server)
  malformed.attach(app.server)
  knowEveryMethod(app)
  app.removeContentTypeParser('text/plain')

  app.addHook('onRequest', ({ raw }, reply, done) => connections.inTurn(raw, reply.raw, done))
  await app.register(requestIdentity)
  await app.register(requestLog, { log })
  await app.register(untrustedProxyWarning, { trustedProxies: config.trustedProxies, log })
  await app.register(responseSafety, { strictTransport: config.strictTransport })
  await app.register(privateCookies)
  await app.register(requestLimits)
  await app.register(problemResponses, { problems })
  if (config.rendererUrl !== undefined) {
    const { rendererUrl, trustedProxies } = config
    const session = pageSession(new HtmlRefresh(sessions, log), new AntiforgeryCheck(antiforgery, log))
    await app.register(rendererProxy, { rendererUrl, catalogue, address, trustedProxies, session, log })
  }
  await app.register(
    async (prefixed) => {
      await prefixed.register(health, { isReady: () => parts.stopping?.aborted !== true && data.isReachable() })
      await prefixed.register(problemPages, { address })
      await prefixed.register(openApi, { catalogue, address })
      await prefixed.register(docsPage, { catalogue, address, isRendered: config.rendererUrl !== undefined })
      await prefixed.register(keySetRoute, { tools: sessions })
      await prefixed.register(async (scope) => {
        await scope.register(ownSiteOnly, { address })
        await scope.register(authRoutes, { tools: sessions })
        await scope.register(antiforgeryRoute, {
          tokens: antiforgery,
          tools: sessions,
          cookieSecure: config.cookieSecure
        })
      })
      await prefixed.register(entityReads, { data, catalogue, address, now })
      await prefixed.register(entityWrites, { data, catalogue, address, now })
      await prefixed.register(entityRejections, { catalogue })
    },
    { prefix: address.prefix }
  )
  return app
}
