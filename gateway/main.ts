import { healthPages, startAdminServer } from '../shared/admin-server.js'
import { keepDataPrivate } from '../shared/files.js'
import { createLogger, logGrpc } from '../shared/logger.js'
import { ArgumentError, help, readArguments, SettingsError } from '../shared/settings.js'
import { TlsCertificates } from '../shared/tls.js'
import { buildGateway, CLOSING_TIME } from './app.js'
import { type GatewayConfig, readGatewayConfig } from './config.js'
import { GrpcAuthClient } from './data/auth-client.js'
import { Catalogue } from './data/catalogue.js'
import { openDataCredentials } from './data/replica.js'
import { GrpcDataClient } from './data/data-client.js'
import { ReplicaPool } from './data/replica-pool.js'
import { PublicAddress } from './http/public-address.js'
import { openKeyRing } from './key-ring/open-key-ring.js'

async function serve(config: GatewayConfig): Promise<void> {
  const log = createLogger({ name: 'gateway', level: config.logLevel })
  logGrpc(log)
  await keepDataPrivate(config.dataDir, log)
  const stopping = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stopping.abort())

  const certificates =
    config.httpTls === undefined
      ? undefined
      : await TlsCertificates.open(config.httpTls, { log, stopping: stopping.signal, what: 'HTTPS' })
  const credentials = await openDataCredentials(config.grpc, { log, stopping: stopping.signal })
  let isReady = (): boolean => false
  const pages = healthPages(() => isReady())
  const admin = config.admin === undefined ? undefined : await startAdminServer(config.admin, pages)
  if (admin !== undefined) log.info({ port: admin.port }, 'health is told on the admin port')
  const replicas = new ReplicaPool({ addresses: config.dataServiceAddresses, credentials, log })
  const data = new GrpcDataClient(replicas)
  const auth = new GrpcAuthClient(replicas)
  try {
    log.info({ addresses: config.dataServiceAddresses }, 'asking the data service for its catalogue')
    const catalogue = await Catalogue.open(data, log, stopping.signal)
    const keyRing = await openKeyRing(config.keyRing, log)
    const address = new PublicAddress(config)
    const common = { config, data, auth, catalogue, log, keyRing: keyRing.ring, address }
    const app = await buildGateway({ ...common, certificates, stopping: stopping.signal })
    await app.listen({ host: config.host === 'localhost' ? '127.0.0.1' : config.host, port: config.port })
    isReady = () => !stopping.signal.aborted && data.isReachable()
    log.info({ url: address.listening(app), publicBaseUrl: address.base }, 'listening')
    await aborted(stopping.signal)
    log.info('closing')
    setTimeout(() => app.server.closeAllConnections(), CLOSING_TIME).unref()
    await app.close()
    keyRing.close()
  } catch (error) {
    if (!stopping.signal.aborted) throw error
  } finally {
    replicas.close()
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

async function main(): Promise<void> {
  const task = readArguments(process.argv.slice(2))
  if (task === 'help') {
    process.stdout.write(help('dist/gateway/main.js'))
    return
  }
  const { config, effective } = readGatewayConfig(process.env)
  if (task === 'print-config') process.stdout.write(`${effective}\n`)
  else await serve(config)
}

try {
  await main()
} catch (error) {
  const told = error instanceof SettingsError || error instanceof ArgumentError
  process.stderr.write(`${told ? error.message : `Cannot start: ${String(error)}`}\n`)
  process.exitCode = 1
}
