import { environmentOf, findApplication, loadApplication } from './application.js'
import { type CommandLine, Failure } from './command.js'

/**
 * `uniform-rest start gateway` and `uniform-rest start data-service` run one process, with its log in JSON; `--print-config`
 * prints its settings and ends. `uniform-rest start` runs both, for a machine that has no other supervisor.
 */
export async function start(line: CommandLine): Promise<number> {
  const [role, ...args] = line.args
  if (role === 'gateway') {
    // A gateway knows no entity: where there is no application, there are no settings of one either.
    const found = await findApplication(line)
    const { startGateway } = await import('../gateway/start.js')
    await startGateway({ environment: found?.environment ?? environmentOf(line.environment), args })
    return 0
  }
  if (role === 'data-service') {
    const { application, environment } = await loadApplication(line)
    const { startDataService } = await import('../data-service/start.js')
    await startDataService(application, { environment, args })
    return 0
  }
  if (role !== undefined)
    throw new Failure(`There is nothing to start that is called ${JSON.stringify(role)}: gateway or data-service.`)
  const { runTogether } = await import('./run-together.js')
  return runTogether(await loadApplication(line), { line, watch: false, readable: false, welcome: () => '' })
}
