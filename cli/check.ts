import { permissionsIn } from '../data-service/auth/tokens/claims.js'
import { type DataServiceConfig, missingVersionSecret, readConfig } from '../data-service/config.js'
import { visibleSuspects } from '../data-service/entity/secret-names.js'
import { asksForOwner } from '../data-service/entity/validation/validate-access.js'
import { permissionsBesideRowScopes } from '../data-service/entity/validation/validate-writes.js'
import { CatalogueError, checkCatalogue } from '../data-service/entity/validation/validate.js'
import type { Application } from './public/application.js'
import { type ConfiguredDatabase, openExisting, opening } from '../data-service/sql/connect.js'
import type { Database } from '../data-service/sql/engines/engine.js'
import { namesOfOwn, type OwnNames } from '../data-service/sql/engines/own-tables.js'
import { type Finding, summarized } from '../schema/check/check-columns.js'
import { findOwnTables, withOwnTables } from '../schema/migrations/find-own-tables.js'
import { procedureMistakes } from '../schema/check/check-procedures.js'
import { schemaReport, type SchemaReport, sortedByNeed } from '../schema/check/check-schema.js'
import { sharedKeyFindings } from '../schema/check/key-counts.js'
import type { Migration } from '../schema/migrations/migration.js'
import { readGatewayConfig } from '../gateway/config.js'
import { SettingsError } from '../shared/settings.js'
import { loadApplication, type LoadedApplication } from './application/application.js'
import { withPlaces } from './application/mistake-places.js'
import { type CommandLine, Failure } from './application/command.js'
import { schemaOf } from '../schema/kinds/kinds.js'
import { listed } from '../shared/start-error.js'

/**
 * `uniform-rest check` says everything that is wrong with the entities and the settings, and then, of each database that is
 * there, what its tables differ in. It changes nothing. The exit code is 1 with any mistake. `--sql` prints the statements
 * that would mend the tables, with what they mend as comments, and nothing else.
 */
export async function check(line: CommandLine): Promise<number> {
  const [flag, ...more] = line.args
  if (more.length > 0 || (flag !== undefined && flag !== '--sql')) {
    throw new Failure(`uniform-rest check takes --sql or nothing, not ${JSON.stringify(line.args.join(' '))}.`)
  }
  const loaded = await loadApplication(line)
  const config = checkApplication(loaded)
  const { entities } = loaded.application
  const { stdout } = line
  if (flag === '--sql') return await eachDatabase(loaded, config, (...found) => stdout.write(sqlOf(...found)))
  const missing = missingVersionSecret(config, loaded.application)
  if (missing !== undefined) throw new Failure(missing)
  const owned = ownedWithoutBypass(loaded, config)
  if (owned.length > 0) {
    stdout.write(
      `OWNER_BYPASS_ROLE is not set, and without it requests for ${owned.join(', ')} are answered 500. State it in ` +
        "`settings`, such as OWNER_BYPASS_ROLE: 'Admin'.\n"
    )
  }
  stdout.write(suspectsText(entities.flatMap(visibleSuspects)))
  for (const note of permissionsBesideRowScopes(entities)) stdout.write(`${note}.\n`)
  const searched = entities.filter(({ searchable, fullText }) => searchable.length > 0 && !fullText)
  if (searched.length > 0) {
    const names = searched.map(({ name }) => name).join(', ')
    stdout.write(
      `Each search of ${names} reads all rows that the filters leave, since parts of texts are not indexed. With ` +
        '`searchable: fullText(…)` the index of a database server finds words.\n'
    )
  }
  stdout.write(`${entities.length} ${entities.length === 1 ? 'entity' : 'entities'}, no mistakes.\n`)
  return await eachDatabase(loaded, config, (...found) => stdout.write(reportText(...found)))
}

/** The entities with an ownership rule while no OWNER_BYPASS_ROLE is set: their first use is answered 500. */
export function ownedWithoutBypass({ application }: LoadedApplication, { ownership }: DataServiceConfig): string[] {
  if (ownership.bypassRole !== undefined) return []
  return application.entities.filter(asksForOwner).map(({ name }) => name)
}

function suspectsText(suspects: readonly string[]): string {
  if (suspects.length === 0) return ''
  const lines = listed(suspects)
  return (
    'The names of these visible columns say that they are secrets. Where one is, say hidden(…) around its field, or ' +
    `writeOnly(…) where requests set it, and take it out of label, filterable, sortable and searchable:${lines}\n`
  )
}

/** Answers 1 if the tables of a database have a mistake. */
async function eachDatabase(
  { application }: LoadedApplication,
  { databases, ownNames }: DataServiceConfig,
  /** With a sentence where the tables are not compared, and where a migration has not run. */
  print: (setting: string, report: SchemaReport | string) => unknown
): Promise<number> {
  let code = 0
  for (const store of ['primary', 'second'] as const) {
    const configured: ConfiguredDatabase | undefined = databases[store]
    if (configured === undefined) continue
    await opening(configured, async () => {
      const database = await openExisting(configured.url)
      try {
        if (database === undefined) {
          print(configured.setting, `there is no database yet; ${THEN_COMPARED}`)
          return
        }
        const { report, pending } = await comparedTables(database, store, { application, ownNames })
        if (report === undefined) {
          print(configured.setting, `${namesOf(pending)} has not run yet; ${THEN_COMPARED}`)
          return
        }
        print(configured.setting, report)
        const wrong = store === 'primary' ? await procedureMistakes(database, application.operations) : []
        if (wrong.length > 0) code = 1
        for (const text of wrong) print(configured.setting, text)
        if (pending.length > 0) {
          print(
            configured.setting,
            `${namesOf(pending)} has not run yet; \`uniform-rest migrate\` records that its tables are there`
          )
        }
        if (report.mistakes.length > 0) code = 1
      } finally {
        await database?.sequelize.close()
      }
    })
  }
  return code
}

