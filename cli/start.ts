import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { environmentOf, findApplication, loadApplication, prepareToLoad, withFiles } from './application/application.js'
import { type CommandLine, Failure } from './application/command.js'
import { SETTINGS_TOLD, tellUnknownSettings } from './application/unknown-settings.js'
import { DATA_SERVICE_FLAGS } from './processes/processes.js'

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
  if (role === 'gateway') {
    // A gateway knows no entity: where there is no application, there are no settings of one either.
    const found = await findApplication(line)
    if (!isTold) tellUnknownSettings(line.environment, found?.application)
    const { startGateway } = await import('../gateway/start.js')
    await startGateway({ environment: found?.environment ?? environmentOf(line.environment), args })
    return 0
  }
  if (role === 'data-service') {
    const { awaitMigrations, single, standby } = DATA_SERVICE_FLAGS
    if (args.includes(standby)) await standBy(line)
    const { application, folder, environment } = await loadApplication(line)
    if (!isTold) tellUnknownSettings(line.environment, application)
    const { startDataService } = await import('../data-service/start.js')
    const flags: readonly string[] = Object.values(DATA_SERVICE_FLAGS)
    await startDataService(application, {
      environment,
      args: args.filter((one) => !flags.includes(one)),
      awaitMigrations: args.includes(awaitMigrations),
      hasReplicas: !args.includes(single)
    }).catch((error: unknown) => {
      // By name: a check of entities is loaded with the data service alone.
      const isOfEntities = error instanceof Error && error.name === 'CatalogueError'
      throw isOfEntities ? new Failure(withFiles(error.message, folder), { cause: error }) : error
    })
    return 0
  }
  if (role?.startsWith('--') === true)
    throw new Failure(`Say of which process: uniform-rest start gateway ${role}, or start data-service ${role}.`)
  if (role !== undefined)
    throw new Failure(`There is nothing to start that is called ${JSON.stringify(role)}: gateway or data-service.`)
  const { runTogether } = await import('./run-together.js')
  return runTogether(await loadApplication(line), { line, readable: false, welcome: () => '' })
}

/** Loads what every data service loads, which takes most of the time of a start, until the parent says to go on. */
async function standBy({ folder }: CommandLine): Promise<void> {
  const told = once(process, 'message')
  await Promise.all([import('../data-service/start.js'), prepareToLoad(folder)])
  // end-with-parent.ts has let go of the channel, which is all that keeps this process alive now.
  process.channel?.ref()
  await told
  process.channel?.unref()
}
