import { Server as TlsServer } from 'node:tls'
import type { FastifyInstance } from 'fastify'
import { buildGateway, type GatewayDeps } from '../../gateway/app.js'
import { readGatewayConfig } from '../../gateway/config.js'
import { LiveCatalogue } from '../../gateway/data/catalogue.js'
import type { Resource } from '../../gateway/data/data-client.js'
import { TlsCertificates } from '../../shared/tls.js'
import { described, FakeDataClient } from './fake-data-client.js'
import { FakeAuthClient } from './session/fake-auth-client.js'
import { memoryLog } from '../harness/memory-log.js'

/** A gateway before a data service in memory. */
export interface GatewayFixture {
  readonly app: FastifyInstance
  readonly data: FakeDataClient
  readonly auth: FakeAuthClient
  readonly catalogue: LiveCatalogue
  /** Every log line so far. */
  readonly lines: Record<string, unknown>[]
  /** All that was logged so far, as it was written. */
  logText(): string
  close(): Promise<void>
}

const NOW = new Date('2031-02-03T04:05:06.789Z')

export async function startGateway(
  environment: Readonly<Record<string, string>> = {},
  resources?: Resource[],
  {
    timeouts,
    metrics,
    load,
    findPages,
    now = () => NOW
  }: Partial<Pick<GatewayDeps, 'timeouts' | 'now' | 'metrics' | 'load' | 'findPages'>> = {}
): Promise<GatewayFixture> {
  // What the test computes shares the event loop and would make the gateway late.
  const { config } = readGatewayConfig({ GATEWAY_PORT: '0', MAX_EVENT_LOOP_DELAY: '0s', ...environment })
  const { log, lines, text: logText } = memoryLog()
  const data = new FakeDataClient()
  const auth = new FakeAuthClient(now)
  if (resources !== undefined) data.catalogue = described(resources)
  const stopping = new AbortController()
  const catalogue = await LiveCatalogue.open(data, log, { signal: stopping.signal, isPublic: config.docsPublic })
  const { httpTls } = config
  const certificates =
    httpTls === undefined
      ? undefined
      : await TlsCertificates.open(httpTls, { log, what: 'HTTPS', stopping: stopping.signal, every: 50 })
  const app = await buildGateway({
    config,
    data,
    auth,
    catalogue,
    log,
    now,
    certificates,
    metrics,
    load,
    ...(timeouts === undefined ? {} : { timeouts }),
    ...(findPages === undefined ? {} : { findPages })
  })
  await app.ready()
  return {
    app,
    data,
    auth,
    catalogue,
    lines,
    logText,
    async close() {
      stopping.abort()
      await app.close()
    }
  }
}

/** Listens on a free port of the loopback and answers the origin. */
export async function listen({ app }: GatewayFixture): Promise<string> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  // Fastify does not look at the kind of a server that it is given.
  return app.server instanceof TlsServer ? app.listeningOrigin.replace('http:', 'https:') : app.listeningOrigin
}
