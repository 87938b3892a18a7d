import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { keepDataPrivate } from '../shared/files.js'
import { createLogger, type Logger, logGrpc } from '../shared/logger.js'
import { openAdmin } from '../shared/observe/admin-server.js'
import { type Environment, help, readArguments } from '../shared/settings.js'
import { openTracing } from '../shared/observe/tracing.js'
import { orStartError } from '../shared/start-error.js'
import { serverCredentials, TlsCertificates } from '../shared/tls.js'
import { pooledBytes } from './entity/fields/row-version.js'
import type { Application } from './application.js'
import { openAuthentication } from './auth/authentication.js'
import { permissionsIn, permissionsOf } from './auth/tokens/claims.js'
import { type DataServiceConfig, readConfig } from './config.js'
import { asksForOwner } from './entity/validation/validate-access.js'
import { checkCatalogue } from './entity/validation/validate.js'
import { type OpenStores, openStores } from './open-stores.js'
import { explaining } from './sql/connect.js'
import { traceStatements } from './observe/call-scope.js'
import { DataServiceMetrics, type DataServiceSources } from './observe/data-service-metrics.js'
import { OutboxDispatcher } from './outbox/dispatcher.js'
import { makeCatalogue } from './plan/model/catalogue.js'
import { type Expiring, purgeExpired } from './purge-expired.js'
import { exportSemaphore } from './rpc/export.js'
import { gatewayPeers } from './rpc/transport/interceptors.js'
import { describedPackage } from './rpc/typed-calls.js'
import { buildDataService } from './rpc/service.js'
import type { WriteDeps } from './rpc/write-steps.js'
import type { TypedPackage } from './typed-services/typed-package.js'

/** Milliseconds for running calls to finish when the process stops. */
const DRAIN_TIMEOUT = 10_000

/**
 * The data service as a process: it serves the application until SIGTERM or SIGINT. `args` are `--print-config` or
 * `--help`. If it cannot start it throws a StartError, SettingsError, ArgumentError or CatalogueError; anything else that
 * it throws is a defect.
 */
