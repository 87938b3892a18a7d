import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import type { Logger } from '../shared/logger.js'
import { throttledAddress } from '../shared/ip-address.js'
import { MemoryGuard, type MemorySource } from '../shared/memory-guard.js'
import type { Tracing } from '../shared/observe/tracing.js'
import type { TlsCertificates } from '../shared/tls.js'
import { Turns } from '../shared/turns.js'
import { MAX_BODY_BYTES, requestIdOf } from '../shared/transport/wire.js'
import { adminUi } from './admin/admin-ui.js'
import type { GatewayConfig } from './config.js'
import type { AuthClient } from './data/auth-client.js'
import type { LiveCatalogue } from './data/catalogue.js'
import type { DataClient } from './data/data-client.js'
import { docsRoutes } from './docs/docs-routes.js'
import { entityImports, entityMethods, entityReads, entityWrites } from './entity-routes/entity-routes.js'
import { LargeWrites } from './entity-routes/large-writes.js'
import { operationConstraint, operationRoutes } from './entity-routes/own-operations.js'
import { setHeadersOfRefusal } from './entity-routes/requests.js'
import { clientAddress, clientAddresses, untrustedProxyWarning } from './http/client-address.js'
import { KeptTexts } from './http/kept-texts.js'
import { PublicAddress } from './http/public-address.js'
import { routedTarget } from './http/query-string.js'
import { MAX_HEAD_BYTES, MAX_HEADER_LINES } from './http/request-head.js'
import { type KeyRing, processRing } from './key-ring/key-ring.js'
import type { GatewayMetrics } from './observe/gateway-metrics.js'
import { RequestLines } from './observe/request-lines.js'
import { openApi } from './openapi/document.js'
import { Documents } from './openapi/documents.js'
import { RESPONSE_HEADERS } from './openapi/responses.js'
import { pageSession } from './renderer/destination.js'
import { rendererProxy } from './renderer/renderer-proxy.js'
import { backPressure, type OnRefusal, rateLimit, startUp } from './server/admission.js'
import { CONNECTION_TIMEOUTS, ClientConnections, type ConnectionTimeouts } from './server/connections.js'
import { crossOrigin } from './server/cross-origin.js'
import { Http2Listener, httpsServerFactory } from './server/http2.js'
import type { LoopDelay } from './server/loop-delay.js'
import { MalformedHttp } from './server/malformed-http.js'
import { addAllMethods, health, routeMethod } from './server/methods.js'
import { hasLargeHead, OpenRequests } from './server/open-requests.js'
import { findPages, warnOfMissingPages } from './server/pages-package.js'
import { problemPages } from './server/problem-pages.js'
import { problemHandler, ProblemSender, rejectUnknownPaths } from './server/problem-responses.js'
import {
  privateCookies,
  recordWhenClosed,
  requestIdentity,
  requestLimits,
  requestLog,
  type RequestRecords,
  safetyHeaders,
  securityHeaders
} from './server/requests.js'
import { serverTiming } from './server/server-timing.js'
import { boundUnsentAnswers, UnsentAnswers, type UnsentBounds } from './server/unsent-answers.js'
import { AntiforgeryCheck, antiforgeryRoute, AntiforgeryTokens } from './session/antiforgery.js'
import { authRoutes, keySetRoute } from './session/auth-routes.js'
import { HtmlRefresh } from './session/html-refresh.js'
import { loadOpenIdClient, OpenIdProvider } from './session/openid-provider.js'
import { oneTimeLinkPage } from './session/one-time-link-page.js'
import { callbackPageRoute, signInRoutes } from './session/outside-sign-in.js'
import { ownSiteOnly, sessionTools } from './session/session-tools.js'

/** Everything that the gateway is built from. */
export interface GatewayDeps {
  readonly config: GatewayConfig
  readonly data: DataClient
  readonly auth: AuthClient
  /** Until it is described, requests but those for health are 503. */
  readonly catalogue: LiveCatalogue
  readonly log: Logger
  /** Default: a key ring in the memory of this process. */
  readonly keyRing?: KeyRing
  readonly address?: PublicAddress
  /** Aborted when the process shall end. The gateway is not ready from then on. */
  readonly stopping?: AbortSignal
  /** If given, the gateway serves HTTPS, with HTTP/1.1 and HTTP/2, instead of HTTP. */
  readonly certificates?: TlsCertificates | undefined
  readonly now?: () => Date
  readonly newRequestId?: () => string
  readonly timeouts?: ConnectionTimeouts
  /** If given, requests are counted. */
  readonly metrics?: GatewayMetrics | undefined
  /** If given, each request is a span. */
  readonly tracing?: Tracing | undefined
  readonly load?: LoadDeps | undefined
  /** Where the built pages are, if anywhere. Default: `findPages`. */
  readonly findPages?: () => URL | undefined
}

