import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { environmentOf, findApplication, loadApplication, prepareToLoad } from './application/application.js'
import { mistakesWithPlaces } from './application/mistake-places.js'
import { type CommandLine, Failure } from './application/command.js'
import { SETTINGS_TOLD, tellUnknownSettings } from './application/unknown-settings.js'
import { DATA_SERVICE_FLAGS } from './processes/processes.js'
import type { GatewayConfig } from '../gateway/config.js'
import type { Lifecycle } from '../shared/lifecycle.js'
import { createLogger, type Logger, logGrpc } from '../shared/logger.js'
import { help, readArguments } from '../shared/settings.js'

/**
 * `uniform-rest start gateway` and `uniform-rest start data-service` run one process, with its log in JSON; `--print-config`
 * prints its settings and ends. `uniform-rest start` runs both, for a machine that has no other supervisor.
 */
export async function start(line: CommandLine): Promise<number> {
  const [role, ...rest] = line.args
  const args = rest.filter((one) => one !== SETTINGS_TOLD)
  const isTold = args.length < rest.length
  // Under load V8 finds that what a call makes lives until its answer, and puts it into the old generation from the start,
  // where it stays until the next full collection (docs/decisions/036-memory-under-load.md).
  setFlagsFromString('--no-allocation-site-pretenuring')
  if (role === 'gateway') return startGateway(line, { args, isTold })
  if (role === 'data-service') return startDataService(line, { args, isTold })
  if (role?.startsWith('--') === true)
    throw new Failure(`Say of which process: uniform-rest start gateway ${role}, or start data-service ${role}.`)
  if (role !== undefined)
    throw new Failure(`There is nothing to start that is called ${JSON.stringify(role)}: gateway or data-service.`)
  const { runTogether } = await import('./run-together.js')
  return runTogether(await loadApplication(line), { line, readable: false, welcome: () => '' })
}

interface RoleArguments {
  readonly args: readonly string[]
  /** Whether another command has reported unknown settings already. */
  readonly isTold: boolean
}

async function startGateway(line: CommandLine, { args, isTold }: RoleArguments): Promise<number> {
  // A gateway knows no entity: where there is no application, there are no settings of one either.
  const found = await findApplication(line)
  if (!isTold) tellUnknownSettings(line, found?.application)
  const { readGatewayConfig } = await import('../gateway/config.js')
  const read = (): Readable<GatewayConfig> => readGatewayConfig(found?.environment ?? environmentOf(line))
  const settings = settingsToServe('gateway', { ...line, args }, read)
  if (settings === undefined) return 0
  const { createGateway } = await import('../gateway/gateway.js')
  await serve('gateway', settings, (log) => createGateway(settings, { log }))
  return 0
}

async function startDataService(line: CommandLine, { args, isTold }: RoleArguments): Promise<number> {
  const { awaitMigrations, single, standby } = DATA_SERVICE_FLAGS
  const flags: readonly string[] = Object.values(DATA_SERVICE_FLAGS)
  if (args.includes(standby)) await standBy(line)
  const { application, folder, environment } = await loadApplication(line)
  if (!isTold) tellUnknownSettings(line, application)
  const { readConfig } = await import('../data-service/config.js')
  const own = { ...line, args: args.filter((one) => !flags.includes(one)) }
  const settings = settingsToServe('data-service', own, () => readConfig(environment, application))
  if (settings === undefined) return 0
  const { createDataService } = await import('../data-service/data-service.js')
  const { schemaAtStart } = await import('../schema/at-start.js')
  const how = {
    schema: schemaAtStart(application),
    awaitMigrations: args.includes(awaitMigrations),
    hasReplicas: !args.includes(single)
  }
  await serve('data-service', settings, (log) => createDataService(application, settings, { log, ...how })).catch(
    (error: unknown) => {
      throw mistakesWithPlaces(error, folder)
    }
  )
  return 0
}

interface Readable<Config> {
  readonly config: Config
  readonly effective: string
}

/** The settings of a process that is to serve; undefined where its arguments only asked for a text, which is printed. */
function settingsToServe<Config>(
  role: 'gateway' | 'data-service',
  { args, stdout }: CommandLine,
  read: () => Readable<Config>
): Config | undefined {
  const task = readArguments(args)
  if (task === 'help') {
    stdout.write(help(role))
    return undefined
  }
  const { config, effective } = read()
  if (task === 'serve') return config
  stdout.write(`${effective}\n`)
  return undefined
}

/** Runs a server until SIGTERM or SIGINT, also if the signal comes before it serves. */
async function serve(
  name: string,
  { logLevel }: { readonly logLevel: string },
  create: (log: Logger) => Lifecycle
): Promise<void> {
  const log = createLogger({ name, level: logLevel })
  logGrpc(log)
  const server = create(log)
  const over = new AbortController()
  const until = { signal: over.signal }
  const stopped = Promise.race([once(process, 'SIGTERM', until), once(process, 'SIGINT', until)]).then(
    async ([signal]: unknown[]) => {
      log.info({ signal }, 'stopping')
      await server.stop()
    }
  )
  try {
    await server.start()
    await stopped
  } finally {
    // After a failed start nothing waits for a signal.
    stopped.catch(() => undefined)
    over.abort()
  }
  log.info('stopped')
}

/** Loads what every data service loads, which takes most of the time of a start, until the parent says to go on. */
async function standBy({ folder }: CommandLine): Promise<void> {
  const told = once(process, 'message')
  await Promise.all([import('../data-service/data-service.js'), import('../schema/at-start.js'), prepareToLoad(folder)])
  // end-with-parent.ts has let go of the channel, which is all that keeps this process alive now.
  process.channel?.ref()
  await told
  process.channel?.unref()
}