/** What the tables of a database differ in. */
export interface ComparedTables {
  /** undefined while a migration has not run that is to change them. */
  readonly report: SchemaReport | undefined
  readonly pending: readonly Migration[]
}

/** Compares the tables of a database that is there. Changes nothing. */
export async function comparedTables(
  database: Database,
  store: 'primary' | 'second',
  { application, ownNames }: { readonly application: Application; readonly ownNames: OwnNames }
): Promise<ComparedTables> {
  const { migrations } = store === 'primary' ? application : (application.secondStore ?? { migrations: [] })
  const names = store === 'primary' ? ownNames : { ...ownNames, schema: undefined }
  const own = await findOwnTables(database, names, migrations)
  // Tables that a migration is to change are compared when it has run. A baseline changes none that stands there.
  const applied = await schemaOf(database).appliedMigrations(own)
  const pending = migrations.filter(({ name }) => !applied.has(name))
  const present = pending.length === 0 ? [] : [...(await schemaOf(database).present()).keys()]
  if (!pending.every((one) => describesTables(one, present))) return { report: undefined, pending }
  const entities = withOwnTables(application, own)
  const ofEngine = namesOfOwn(own)
  const compared = pending.length === 0 ? entities : entities.filter(({ table }) => !ofEngine.has(table))
  const report = await schemaReport(database, store, compared)
  const shared = store === 'primary' ? await sharedKeyFindings(database, report.live, compared) : []
  return { report: { ...report, warnings: [...shared, ...report.warnings] }, pending }
}

const THEN_COMPARED = '`uniform-rest migrate` runs migrations, and then check compares tables'

/** Whether a migration is a baseline, and all of its tables stand there. */
function describesTables({ baseline = false, steps }: Migration, present: readonly string[]): boolean {
  const there = new Set(present.map((name) => name.toLowerCase()))
  return baseline && steps.every((step) => step.kind === 'createTable' && there.has(step.table.toLowerCase()))
}

export function namesOf(migrations: readonly Migration[]): string {
  return migrations.map(({ name }) => name).join(', ')
}

function reportText(setting: string, report: SchemaReport | string): string {
  if (typeof report === 'string') return `${setting}: ${report}.\n`
  const { mistakes } = report
  const { warnings, notes } = sortedByNeed(report)
  const parts: readonly (readonly [what: string, findings: readonly Finding[]])[] = [
    [
      `${mistakes.length === 0 ? 'no' : mistakes.length} mistake${mistakes.length === 1 ? '' : 's'} in its tables`,
      mistakes
    ],
    ['what is slower, compared otherwise or not known', summarized(warnings)],
    ['only for tables that other programs write too', summarized(notes)]
  ]
  const said = parts
    .filter(([, findings]) => findings.length > 0 || findings === mistakes)
    .map(([what, findings]) => {
      const lines = listed(findings.map(({ text }) => text))
      return `${setting}: ${what}${lines === '' ? '.' : `:${lines}`}\n`
    })
  if ([...mistakes, ...warnings].some(({ statements }) => statements.length > 0)) {
    said.push('`uniform-rest check --sql` prints statements that would fix this. It runs none of them.\n')
  }
  return said.join('')
}

function sqlOf(setting: string, report: SchemaReport | string): string {
  if (typeof report === 'string') return `-- ${setting}: ${report}\n`
  return [...report.mistakes, ...report.warnings, ...report.triggers]
    .filter(({ statements }) => statements.length > 0)
    .map(({ text, statements }) => `-- ${setting}: ${text}\n${statements.map((one) => `${one};`).join('\n')}\n\n`)
    .join('')
}

/**
 * The settings of the data service. Throws one Failure with every mistake of the entities and of the settings of both
 * processes.
 */
export function checkApplication({ application, folder, environment }: LoadedApplication): DataServiceConfig {
  const { entities, roles, owners, secondStore, operations, outbox } = application
  const hasSecondStore = secondStore !== undefined
  const catalogue = resultOrMistake(
    () => checkCatalogue(entities, { permissions: permissionsIn(roles), hasSecondStore, owners, operations, outbox }),
    CatalogueError
  )
  const dataService = resultOrMistake(() => readConfig(environment, application), SettingsError)
  const gateway = resultOrMistake(() => readGatewayConfig(environment), SettingsError)
  const problems = [dataService, gateway].flatMap((one) => ('mistake' in one ? one.mistake.problems : []))
  const mistakes = [
    ...('mistake' in catalogue ? [catalogue.mistake.message] : []),
    ...(problems.length === 0 ? [] : [new SettingsError(oncePerSetting(problems)).message])
  ]
  if ('mistake' in dataService || mistakes.length > 0) throw new Failure(withPlaces(mistakes.join('\n'), folder))
  return dataService.result.config
}

function resultOrMistake<Result, Mistake extends Error>(
  look: () => Result,
  mistake: new (...args: never[]) => Mistake
): { readonly result: Result } | { readonly mistake: Mistake } {
  try {
    return { result: look() }
  } catch (error) {
    if (error instanceof mistake) return { mistake: error }
    throw error
  }
}

/** Both processes read some of the settings. Of the sentences about one, which begin with its name, the first is kept. */
function oncePerSetting(problems: readonly string[]): string[] {
  const settings = problems.map((sentence) => sentence.split(' ', 1)[0])
  return problems.filter((_, at) => settings.indexOf(settings[at]) === at)
}
