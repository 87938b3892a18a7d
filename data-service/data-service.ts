import { randomBytes, randomUUID } from 'node:crypto'
import { keepDataPrivate } from '../shared/files.js'
import type { DescribeResponse } from '../shared/gen/entity/v1/DescribeResponse.js'
import { isLoopback } from '../shared/ip-address.js'
import { type Lifecycle, lifecycle, type Opened } from '../shared/lifecycle.js'
import type { Logger } from '../shared/logger.js'
import { openAdmin } from '../shared/observe/admin-server.js'
import { openTracing, type Tracing } from '../shared/observe/tracing.js'
import { warnOfClearText } from '../shared/openid-settings.js'
import { loadOptional } from '../shared/optional-package.js'
import { orStartError } from '../shared/start-error.js'
import { serverCredentials, TlsCertificates } from '../shared/tls.js'
import { pooledBytes } from './entity/fields/row-version.js'
import type { ServedApplication } from './application.js'
import { accountRoles } from './auth/administration.js'
import { openAuthentication } from './auth/authentication.js'
import { permissionsIn, permissionsOf } from './auth/tokens/claims.js'
import type { DataServiceConfig } from './config.js'
import { asksForOwner } from './entity/validation/validate-access.js'
import { permissionsBesideRowScopes } from './entity/validation/validate-writes.js'
import { checkCatalogue } from './entity/validation/validate.js'
import { type OpenStores, openStores } from './open-stores.js'
import type { SchemaAtStart } from './schema-at-start.js'
import { explaining } from './sql/connect.js'
import { locateDatabase } from './sql/engines.js'
import { logStatements, traceStatements } from './observe/call-scope.js'
import { statementLog } from './observe/statement-log.js'
import { DataServiceMetrics, type DataServiceSources } from './observe/data-service-metrics.js'
import { mailHandler } from './outbox/mail-delivery.js'
import { Outbox, storedTypes } from './outbox/outbox.js'
import { makeCatalogue } from './plan/model/catalogue.js'
import { type Expiring, purgeExpired } from './purge-expired.js'
import { LINK_LIFETIME, withLinkSecrets } from './auth/one-time-links.js'
import { accountCalls } from './operations/calls/account-calls.js'
import { ACCOUNTS_SEGMENT, operationsOf } from './operations/calls/account-operations.js'
import { describeCatalogue } from './operations/describe/describe.js'
import { exportSemaphore } from './operations/export.js'
import { ReadShares } from './operations/fair-shares.js'
import { GuessCounts } from './operations/writes/guess-counts.js'
import { AccountLimit } from './rpc/account-limit.js'
import { gatewayPeers } from './rpc/transport/interceptors.js'
import { packageOf } from './rpc/typed-calls.js'
import { buildDataService } from './rpc/service.js'
import { WriteShares } from './operations/writes/write-shares.js'
import type { WriteDeps } from './operations/writes/write-steps.js'
import type { TypedPackage } from './typed-services/typed-package.js'
import { warnOfUntested } from './untested-packages.js'

/** Milliseconds for running calls to finish when the service stops. */
const DRAIN_TIMEOUT = 10_000

/** gRPC reflection is off in most services, and its package is optional. */
async function loadReflection() {
  const of = { neededBy: 'GRPC_REFLECTION', packages: ['@grpc/reflection'] }
  const { ReflectionService } = await loadOptional(of, () => import('@grpc/reflection'))
  return ReflectionService
}

/** What a data service is given beside its application and its settings. */
export interface DataServiceDeps {
  /** `schemaAtStart` of the application. */
  readonly schema: SchemaAtStart
  readonly log: Logger
  /** Whether it waits for pending migrations and does not run them, because a person reads them first. Default: false. */
  readonly awaitMigrations?: boolean
  /** Whether another data service may serve the same gateways. They then learn of the end before it begins. Default: true. */
  readonly hasReplicas?: boolean
  /** Epoch milliseconds. Default: the clock of the machine. */
  readonly now?: () => number
  /** From 0 up to 1. Default: Math.random. */
  readonly random?: () => number
  /** Milliseconds between two rounds that delete what has expired. Default: a minute. */
  readonly purgeEvery?: number
  /** Milliseconds between two looks at tables of others: whether they fit the entities. Default: a minute. */
  readonly lookEvery?: number
  /** Milliseconds of one delivery to a webhook. Default: 10 seconds. */
  readonly webhookTimeout?: number
}

