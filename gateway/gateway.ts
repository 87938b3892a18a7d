import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { keepDataPrivate } from '../shared/files.js'
import { type Lifecycle, lifecycle, type Opened } from '../shared/lifecycle.js'
import type { Logger } from '../shared/logger.js'
import { openAdmin } from '../shared/observe/admin-server.js'
import { warnOfClearText } from '../shared/openid-settings.js'
import { openTracing, type Tracing } from '../shared/observe/tracing.js'
import { orStartError } from '../shared/start-error.js'
import { TlsCertificates } from '../shared/tls.js'
import { buildGateway, CLOSING_TIMEOUT } from './app.js'
import type { GatewayConfig } from './config.js'
import { GrpcAuthClient } from './data/auth-client.js'
import { LiveCatalogue } from './data/catalogue.js'
import { grpcDataClient } from './data/data-client.js'
import { openDataCredentials } from './data/replica.js'
import { ReplicaPool } from './data/replica-pool.js'
import { PublicAddress } from './http/public-address.js'
import { openKeyRing } from './key-ring/open-key-ring.js'
import { GatewayMetrics } from './observe/gateway-metrics.js'

/** What a gateway is given beside its settings. */
export interface GatewayRunDeps {
  readonly log: Logger
  /** Default: the clock of the machine. */
  readonly now?: () => Date
}

/**
 * The gateway. `address` is its URL for this machine, with the path of PUBLIC_BASE_URL. `start` resolves when a data
 * service has described itself, and rejects with a StartError for what an operator can mend.
 */
export function createGateway(settings: GatewayConfig, deps: GatewayRunDeps): Lifecycle {
  return lifecycle((opened, stopping) =>
    orStartError(openGateway({ settings, opened, stopping, now: () => new Date(), ...deps }), (why) => `${why}.`)
  )
}

interface GatewayStart extends Required<GatewayRunDeps> {
  readonly settings: GatewayConfig
  readonly opened: Opened
  readonly stopping: AbortSignal
}

/** Opens all parts in order, and answers where the gateway listens. */
async function openGateway(how: GatewayStart): Promise<string> {
  const { settings, log, now, opened, stopping } = how
  await keepDataPrivate(settings.dataDir, log)
  const certificates =
    settings.httpTls === undefined
      ? undefined
      : await TlsCertificates.open(settings.httpTls, { log, stopping, what: 'HTTPS' })
  warnOfClearText({ RENDERER_URL: settings.rendererUrl, OTEL_EXPORTER_OTLP_ENDPOINT: settings.traces?.url }, log)
  const pool = await openPool(how)
  const data = grpcDataClient(pool, { log })
  const catalogue = new LiveCatalogue(data, log, { signal: stopping, isPublic: settings.docsPublic })
  const isReady = (): boolean => isOpen && !stopping.aborted && catalogue.isDescribed && data.isReachable()
  let isOpen = false
  const isolated = (): ReadonlyMap<string, string> => catalogue.isolated
  const { metrics, tracing } = await openGatewayObservation({ ...how, pool, isReady, isolated })
  log.info({ addresses: settings.dataServiceAddresses }, 'asking the data service for its catalogue')
  // The port is opened meanwhile, for requests for health.
  const described = catalogue.describe().catch((error: unknown) => {
    if (!stopping.aborted) throw error
  })
  const keyRing = opened.add(await openKeyRing(settings.keyRing, { log, now }), (ring) => ring.close())
  const address = new PublicAddress(settings)
  const app = await buildGateway({
    config: settings,
    data,
    auth: new GrpcAuthClient(pool),
    catalogue,
    log,
    keyRing: keyRing.ring,
    address,
    certificates,
    stopping,
    now,
    metrics,
    tracing
  })
  opened.add(app, () => closeApp(app, settings.drainTime, log))
  await app.listen({ host: settings.host === 'localhost' ? '127.0.0.1' : settings.host, port: settings.port })
  isOpen = true
  const url = address.listening(app)
  if (!catalogue.isDescribed) {
    log.info({ url }, 'health is told on the public port; other requests wait for the catalogue')
  }
  // `stop` ends the wait too: then the signal is aborted.
  await described
  if (!stopping.aborted) log.info({ url, publicBaseUrl: address.base }, 'listening')
  return url
}

/** The connections to the data services. */
async function openPool({ settings, log, opened, stopping }: GatewayStart): Promise<ReplicaPool> {
  const credentials = await openDataCredentials(settings.grpc, { log, stopping })
  const unaryOnly = settings.dataServiceCalls === 'unary'
  const pool = new ReplicaPool({ addresses: settings.dataServiceAddresses, credentials, unaryOnly, log })
  return opened.add(pool, () => pool.close())
}

/** Traces, metrics and the admin port, which answers while everything else starts. */
async function openGatewayObservation({
  settings,
  log,
  opened,
  pool,
  isReady,
  isolated
}: GatewayStart & { readonly pool: ReplicaPool } & Pick<
    Parameters<typeof openAdmin>[0],
    'isReady' | 'isolated'
  >): Promise<{
  readonly metrics: GatewayMetrics | undefined
  readonly tracing: Tracing | undefined
}> {
  const metrics = settings.admin && new GatewayMetrics(() => pool.states())
  const admin = await openAdmin({ address: settings.admin, metrics, isReady, isolated, log })
  opened.add(admin, () => admin?.close())
  const tracing = settings.traces && (await openTracing(settings.traces, { service: 'gateway', log }))
  opened.add(tracing, () => tracing?.close())
  return { metrics, tracing }
}

/** Lets load balancers notice, then lets running requests end, and closes what is left after CLOSING_TIMEOUT. */
async function closeApp(app: FastifyInstance, drainTime: number, log: Logger): Promise<void> {
  if (drainTime > 0) {
    log.info({ drainTimeMs: drainTime }, 'draining')
    await pause(drainTime)
  }
  log.info('closing')
  const timer = setTimeout(() => app.server.closeAllConnections(), CLOSING_TIMEOUT)
  await app.close()
  clearTimeout(timer)
}