/** What a gateway goes by to bound its load. Tests give their own. */
export interface LoadDeps {
  /** Default: of the memory of this process. */
  readonly unsentBounds?: UnsentBounds
  readonly memory?: MemorySource
  readonly delay?: LoopDelay
  /** Milliseconds, by a clock that only goes forward. */
  readonly clock?: () => number
}

/** Milliseconds that running requests get to end when the process shall end. */
export const CLOSING_TIMEOUT = 10_000

/**
 * Node's parser has a higher limit than the contract, so that a head above the contract's limit still becomes a request
 * and gets a problem document like any other error (requestLimits).
 */
const PARSER_HEAD_BYTES = 1.5 * MAX_HEAD_BYTES

/**
 * Requests of one address that begin in a turn of the event loop, and those that do while clients connect: Node accepts one
 * connection in a turn, and a client with hundreds of connections would else keep those of others waiting.
 */
const BEGUN_IN_A_TURN = 8
const BEGUN_BESIDE_CONNECTIONS = 2

/** The gateway, not yet listening. */
export async function buildGateway(deps: GatewayDeps): Promise<FastifyInstance> {
  const { config, data, auth, catalogue, log, now = () => new Date() } = deps
  const address = deps.address ?? new PublicAddress(config)
  const problems = new ProblemSender(address, log)
  const records = { lines: RequestLines.of(log), metrics: deps.metrics }
  const memory = new MemoryGuard(log, deps.load?.memory)
  const { app, connections } = createServer(deps, { address, problems, records, memory })
  const antiforgery = new AntiforgeryTokens(deps.keyRing ?? processRing(now))
  const sessions = sessionTools(auth, config, now)

  app.decorate('strictHandling', config.strictHandling)

  // Hooks run in the order of these registrations, before the handler of any route.
  // Pipelined requests of one connection start one after the other.
  app.addHook('onRequest', ({ raw }, reply, done) => connections.startInOrder(raw, reply.raw, done))
  // No connection outlives the answers that it waits for when the gateway ends.
  app.addHook('onRequest', ({ raw }, reply, done) => {
    if (deps.stopping?.aborted === true && raw.httpVersionMajor === 1) reply.header('connection', 'close')
    done()
  })
  app.addHook('preClose', (done) => {
    connections.endAfterAnswers(app.server)
    done()
  })
  // Every request has the address of its client.
  await app.register(clientAddresses, { trustedProxies: config.trustedProxies })
  // Every response has `X-Request-Id`, and `traceparent` if the request had one.
  await app.register(requestIdentity, { tracing: deps.tracing, trustedProxies: config.trustedProxies })
  // Every error becomes a problem document.
  await app.register(problemHandler, { problems })
  // Every request is one line of the log, and is counted.
  await app.register(requestLog, records)
  // A client with hundreds of connections leaves turns of the event loop to others.
  const turns = new Turns(() => (connections.opensSome ? BEGUN_BESIDE_CONNECTIONS : BEGUN_IN_A_TURN))
  // A head of 64 KiB may take 8 ms to read, and bodies take their time too.
  const largeRequests = new Turns(1)
  app.decorate('beginLarge', (request, begin) => largeRequests.begin(throttledAddress(clientAddress(request)), begin))
  app.addHook('onRequest', (request, _reply, done) => {
    const begin = hasLargeHead(request.raw) ? () => app.beginLarge(request, done) : done
    turns.begin(throttledAddress(clientAddress(request)), begin)
  })
  // Every response tells how long it took where a setting says so.
  if (config.serverTiming) await app.register(serverTiming)
  // The operator is warned of a proxy that is missing in TRUSTED_PROXIES.
  await app.register(untrustedProxyWarning, { trustedProxies: config.trustedProxies, log })
  // Every response has the headers that browsers need for safety.
  await app.register(securityHeaders, { strictTransport: config.strictTransport })
  // No cache stores a response that sets a cookie.
  await app.register(privateCookies)
  // Scripts of other origins may call the API where a setting says so.
  const { corsOrigins: origins, rateLimit: limit, maxEventLoopDelay } = config
  if (origins.length > 0) {
    await app.register(crossOrigin, { origins, exposedHeaders: RESPONSE_HEADERS, prefix: address.prefix })
  }
  // A client takes no more than its share, and the process takes no more than it can serve.
  const onRefusal: OnRefusal = (request, reply) => setHeadersOfRefusal(request, reply, { catalogue, address })
  if (limit !== undefined) await app.register(rateLimit, { limit, onRefusal })
  const { load: { unsentBounds: bounds, delay, clock } = {} } = deps
  await app.register(backPressure, { maxEventLoopDelay, log, onRefusal, memory, delay })
  const answers = new UnsentAnswers({ log, ...(bounds && { bounds }), ...(clock && { now: clock }) })
  deps.metrics?.countUnsent(answers)
  await app.register(boundUnsentAnswers, { answers, onRefusal })
  // Heads and bodies above the limits of the contract are rejected.
  await app.register(requestLimits)
  // Nothing but health is served before the data service has said what there is.
  await app.register(startUp, { isDescribed: () => catalogue.isDescribed })
  // Paths without a route are rejected.
  await app.register(rejectUnknownPaths)
  // Requests of the application's operations are told from those of resources before their route.
  await app.register(operationConstraint, { catalogue, address })
  // Requests for pages go to the renderer; whether a request is for a page is decided before its route.
  if (config.rendererUrl !== undefined) {
    const { rendererUrl, trustedProxies, rendererRefreshToken: withRefreshToken } = config
    const refresh = new HtmlRefresh(sessions, log)
    const session = pageSession(refresh, new AntiforgeryCheck(antiforgery, log), { withRefreshToken })
    await app.register(rendererProxy, { rendererUrl, catalogue, address, trustedProxies, session, log })
  }

  const isReady = (): boolean => deps.stopping?.aborted !== true && catalogue.isDescribed && data.isReachable()
  const pages = (deps.findPages ?? findPages)()
  if (pages === undefined) warnOfMissingPages(config, log)
  const texts = new KeptTexts()
  const documents = new Documents(catalogue, texts)
  const largeWrites = new LargeWrites()
  const entityDeps = { data, catalogue, address, largeWrites, now }
  await app.register(
    async (routes) => {
      // `/health`
      await routes.register(health, { isReady, isolated: () => catalogue.isolated })
      // `/problems`
      await routes.register(problemPages, { address, hasDocs: config.docsUi, texts })
      // `/openapi.json`
      await routes.register(openApi, {
        documents,
        address,
        features: {
          hasSignIn: config.openId !== undefined,
          hasAdmin: config.adminUi && pages !== undefined,
          hasDocs: config.docsUi,
          hasTryOut: config.docsUi && pages !== undefined
        },
        info: config.openApi,
        memory
      })
      // `/docs`
      if (config.docsUi) {
        await routes.register(docsRoutes, {
          documents,
          address,
          isRendered: config.rendererUrl !== undefined,
          hasSignIn: config.openId !== undefined,
          isPublic: config.docsPublic,
          pages
        })
      }
      // `/admin`
      if (config.adminUi && pages !== undefined) {
        const { adminUiRoles: roles } = config
        await routes.register(adminUi, { documents, address, pages, issuer: config.openId?.issuer, roles })
      }
      // `/mcp`
      if (config.mcp !== 'off') {
        // It is loaded only where there are agents.
        const { mcpRoutes } = await import('./mcp/mcp-routes.js')
        const writes = config.mcp === 'write'
        await routes.register(mcpRoutes, { writes, documents, catalogue, address, largeWrites, origins })
      }
      // `/.well-known/jwks.json`
      await routes.register(keySetRoute, { tools: sessions })
      // `/auth`: sessions of browsers, for pages of this site only.
      await routes.register(async (authScope) => {
        await authScope.register(ownSiteOnly, { address })
        await authScope.register(authRoutes, { tools: sessions })
        const { cookieSecure } = config
        await authScope.register(antiforgeryRoute, { tokens: antiforgery, tools: sessions, cookieSecure })
        if (config.openId !== undefined) {
          await loadOpenIdClient()
          const provider = new OpenIdProvider(config.openId, { log, now })
          await authScope.register(signInRoutes, { provider, tools: sessions, address, cookieSecure })
        }
      })
      // `GET /auth/one-time-link`: the page that shows a mail leads to it.
      await routes.register(oneTimeLinkPage)
      // `GET /auth/callback`: the site of the OpenID provider leads to it.
      if (config.openId !== undefined) await routes.register(callbackPageRoute, { address, log })
      // `/{resource}`: the entities.
      await routes.register(entityReads, entityDeps)
      await routes.register(entityWrites, entityDeps)
      await routes.register(entityImports, entityDeps)
      // The application's operations.
      await routes.register(operationRoutes, entityDeps)
      // All other methods at the paths of entities.
      await routes.register(entityMethods, entityDeps)
    },
    { prefix: address.prefix }
  )
  return app
}

