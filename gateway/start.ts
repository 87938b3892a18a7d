import { setTimeout as pause } from 'node:timers/promises'
import { keepDataPrivate } from '../shared/files.js'
import { createLogger, logGrpc } from '../shared/logger.js'
import { openAdmin } from '../shared/observe/admin-server.js'
import { type Environment, help, readArguments } from '../shared/settings.js'
import { openTracing } from '../shared/observe/tracing.js'
import { orStartError } from '../shared/start-error.js'
import { TlsCertificates } from '../shared/tls.js'
import { buildGateway, CLOSING_TIMEOUT } from './app.js'
import { type GatewayConfig, readGatewayConfig } from './config.js'
import { GrpcAuthClient } from './data/auth-client.js'
import { Catalogue } from './data/catalogue.js'
import { grpcDataClient } from './data/data-client.js'
import { openDataCredentials } from './data/replica.js'
import { ReplicaPool } from './data/replica-pool.js'
import { PublicAddress } from './http/public-address.js'
import { openKeyRing } from './key-ring/open-key-ring.js'
import { GatewayMetrics, type ReplicaState } from './observe/gateway-metrics.js'

/**
 * The gateway as a process: it serves until SIGTERM or SIGINT. `args` are `--print-config` or `--help`. If it cannot start
 * it throws a StartError, SettingsError or ArgumentError.
 */
export async function startGateway({
  environment,
  args
}: {
  readonly environment: Environment
  readonly args: readonly string[]
}): Promise<void> {
  const task = readArguments(args)
  if (task === 'help') {
    process.stdout.write(help('gateway'))
    return
  }
  const { config, effective } = readGatewayConfig(environment)
  if (task === 'print-config') process.stdout.write(`${effective}\n`)
  else await orStartError(serve(config), (why) => `${why}.`)
}

/** Runs until the process receives SIGTERM or SIGINT. */
async function serve(config: GatewayConfig): Promise<void> {
  const log = createLogger({ name: 'gateway', level: config.logLevel })
  logGrpc(log)
  await keepDataPrivate(config.dataDir, log)
  const stop = new AbortController()
  const stopping = stop.signal
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort())

  const certificates =
    config.httpTls === undefined
      ? undefined
      : await TlsCertificates.open(config.httpTls, { log, stopping, what: 'HTTPS' })
  const credentials = await openDataCredentials(config.grpc, { log, stopping })
  const tracing = config.traces && (await openTracing(config.traces, { service: 'gateway', log }))
  let isReady = (): boolean => false
  let replicas = (): readonly ReplicaState[] => []
  const metrics = config.admin && new GatewayMetrics(() => replicas())
  const admin = await openAdmin({ address: config.admin, metrics, isReady: () => isReady(), log })
  const unaryOnly = config.dataServiceCalls === 'unary'
  const pool = new ReplicaPool({ addresses: config.dataServiceAddresses, credentials, unaryOnly, log })
  replicas = () => pool.states()
  const data = grpcDataClient(pool)
  const auth = new GrpcAuthClient(pool)
  try {
    log.info({ addresses: config.dataServiceAddresses }, 'asking the data service for its catalogue')
    const catalogue = new Catalogue(data, log, stopping)
    // The port is opened meanwhile, for those who ask for health.
    const described = catalogue.describe().catch((error: unknown) => {
      if (!stopping.aborted) throw error
    })
    const keyRing = await openKeyRing(config.keyRing, log)
    const address = new PublicAddress(config)
    const deps = {
      config,
      data,
      auth,
      catalogue,
      log,
      keyRing: keyRing.ring,
      address,
      certificates,
      stopping,
      metrics,
      tracing
    }
    const app = await buildGateway(deps)
    await app.listen({ host: config.host === 'localhost' ? '127.0.0.1' : config.host, port: config.port })
    isReady = () => !stopping.aborted && catalogue.isDescribed && data.isReachable()
    const url = address.listening(app)
    if (!catalogue.isDescribed)
      log.info({ url }, 'health is told on the public port; other requests wait for the catalogue')
    await Promise.race([described, aborted(stopping)])
    // From here on requests are served.
    if (!stopping.aborted) log.info({ url, publicBaseUrl: address.base }, 'listening')
    await aborted(stopping)
    if (config.drainTime > 0) {
      log.info({ drainTimeMs: config.drainTime }, 'draining')
      await pause(config.drainTime)
    }
    log.info('closing')
    setTimeout(() => app.server.closeAllConnections(), CLOSING_TIMEOUT).unref()
    await app.close()
    keyRing.close()
  } catch (error) {
    if (!stopping.aborted) throw error
  } finally {
    // Where the port could not be had, nobody is to wait for the catalogue any longer.
    stop.abort()
    pool.close()
    await tracing?.close()
    await admin?.close()
  }
  log.info('closed')
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
