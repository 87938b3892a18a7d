import { loadApplication, withSettingsOf } from '../../cli/application/application.js'
import { mistakesWithPlaces } from '../../cli/application/mistake-places.js'
import { readConfig } from '../../data-service/config.js'
import { createDataService, type DataServiceDeps } from '../../data-service/data-service.js'
import { readGatewayConfig } from '../../gateway/config.js'
import { createGateway } from '../../gateway/gateway.js'
import { schemaAtStart } from '../../schema/at-start.js'
import type { Lifecycle } from '../../shared/lifecycle.js'
import { createLogger, type Logger } from '../../shared/logger.js'
import { type Listening, type Server, ServerLog } from './server-log.js'
import { GATEWAY_SECRET } from './service-process.js'

/** Milliseconds. What runs in the background now and then must not come between what a test counts or waits for. */
const SELDOM = { purgeEvery: 3_600_000, lookEvery: 3_600_000 }

type Settings = Readonly<Record<string, string>>

/** What a gateway takes besides its settings. */
interface HereOptions {
  /** Epoch milliseconds. Default: the clock of the machine. */
  readonly now?: () => number
}

/**
 * Starts the data service of the application in a folder in this process, as `uniform-rest start data-service` starts it in
 * one of its own: with these settings above those of the application, and nothing of this process's environment.
 */
export async function startDataServiceHere(
  app: string,
  env: Settings,
  deps: Omit<DataServiceDeps, 'log' | 'schema'> = {}
): Promise<Listening> {
  const { application, folder } = await loadApplication({ folder: app, directory: app, environment: {} })
  const { config } = readConfig(withSettingsOf(application, { GATEWAY_SECRET, ...env }), application)
  const create = (log: Logger): Lifecycle =>
    createDataService(application, config, { ...SELDOM, ...deps, schema: schemaAtStart(application), log })
  return startHere('data-service', config.logLevel, create).catch((error: unknown) => {
    throw mistakesWithPlaces(error, folder)
  })
}

/**
 * The same for the gateway, which needs no application. It refuses no request for being late: the test shares its event
 * loop, and what a test computes would make it late.
 */
export async function startGatewayHere(
  env: Settings,
  app?: string,
  { now = Date.now }: HereOptions = {}
): Promise<Listening> {
  const found = app === undefined ? undefined : await loadApplication({ folder: app, directory: app, environment: {} })
  const { config } = readGatewayConfig(
    withSettingsOf(found?.application, { GATEWAY_SECRET, MAX_EVENT_LOOP_DELAY: '0s', ...env })
  )
  return startHere('gateway', config.logLevel, (log) => createGateway(config, { log, now: () => new Date(now()) }))
}

async function startHere(name: string, level: string, create: (log: Logger) => Lifecycle): Promise<Listening> {
  const lines = new ServerLog(name)
  const running = create(createLogger({ name, level, destination: { write: (line) => lines.add(line) } }))
  await running.start()
  let ended: () => void = () => undefined
  const end = new Promise<void>((resolve) => (ended = resolve))
  const server: Server = {
    logs: () => lines.entries(),
    forget: () => lines.forget(),
    logged: (condition) => lines.logged(condition, end),
    stop: () => running.stop().finally(ended)
  }
  return { server, address: running.address.replace(/\/$/, '') }
}
