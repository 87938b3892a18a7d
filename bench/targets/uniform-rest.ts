import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../test/runner/free-port.js'
import { startServer, untilServing, type ServerProcess } from './server-process.js'
import { type RunningTarget, type Target, type TargetContext, WORKLOADS } from './target.js'

const STORE = fileURLToPath(new URL('../../examples/store', import.meta.url))

export const uniformRest: Target = {
  name: 'uniform-rest',
  description: 'This service: one gateway and one data service, two processes together',
  workloads: WORKLOADS.filter((name) => name !== 'html'),
  start: (context) => startPairs(context, { pairs: 1, renderer: false })
}

/** As many database connections in all as every other target, half of them in each data service. */
export const twoPairs: Target = {
  name: 'uniform-rest-2x2',
  description:
    'This service: two gateways and two data services on one database, four processes together; clients are spread over ' +
    'the gateways, and each gateway over the data services',
  workloads: ['by-id', 'page', 'update', 'mix'],
  start: (context) => startPairs(context, { pairs: 2, renderer: false })
}

/** The pages of the example's storefront, which reads the same API. */
export const withRenderer: Target = {
  name: 'uniform-rest-html',
  description:
    'This service with the storefront of the example as the renderer behind its gateway, three processes together',
  workloads: ['html'],
  start: (context) => startPairs(context, { pairs: 1, renderer: true })
}

/** Pairs of a gateway and a data service, with the processes by what they do. */
export interface RunningPairs extends RunningTarget {
  readonly gateways: readonly number[]
  readonly dataServices: readonly number[]
}

/** The connections to the database are shared by the data services. */
export async function startPairs(
  { databaseUrl, databaseConnections, dataDir, maxExportRows, issuer, nodeOptions: more }: TargetContext,
  { pairs, renderer }: { pairs: number; renderer: boolean }
): Promise<RunningPairs> {
  // As docs/operations.md starts them.
  const nodeOptions = ['--max-semi-space-size=4', '--v8-pool-size=1', ...more]
  const numbers = Array.from({ length: pairs }, (_, index) => index)
  const addresses = await Promise.all(numbers.map(async () => `127.0.0.1:${await freePort()}`))
  const ports = await Promise.all(numbers.map(() => freePort()))
  const origins = ports.map((port) => `http://127.0.0.1:${port}`)
  const [origin = ''] = origins
  const rendererPort = await freePort()
  const env = {
    DATA_DIR: dataDir,
    GATEWAY_SECRET: randomUUID(),
    // The others write no line for each request either.
    LOG_LEVEL: 'error'
  }
  const dataService = (address: string): ServerProcess =>
    startServer({
      module: 'cli/main.js',
      args: ['start', 'data-service', '--app', STORE],
      nodeOptions,
      env: {
        ...env,
        DATA_SERVICE_ADDRESS: address,
        DATABASE_URL: databaseUrl,
        DATABASE_POOL_SIZE: String(Math.ceil(databaseConnections / pairs)),
        OWNER_BYPASS_ROLE: 'Admin',
        MAX_EXPORT_ROWS: String(maxExportRows),
        SAMPLE_DATA: 'false',
        MIGRATE_AT_START: 'true',
        JWT_ISSUER: issuer.name,
        JWT_AUDIENCE: issuer.audience,
        JWT_PRIVATE_KEY_FILE: issuer.privateKeyFile
      }
    })
  const gateway = (port: number): ServerProcess =>
    startServer({
      module: 'cli/main.js',
      args: ['start', 'gateway'],
      nodeOptions,
      env: {
        ...env,
        DATA_SERVICE_ADDRESS: addresses.join(','),
        GATEWAY_PORT: String(port),
        // On plain HTTP, as the others: no answer carries Strict-Transport-Security.
        COOKIE_SECURE: 'false',
        ...(renderer ? { RENDERER_URL: `http://127.0.0.1:${rendererPort}` } : {})
      }
    })
  const storefront = (): ServerProcess =>
    startServer({
      module: 'examples/store/storefront/main.js',
      nodeOptions,
      env: { STOREFRONT_PORT: String(rendererPort), STORE_API_URL: origin, LOG_LEVEL: 'error' }
    })
  const services = addresses.map(dataService)
  const gateways = ports.map(gateway)
  const processes = [...services, ...gateways, ...(renderer ? [storefront()] : [])]
  const stop = async (): Promise<void> => {
    for (const one of processes.toReversed()) await one.stop()
  }
  try {
    for (const each of origins) await untilServing(each, processes)
  } catch (error) {
    await stop()
    throw error
  }
  const pidsOf = (those: readonly ServerProcess[]): number[] => those.map(({ pid }) => pid)
  const dataServices = pidsOf(services)
  const replicas = pairs === 1 ? [] : dataServices
  return { origin, origins, pids: pidsOf(processes), replicas, gateways: pidsOf(gateways), dataServices, stop }
}
