import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { permissionsIn } from '../data-service/auth/claims.js'
import { readConfig } from '../data-service/config.js'
import { asksForOwner } from '../data-service/entity/validate-access.js'
import { checkCatalogue } from '../data-service/entity/validate.js'
import { readGatewayConfig } from '../gateway/config.js'
import { loadApplication, type LoadedApplication } from './application.js'
import { type CommandLine, Failure } from './command.js'

/** `uniform-rest check` says everything that is wrong with the entities and the settings, without a database. */
export async function check(line: CommandLine): Promise<number> {
  const loaded = await loadApplication(line)
  checkApplication(loaded)
  const { entities } = loaded.application
  const { config } = readConfig(loaded.environment, loaded.application)
  const owned = entities.filter(asksForOwner).map(({ name }) => name)
  if (config.ownership.bypassRole === undefined && owned.length > 0) {
    process.stdout.write(
      `OWNER_BYPASS_ROLE is not set, and without it requests for ${owned.join(', ')} are answered 500. State it in ` +
        "`settings`, such as OWNER_BYPASS_ROLE: 'Admin'.\n"
    )
  }
  process.stdout.write(`${entities.length} ${entities.length === 1 ? 'entity' : 'entities'}, no mistakes.\n`)
  return 0
}

/** Throws one Failure with every mistake of the entities and of the settings of both processes. */
export function checkApplication({ application, folder, environment }: LoadedApplication): void {
  const { entities, roles, secondStore, operations, outbox: handlers } = application
  const looks: readonly (() => void)[] = [
    () =>
      checkCatalogue(entities, {
        permissions: permissionsIn(roles),
        hasSecondStore: secondStore !== undefined,
        operations,
        handlers
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
  if (mistakes.length > 0) throw new Failure(withFiles(mistakes.join('\n'), folder))
}

const ENTITY_FILE = /\bdefineEntity\(\s*\{\s*name:\s*['"`]([^'"`]+)['"`]/g
const PASSED_OVER = /(?:^|[/\\])(?:node_modules|\.[^/\\]*)(?:[/\\]|$)/

/** Adds to each line about an entity, `- tasks: …`, the file of the folder that begins it with `defineEntity({ name: 'tasks'`. */
function withFiles(mistakes: string, folder: string): string {
  const files = new Map<string, string>()
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (PASSED_OVER.test(file) || !/(?<!\.d)\.m?[jt]s$/.test(file)) continue
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, name = ''] of text.matchAll(ENTITY_FILE)) files.set(name, file.replaceAll(sep, '/'))
  }
  return mistakes.replace(/^- ([^\s:]+):/gm, (line, name: string) =>
    files.has(name) ? `- ${name} (${files.get(name)}):` : line
  )
}
