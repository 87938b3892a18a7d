import { permissionsIn } from '../data-service/auth/claims.js'
import { readConfig } from '../data-service/config.js'
import { checkCatalogue } from '../data-service/entity/validate.js'
import { readGatewayConfig } from '../gateway/config.js'
import { loadApplication, type LoadedApplication } from './application.js'
import { type CommandLine, Failure } from './command.js'

/** `uniform-rest check` says everything that is wrong with the entities and the settings, without a database. */
export async function check(line: CommandLine): Promise<number> {
  const loaded = await loadApplication(line)
  checkApplication(loaded)
  const { entities } = loaded.application
  process.stdout.write(`${entities.length} ${entities.length === 1 ? 'entity' : 'entities'}, no mistakes.\n`)
  return 0
}

/** Throws one Failure with every mistake of the entities and of the settings of both processes. */
export function checkApplication({ application, environment }: LoadedApplication): void {
  const { entities, roles, secondStore, operations } = application
  const looks: readonly (() => void)[] = [
    () =>
      checkCatalogue(entities, {
        permissions: permissionsIn(roles),
        hasSecondStore: secondStore !== undefined,
        operations
      }),
    () => readConfig(environment, application),
    () => readGatewayConfig(environment)
  ]
  const mistakes = looks.flatMap((look) => {
    try {
      look()
      return []
    } catch (error) {
      if (error instanceof Error && /^(Catalogue|Settings)Error$/.test(error.name)) return [error.message]
      throw error
    }
  })
  if (mistakes.length > 0) throw new Failure(mistakes.join('\n'))
}