export async function startDataService(
  application: Application,
  {
    environment,
    args,
    awaitMigrations = false,
    hasReplicas = true
  }: {
    readonly environment: Environment
    readonly args: readonly string[]
    /** Whether pending migrations are waited for, and not run: somebody is to read them first. */
    readonly awaitMigrations?: boolean
    /** Whether another data service may serve the same gateways, which are then told of the end before it begins. */
    readonly hasReplicas?: boolean
  }
): Promise<void> {
  const task = readArguments(args)
  if (task === 'help') {
    process.stdout.write(help('data-service'))
    return
  }
  const { config, effective } = readConfig(environment, application)
  if (task === 'print-config') {
    process.stdout.write(`${effective}\n`)
    return
  }
  const { roles, sample, operations, outbox: handlers = [] } = application
  const hasSecondStore = application.secondStore !== undefined
  checkCatalogue(application.entities, { permissions: permissionsIn(roles), hasSecondStore, operations, handlers })
  const stopping = new AbortController()
  const stopped: Promise<readonly unknown[]> = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')])
  const endOfWait = new AbortController()
  void stopped.then(() => endOfWait.abort())
  const log = createLogger({ name: 'data-service', level: config.logLevel })
  logGrpc(log)
  await keepDataPrivate(config.dataDir, log)
  if (config.sampleData) {
    log.warn(
      sample === undefined
        ? 'SAMPLE_DATA is on, and the application has no sample'
        : 'SAMPLE_DATA is on: the sample accounts of the documentation exist, and their password is public'
    )
  }
  const owned = application.entities.filter(asksForOwner).map(({ name }) => name)
  if (config.ownership.bypassRole === undefined && owned.length > 0) {
    log.warn({ resources: owned }, 'OWNER_BYPASS_ROLE is not set: requests for rows of owners are answered 500')
  }
  const tracing = config.traces && (await openTracing(config.traces, { service: 'data-service', log }))
  if (tracing !== undefined) traceStatements(tracing)
  let isReady = (): boolean => false
  let sources = (): DataServiceSources | undefined => undefined
  const metrics = config.admin && new DataServiceMetrics(() => sources())
  const admin = await openAdmin({ address: config.admin, metrics, isReady: () => isReady(), log })
  const { grpc } = config
  if (grpc.gatewaySecret === undefined && (grpc.tls?.clientAuth ?? 'none') === 'none') {
    log.warn(
      'neither GATEWAY_SECRET nor GRPC_TLS_CLIENT_AUTH is set: no caller is known as a gateway, and each log-in is ' +
        'counted under the address of whoever opened the connection'
    )
  }
  const certificates =
    grpc.tls === undefined
      ? undefined
      : await orStartError(
          TlsCertificates.open(grpc.tls, { log, stopping: stopping.signal, what: 'gRPC server' }),
          (why) => `the certificates of gRPC cannot be used: ${why}. See the GRPC_TLS_ settings.`
        )
  const authentication = await orStartError(
    openAuthentication(config, {
      permissionsOf: permissionsOf(roles),
      sampleAccounts: sample,
      log,
      stopping: stopping.signal
    }),
    (why) =>
      `the signing key cannot be read or made: ${why}. See DATA_DIR (${config.dataDir}) and JWT_PRIVATE_KEY_FILE.`
  )
  // Nothing is emitted before the service listens.
  const onEmitted = (): void => dispatcher.wake()
  const stores = await openStores(config, application, {
    log,
    stopping: stopping.signal,
    onEmitted,
    awaitMigrations: awaitMigrations ? endOfWait.signal : undefined
  })
  // The accounts of a sample are made here.
  const authDeps = await explaining(config.databases.primary, () => authentication.connect(stores.auth))
  const { ownership, maxPageSize, maxExportRows } = config
  const planning = { catalogue: makeCatalogue(stores.entities), ownership, maxPageSize, maxExportRows }
  const writeDeps: WriteDeps = {
    planning,
    store: stores.write,
    idempotency: config.idempotency,
    now: Date.now,
    randomBytes: pooledBytes(randomBytes),
    newGuid: randomUUID
  }
  const { random } = Math
  const outbox = { store: stores.outbox, writeDeps, settings: config.outbox, log, random }
  const dispatcher = new OutboxDispatcher(handlers, outbox)
  const exports = exportSemaphore()
  const service = buildDataService({
    readDeps: { planning, store: stores.read, exports },
    writeDeps,
    authDeps,
    operations,
    typedServices: typedServicesOf(application, log),
    interceptors: {
      identify: authentication.identify,
      isGateway: gatewayPeers({ secret: grpc.gatewaySecret, name: grpc.gatewayName }, { log, now: Date.now }),
      log,
      newRequestId: randomUUID,
      metrics,
      tracing
    },
    reflection: config.reflection,
    credentials: serverCredentials(certificates, grpc.tls?.clientAuth ?? 'none')
  })
  const port = await orStartError(
    service.listen(config.address),
    (why) => `cannot listen on DATA_SERVICE_ADDRESS (${config.address}): ${why}.`
  )
  isReady = () => service.isServing
  sources = () => ({
    pools: stores.pools,
    statements: () => stores.statementUse,
    isDatabaseServing: () => stores.health.isServing,
    streams: () => service.streams,
    exports: () => exports.state
  })
  service.setServing(stores.health.isServing)
  stores.health.onChange((isServing) => {
    if (isServing) log.info('the primary database serves again')
    else log.error('the primary database cannot serve: health is NOT_SERVING until it does')
    service.setServing(isServing)
  })
  const purging = Promise.all(
    expiringIn(stores, config).map((one) => purgeExpired(one, { now: Date.now, log, stopping: stopping.signal }))
  )
  dispatcher.start()
  log.info({ address: `${config.address.slice(0, config.address.lastIndexOf(':'))}:${port}` }, 'listening')

  const [signal] = await stopped
  log.info({ signal }, 'stopping')
  stopping.abort()
  await Promise.all([service.drain({ timeout: DRAIN_TIMEOUT, hasReplicas }), dispatcher.stop(DRAIN_TIMEOUT)])
  await purging
  await stores.close()
  await tracing?.close()
  await admin?.close()
  log.info('stopped')
}

function typedServicesOf(application: Application, log: Logger): TypedPackage | undefined {
  const { typedServices } = application
  if (typedServices === undefined) return undefined
  const typed = describedPackage(application, typedServices)
  if (!typed.isLocked) {
    log.warn(
      { package: typedServices.package },
      'proto.lock.json is not that of the entities: run `uniform-rest proto`, or new fields may get other numbers later'
    )
  }
  return typed
}

function expiringIn({ write, auth, outbox }: OpenStores, config: DataServiceConfig): Expiring[] {
  return [
    { what: 'idempotency keys', purge: (now, limit) => write.purgeKeys(now, limit) },
    { what: 'log-in attempts', purge: (now, limit) => auth.purgeAttempts(now, limit) },
    { what: 'sessions', purge: (now, limit) => auth.purgeSessions(now, limit) },
    { what: 'used refresh tokens', purge: (now, limit) => auth.purgeUsedTokens(now, limit) },
    {
      what: 'delivered entries of the outbox',
      purge: (now, limit) => outbox.purge(now - config.outbox.retention, limit)
    }
  ]
}