/**
 * The data service of an application. `address` is the `host:port` of gRPC. Throws a CatalogueError for mistakes in
 * entities; `start` rejects with a StartError for what an operator can mend, and anything else is a defect.
 */
export function createDataService(
  application: ServedApplication,
  settings: DataServiceConfig,
  deps: DataServiceDeps
): Lifecycle {
  const { entities, roles, owners, operations, outbox } = application
  const hasSecondStore = application.secondStore !== undefined
  checkCatalogue(entities, { permissions: permissionsIn(roles), hasSecondStore, owners, operations, outbox })
  return lifecycle((opened, stopping) => openAndListen({ application, settings, deps, opened, stopping }))
}

interface Starting {
  readonly application: ServedApplication
  readonly settings: DataServiceConfig
  readonly deps: DataServiceDeps
  readonly opened: Opened
  readonly stopping: AbortSignal
}

/** Opens all parts in order, and answers where the service listens. */
async function openAndListen(how: Starting): Promise<string> {
  const { application, settings, deps, opened, stopping } = how
  const { log, now = Date.now, random = Math.random } = deps
  await keepDataPrivate(settings.dataDir, log)
  warnOfUntested(settings.databases, log)
  warnOfSettings(application, settings, log)
  const observed = await openObservation(how)
  const credentials = await openCredentials(settings, { log, stopping })
  const authentication = await orStartError(
    openAuthentication(settings, {
      permissionsOf: permissionsOf(application.roles),
      sampleAccounts: application.sample,
      log,
      now,
      stopping
    }),
    (why) =>
      `the signing key cannot be read or made: ${why}. See DATA_DIR (${settings.dataDir}) and JWT_PRIVATE_KEY_FILE.`
  )
  const stores = await openStores(settings, application, {
    schema: deps.schema,
    log,
    opened,
    stopping,
    random,
    // No event is emitted before the service listens.
    onEmitted: () => outbox.wake(),
    awaitMigrations: deps.awaitMigrations ?? false,
    lookEvery: deps.lookEvery
  })
  // This makes the accounts of a sample.
  const authDeps = await explaining(settings.databases.primary, () => authentication.connect(stores.auth))
  const { ownership, maxPageSize, maxExportRows, idempotency } = settings
  const planning = {
    catalogue: makeCatalogue(stores.entities, stores.fit.isolated),
    ownership,
    maxPageSize,
    maxExportRows,
    auditTrail: stores.auditTrail
  }
  const { mail } = settings
  const targets = [...(application.outbox ?? []), ...(mail === undefined ? [] : [await mailHandler(mail)])]
  const operations = operationsOf(application, () => {
    log.warn(`the application has /${ACCOUNTS_SEGMENT} itself: accounts are managed by commands alone`)
  })
  const describeTo = describeCatalogue(planning.catalogue, ownership, operations)
  const writeDeps: WriteDeps = {
    planning,
    shares: new WriteShares(stores.write, { connections: settings.databasePoolSize, memory: stores.memory }),
    idempotency,
    guesses: new GuessCounts(now),
    now,
    randomBytes: pooledBytes(randomBytes),
    newGuid: randomUUID,
    storedTypes: storedTypes(targets, settings.outbox.webhooks)
  }
  const exports = exportSemaphore()
  const outbox = new Outbox(withLinkSecrets(targets, authDeps), {
    store: stores.outbox,
    writeDeps,
    settings: settings.outbox,
    webhooks: settings.outbox.webhooks,
    privateNetworks: settings.outbox.privateNetworks,
    deliveryTimeout: deps.webhookTimeout,
    log,
    random,
    ended: (type, outcome) => observed.metrics?.delivered(type, outcome)
  })
  const { gatewaySecret: secret, gatewayName: name } = settings.grpc
  const shares = new ReadShares(stores.memory)
  const service = buildDataService({
    readDeps: { planning, store: stores.read, exports, shares },
    writeDeps,
    authDeps,
    describeTo,
    isolated: stores.fit.isolated,
    operations,
    accounts: accountCalls({
      authDeps,
      permissionsOf: permissionsOf(application.roles),
      roles: accountRoles(application.roles, ownership.bypassRole),
      bypassRole: ownership.bypassRole,
      ownerClaimType: ownership.claimType,
      owners: ownership.owners ?? {}
    }),
    typedServices: typedServicesOf(
      application,
      () => describeCatalogue(planning.catalogue, ownership, application.operations)('gateway'),
      log
    ),
    interceptors: {
      identify: authentication.identify,
      isGateway: gatewayPeers({ secret, name }, { log, now }),
      knowsGateways: knowsGateways(settings),
      log,
      newRequestId: randomUUID,
      accountLimit: settings.accountLimit && new AccountLimit(settings.accountLimit, () => performance.now()),
      metrics: observed.metrics,
      tracing: observed.tracing,
      unforeseen: (resource) => stores.fit.failed(resource)
    },
    reflection: settings.reflection ? await loadReflection() : undefined,
    credentials
  })
  const rounds = { now, log, stopping, ...(deps.purgeEvery === undefined ? {} : { every: deps.purgeEvery }) }
  const purging = Promise.all(expiringIn(stores, settings).map((one) => purgeExpired(one, rounds)))
  opened.add('purging', () => purging)
  const { hasReplicas = true } = deps
  opened.add(service, () =>
    Promise.all([service.drain({ timeout: DRAIN_TIMEOUT, hasReplicas }), outbox.stop(DRAIN_TIMEOUT)])
  )
  const port = await orStartError(
    service.listen(settings.address),
    (why) => `cannot listen on DATA_SERVICE_ADDRESS (${settings.address}): ${why}.`
  )
  observed.serving({ service, stores, exports, shares, writes: writeDeps.shares })
  followHealth(stores, service, log)
  outbox.start()
  const address = `${settings.address.slice(0, settings.address.lastIndexOf(':'))}:${port}`
  log.info({ address }, 'listening')
  return address
}

