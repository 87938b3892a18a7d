import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import { readGatewayConfig } from '../../../gateway/config.js'
import { LiveCatalogue } from '../../../gateway/data/catalogue.js'
import { PublicAddress } from '../../../gateway/http/public-address.js'
import type { PageSession } from '../../../gateway/renderer/destination.js'
import { rendererProxy, type RendererTimeouts } from '../../../gateway/renderer/renderer-proxy.js'
import { problemHandler, ProblemSender, rejectUnknownPaths } from '../../../gateway/server/problem-responses.js'
import { requestIdentity, requestLimits } from '../../../gateway/server/requests.js'
import { createLogger } from '../../../shared/logger.js'
import { FakeDataClient } from '../fake-data-client.js'

export interface ProxyingGateway extends AsyncDisposable {
  readonly app: FastifyInstance
  readonly url: string
}

/** Nobody is signed in, and every form is genuine. */
export const noSession: PageSession = {
  refresh: () => Promise.resolve(),
  cookiesOf: ({ headers }) => headers.cookie,
  checkAntiforgery: () => Promise.resolve()
}

/** The proxy with the plugins that it depends on, and one route of the gateway's own. */
export async function startProxying(
  rendererUrl: string,
  {
    session = noSession,
    timeouts,
    env = {}
  }: { session?: PageSession; timeouts?: RendererTimeouts; env?: Record<string, string> } = {}
): Promise<ProxyingGateway> {
  const { config } = readGatewayConfig({ RENDERER_URL: rendererUrl, ...env })
  const log = createLogger({ name: 'gateway', level: 'silent', destination: new Writable() })
  const catalogue = await LiveCatalogue.open(new FakeDataClient(), log, {
    signal: new AbortController().signal,
    isPublic: false
  })
  const address = new PublicAddress(config)
  const app = Fastify({ genReqId: () => randomUUID() })
  await app.register(requestIdentity)
  await app.register(problemHandler, { problems: new ProblemSender(address, log) })
  await app.register(requestLimits)
  await app.register(rejectUnknownPaths)
  const { trustedProxies } = config
  await app.register(rendererProxy, {
    rendererUrl,
    catalogue,
    address,
    trustedProxies,
    session,
    log,
    ...(timeouts === undefined ? {} : { timeouts })
  })
  app.get(`${address.prefix}/:resource`, () => 'gateway')
  app.get(`${address.prefix}/:resource/:id`, () => 'gateway')
  await app.listen({ host: '127.0.0.1', port: 0 })
  return { app, url: app.listeningOrigin, [Symbol.asyncDispose]: () => app.close() }
}