/** Fastify on its server of HTTP or HTTPS, with what happens to connections and to bytes that are not HTTP. */
function createServer(
  deps: GatewayDeps,
  {
    address,
    problems,
    records,
    memory
  }: {
    readonly address: PublicAddress
    readonly problems: ProblemSender
    readonly records: RequestRecords
    readonly memory: MemoryGuard
  }
): { readonly app: FastifyInstance; readonly connections: ClientConnections } {
  const { config, log, certificates, newRequestId = randomUUID, timeouts = CONNECTION_TIMEOUTS } = deps
  const { strictTransport, trustedProxies, maxConnections } = config
  const openRequests = new OpenRequests(trustedProxies, deps.load?.unsentBounds)
  const malformed = new MalformedHttp({ address, log, newRequestId, strictTransport })
  const { refuseStream, refuseRequest } = malformed
  const ofConnections = { timeouts, maxConnections, trustedProxies, openRequests, refuseRequest }
  const connections = new ClientConnections({ ...ofConnections, memory, log, now: deps.load?.clock })
  deps.metrics?.countConnections(() => connections.count)
  // Below the level warn Fastify only repeats what main.ts logs at start.
  const loggerInstance: FastifyBaseLogger = log.isLevelEnabled('info') ? log.child({}, { level: 'warn' }) : log
  const http = { maxHeaderSize: PARSER_HEAD_BYTES, requireHostHeader: false, ...connections.serverOptions }
  const routable = new Set<string>()
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: () => loggerInstance,
    genReqId: (raw) => requestIdOf(raw.headers['x-request-id'], newRequestId),
    rewriteUrl: (raw) => {
      routeMethod(raw, routable)
      return routedTarget(raw.url ?? '/')
    },
    frameworkErrors: (error, request, reply) => {
      // Fastify skips all hooks for these errors, the one of the request log included.
      // Such a request has none of the members that are added to others.
      request.resourceName = ''
      request.report = undefined
      recordWhenClosed(records, request, reply)
      problems.send(error, request, reply.headers(safetyHeaders(strictTransport)))
    },
    clientErrorHandler: (error, socket) => {
      if (!connections.ignoresTimeout(error, socket)) malformed.onClientError(error, socket)
    },
    return503OnClosing: false,
    bodyLimit: MAX_BODY_BYTES,
    http,
    ...(certificates === undefined ? {} : { serverFactory: httpsServerFactory(certificates, http) }),
    routerOptions: { maxParamLength: PARSER_HEAD_BYTES, querystringParser: () => ({}) }
  })
  // Node keeps no further lines of a head then. Those that it has kept are more than the contract allows: 431.
  app.server.maxHeadersCount = MAX_HEADER_LINES
  if (certificates !== undefined) {
    const maxHeaderBytes = PARSER_HEAD_BYTES
    const ofRequests = { openRequests, connections, trustedProxies, refuseStream }
    const http2 = new Http2Listener(app.server, { certificates, maxHeaderBytes, timeouts, ...ofRequests })
    malformed.attachHttp2(http2.server)
    app.addHook('preClose', (done) => {
      http2.close(CLOSING_TIMEOUT)
      done()
    })
  }
  connections.attach(app.server)
  malformed.attach(app.server)
  if (config.rendererUrl !== undefined) addAllMethods(app)
  for (const method of app.supportedMethods) routable.add(method)
  app.removeContentTypeParser('text/plain')
  return { app, connections }
}