/** Whether a gateway can prove to be one. */
function knowsGateways({ grpc }: DataServiceConfig): boolean {
  return grpc.gatewaySecret !== undefined || (grpc.tls?.clientAuth ?? 'none') !== 'none'
}

/** Lines of the log about settings that an operator may have forgotten. */
export function warnOfSettings(application: ServedApplication, settings: DataServiceConfig, log: Logger): void {
  if (settings.sampleData) {
    log.warn(
      application.sample === undefined
        ? 'SAMPLE_DATA is on, and the application has no sample'
        : 'SAMPLE_DATA is on: the sample accounts of the documentation exist, and their password is public'
    )
  }
  const resources = application.entities.filter(asksForOwner).map(({ name }) => name)
  if (settings.ownership.bypassRole === undefined && resources.length > 0) {
    log.warn({ resources }, 'OWNER_BYPASS_ROLE is not set: requests for rows of owners are answered 500')
  }
  for (const note of permissionsBesideRowScopes(application.entities)) log.info(note)
  const { address, traces, databases } = settings
  if (locateDatabase(databases.primary.url).isEmbedded && !isLoopback(address.replace(/:\d+$/, ''))) {
    log.warn(
      { address },
      'an embedded database serves more than this machine: long reads wait for one another, and writes take turns ' +
        '(docs/production.md)'
    )
  }
  for (const { setting, url } of [databases.primary, ...(databases.second === undefined ? [] : [databases.second])]) {
    if (!locateDatabase(url).isClearText) continue
    log.warn(
      { setting },
      'the database is reached over a network in clear text: passwords and rows can be read. Say ssl=true'
    )
  }
  warnOfClearText({ OTEL_EXPORTER_OTLP_ENDPOINT: traces?.url }, log)
  if (!knowsGateways(settings)) {
    log.warn(
      'neither GATEWAY_SECRET nor GRPC_TLS_CLIENT_AUTH is set: no caller is known as a gateway, and each log-in is ' +
        'counted under the address of whoever opened the connection'
    )
  }
}

type BuiltService = ReturnType<typeof buildDataService>

interface ServingParts {
  readonly service: BuiltService
  readonly stores: OpenStores
  readonly exports: ReturnType<typeof exportSemaphore>
  readonly shares: ReadShares
  readonly writes: WriteShares
}

interface Observation {
  readonly tracing: Tracing | undefined
  readonly metrics: DataServiceMetrics | undefined
  /** To be called when the service listens: health and metrics then show its parts. */
  serving(parts: ServingParts): void
}

function metricSources({ service, stores, exports, shares, writes }: ServingParts): DataServiceSources {
  return {
    pools: stores.pools,
    statements: () => stores.statementUse,
    isDatabaseServing: () => stores.health.isServing,
    streams: () => service.streams,
    exports: () => exports.state,
    places: () => shares.places,
    turns: () => writes.places,
    untakenBytes: () => service.untakenBytes
  }
}

/** Traces, the log of SQL, metrics and the admin port, which answers while everything else starts. */
async function openObservation({ settings, deps: { log }, opened }: Starting): Promise<Observation> {
  let parts: ServingParts | undefined
  const metrics = settings.admin && new DataServiceMetrics(() => parts && metricSources(parts))
  const isReady = (): boolean => parts?.service.isServing ?? false
  const isolated = (): ReadonlyMap<string, string> => parts?.stores.fit.isolated ?? new Map()
  const admin = await openAdmin({ address: settings.admin, metrics, isReady, isolated, log })
  opened.add(admin, () => admin?.close())
  if (settings.logSql) {
    logStatements(statementLog(log))
    opened.add('log of SQL', () => logStatements(undefined))
  }
  const tracing = settings.traces && (await openTracing(settings.traces, { service: 'data-service', log }))
  if (tracing !== undefined) {
    traceStatements(tracing)
    opened.add(tracing, () => {
      traceStatements(undefined)
      return tracing.close()
    })
  }
  return { tracing, metrics, serving: (all) => void (parts = all) }
}

/** The server's side of TLS, or of a plain connection. */
async function openCredentials(
  { grpc: { tls } }: DataServiceConfig,
  following: { readonly log: Logger; readonly stopping: AbortSignal }
): Promise<ReturnType<typeof serverCredentials>> {
  if (tls === undefined) return serverCredentials(undefined, 'none')
  const certificates = await orStartError(
    TlsCertificates.open(tls, { ...following, what: 'gRPC server' }),
    (why) => `the certificates of gRPC cannot be used: ${why}. See the GRPC_TLS_ settings.`
  )
  return serverCredentials(certificates, tls.clientAuth)
}

/** gRPC health follows the primary database. */
function followHealth({ health }: OpenStores, service: BuiltService, log: Logger): void {
  service.setServing(health.isServing)
  health.onChange((isServing) => {
    if (isServing) log.info('the primary database serves again')
    else log.error('the primary database cannot serve: health is NOT_SERVING until it does')
    service.setServing(isServing)
  })
}

function typedServicesOf(
  { typedServices }: ServedApplication,
  described: () => DescribeResponse,
  log: Logger
): TypedPackage | undefined {
  if (typedServices === undefined) return undefined
  const typed = packageOf(described(), typedServices)
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
    { what: 'one-time links', purge: (now, limit) => auth.purgeOneTimeLinks(now, limit) },
    { what: 'sessions', purge: (now, limit) => auth.purgeSessions(now, limit) },
    { what: 'used refresh tokens', purge: (now, limit) => auth.purgeUsedTokens(now, limit) },
    {
      what: 'delivered entries of the outbox',
      purge: (now, limit) => outbox.purge(now - config.outbox.retention, limit)
    },
    { what: 'requests for one-time links', purge: (now, limit) => outbox.purgeLinks(now - LINK_LIFETIME, limit) }
  ]
}
