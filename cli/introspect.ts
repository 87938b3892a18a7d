import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { parseArgs } from 'node:util'
import { type Application, defineApplication } from '../data-service/application.js'
import { withLiveDatabase } from '../data-service/commands.js'
import { baselineFile } from '../schema/introspect/baseline.js'
import {
  changesSince,
  hiddenColumns,
  type Introspected,
  introspectedTable,
  isUnchanged
} from '../schema/introspect/changes.js'
import type { EntityDraft } from '../schema/introspect/entity-draft.js'
import { entityFile, listFile } from '../schema/introspect/entity-file.js'
import { draftOperations, operationFile, operationListFile } from '../schema/introspect/operation-file.js'
import { introspectDatabase as readDatabase, KeyMistake } from '../schema/introspect/introspect.js'
import { changeLines, reportOf } from '../schema/introspect/report.js'
import type { Database } from '../data-service/sql/engines/engine.js'
import { stringLiteral } from '../schema/model/column-types.js'
import { type OwnTables, RECORD } from '../data-service/sql/engines/own-tables.js'
import { amongTablesOf } from '../schema/migrations/look-first.js'
import { numberOf } from '../schema/migrations/migration-folder.js'
import {
  CONFIG_NAMES,
  environmentOf,
  findApplication,
  holdsModules,
  type LoadedApplication
} from './application/application.js'
import { type CommandLine, Failure, withUsage } from './application/command.js'
import { bareConfig } from './init.js'
import { nextNumber } from './migrate.js'
import { schemaOf } from '../schema/kinds/kinds.js'

const USAGE = `Usage: uniform-rest introspect               writes entity files for the tables of DATABASE_URL, which is only read
         --key <table>=<column>[,<column>]   names what tells the rows of a view or of a table without a key apart
         --unkey <table>                     forgets the key that --key named for it
         --except <table>                    leaves a table or view out
         --routines                          writes operations too, for the procedures that the account may call
         --entities <folder>                 where the entity files are; \`entities\` without it
         --dry-run                           writes nothing and says what it would do

A second run writes what is new, says what has changed, and changes no file that a person has changed.
`

/** Beside the entity files. */
const STATE = 'introspected.json'
const LIST = 'introspected'
const REPORT = 'introspected.md'

/** `uniform-rest introspect` writes entity files for the tables that a database has. The exit code is 0 also if it leaves some out. */
export async function introspect(line: CommandLine): Promise<number> {
  const order = parseOrder(line.args)
  const empty = await emptyList(line, order)
  if (empty === undefined) return await introspectAs(line, order)
  const { file, text } = empty
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  try {
    return await introspectAs(line, order)
  } finally {
    // A run that ended before it wrote the list leaves nothing behind.
    if ((await readFile(file, 'utf8').catch(() => '')) === text) await rm(file, { force: true })
  }
}

/**
 * The list of no entities, for a config that imports the list before the first run has written it: without the file the
 * config could not be loaded. undefined where the config does not import it, or the file is there.
 */
async function emptyList({ folder }: CommandLine, { entities }: IntrospectOrder) {
  const config = CONFIG_NAMES.map((name) => resolve(folder, name)).find((path) => existsSync(path))
  if (config === undefined) return undefined
  const isTyped = /\.m?ts$/.test(config)
  const file = resolve(folder, entities, `${LIST}.${isTyped ? 'ts' : 'js'}`)
  if (existsSync(file)) return undefined
  const imported = Array.from(
    (await readFile(config, 'utf8')).matchAll(/\bfrom\s*(['"])(\..+?)\1/g),
    ([, , path = '']) => resolve(folder, path).replace(/\.[jt]s$/, '')
  )
  return imported.includes(file.replace(/\.[jt]s$/, '')) ? { file, text: listFile([], isTyped) } : undefined
}

async function introspectAs(line: CommandLine, order: IntrospectOrder): Promise<number> {
  const screen = new Screen(line)
  const loaded = (await findApplication(line)) ?? withoutApplication(line)
  const folder = join(loaded.folder, order.entities)
  const before = await readState(join(folder, STATE))
  const kept = Object.entries(before?.keys ?? {}).filter(([table]) => !order.unkey.includes(table))
  const keys = new Map([...kept, ...order.keys])
  const except = [...new Set([...(before?.except ?? []), ...order.except])]
  const hidden = before === undefined ? new Map<string, never>() : hiddenColumns(before)
  const served = servedTables(loaded.application)
  const known = Object.entries(before?.tables ?? {}).map(([table, { resource }]): [string, string] => [table, resource])
  const { drafts, migrateFlag, routines } = await tellingKeyMistakes(() =>
    withLiveDatabase(loaded.application, loaded.environment, async ({ database, own }) => ({
      drafts: await readDatabase(database, {
        keys,
        named: new Set(order.keys.keys()),
        except,
        hidden,
        resources: new Map([...known, ...served]),
        own
      }),
      migrateFlag: await flagToMigrate(database, own),
      routines: order.routines ? await readProcedures(database) : undefined
    }))
  )
  if (drafts.entities.length + drafts.leftOut.length === 0) {
    throw new Failure('The database has no tables, so nothing was written. DATABASE_URL names the one that is read.')
  }
  const changes = changesSince(before, drafts, new Set(served.keys()))
  const isOrdered = order.routines || order.keys.size + order.unkey.length + order.except.length > 0
  if (before !== undefined && isUnchanged(changes) && !isOrdered) {
    screen.print('Nothing has changed in the database since the last run.')
    return 0
  }
  const writer = new FileWriter({ loaded, screen, isDry: order.isDry, written: before?.written ?? {} })
  const inFolder = (name: string): string => join(folder, name)
  const isOurs = ({ table }: EntityDraft): boolean =>
    before?.tables[table] !== undefined || changes.added.some((one) => one.table === table)
  const ours = drafts.entities.filter(isOurs)
  const list = inFolder(`${LIST}.${writer.extension}`)
  const baseline = baselineOf(loaded, writer, { name: before?.baseline, drafts: ours })
  for (const draft of changes.added) {
    await writer.once(inFolder(`${draft.resource}.${writer.extension}`), entityFile(draft))
  }
  await writer.again(list, listFile(ours, writer.isTyped))
  await writer.again(inFolder(REPORT), reportOf(drafts))
  const resources = [...drafts.entities.map(({ resource }) => resource), ...served.values()]
  const calls = routines && (await writeOperations(routines, { folder: loaded.folder, writer, resources }))
  if (baseline.isLast) await writer.again(baseline.file, baseline.text)
  else screen.print(`${screen.path(baseline.file)} stays as it is: later migrations build on it.`)
  await writer.state(inFolder(STATE), {
    version: 1,
    keys: Object.fromEntries(keys),
    except,
    baseline: baseline.name,
    tables: Object.fromEntries(ours.map((draft) => [draft.table, introspectedTable(draft)])),
    leftOut: Object.fromEntries(drafts.leftOut.map(({ table, why }) => [table, why]))
  })
  for (const text of routines?.leftOut ?? []) screen.print(text)
  for (const text of drafts.unseen) screen.print(`This account does not see: ${text}`)
  for (const text of changeLines(changes)) screen.print(text)
  for (const { table, notes } of changes.added) for (const note of notes) screen.print(`${table}: ${note}`)
  if (before === undefined && !(await writeConfig(loaded, writer, list)))
    screen.print(configLines(loaded, writer, list))
  const there = (loaded.application.operations ?? []).map(({ name }) => name)
  if (calls?.every((name) => there.includes(name)) === false) screen.print(operationLines(writer))
  if (before !== undefined) return 0
  screen.print(nextSteps(screen.path(inFolder(REPORT)), migrateFlag))
  return 0
}

async function readProcedures(database: Database): Promise<ReturnType<typeof draftOperations>> {
  const schema = schemaOf(database)
  const live = await schema.procedures()
  if (live === undefined) throw new Failure('--routines: a database of this kind has no procedures.')
  return draftOperations(live.found, schema.columnTypes)
}

const OPERATIONS = 'operations'

/** Writes an operation for each procedure that has none yet, and the list of all. Answers their names. */
async function writeOperations(
  { operations }: ReturnType<typeof draftOperations>,
  to: { readonly folder: string; readonly writer: FileWriter; readonly resources: readonly string[] }
): Promise<string[]> {
  const { folder, writer, resources } = to
  const inFolder = (name: string): string => join(folder, OPERATIONS, `${name}.${writer.extension}`)
  for (const draft of operations) await writer.once(inFolder(draft.name), operationFile(draft, resources))
  await writer.again(inFolder(LIST), operationListFile(operations, writer.isTyped))
  return operations.map(({ name }) => name)
}

interface IntrospectOrder {
  readonly entities: string
  readonly keys: ReadonlyMap<string, readonly string[]>
  /** Tables whose named keys are forgotten. */
  readonly unkey: readonly string[]
  readonly except: readonly string[]
  readonly routines: boolean
  readonly isDry: boolean
}

const OPTIONS = {
  key: { type: 'string', multiple: true },
  unkey: { type: 'string', multiple: true },
  except: { type: 'string', multiple: true },
  entities: { type: 'string' },
  routines: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean' }
} as const

function parseOrder(args: readonly string[]): IntrospectOrder {
  const {
    key = [],
    unkey = [],
    except = [],
    entities = 'entities',
    routines,
    'dry-run': isDry = false
  } = withUsage(USAGE, () => parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false }).values)
  const keys = key.map((text): [string, string[]] => {
    const at = text.lastIndexOf('=')
    const columns = text.slice(at + 1).split(',')
    if (at < 1 || columns.includes('')) throw new Failure(`--key ${text} is not written as it must be.\n${USAGE}`)
    return [text.slice(0, at), columns]
  })
  return { entities, keys: new Map(keys), unkey, except, routines, isDry }
}

/** A folder that has no application yet: the settings are those of the environment and of `.env`. */
function withoutApplication(line: CommandLine): LoadedApplication {
  const { folder } = line
  if (!existsSync(folder)) throw new Failure(`There is no folder ${folder}.`)
  return {
    application: defineApplication({ entities: [] }),
    folder,
    environment: environmentOf(line)
  }
}

/** The resource of each table of the first database that the application has an entity for; children belong to their root. */
function servedTables({ entities }: Application): ReadonlyMap<string, string> {
  return new Map(
    entities.flatMap(({ name, table, children }): [string, string][] => [
      [table, name],
      ...children
        .filter(({ store }) => store === 'primary')
        .map((child): [string, string] => [child.table, `${name}-${child.name}`])
    ])
  )
}

async function tellingKeyMistakes<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof KeyMistake) throw new Failure(error.message, { cause: error })
    throw error
  }
}

async function readState(file: string): Promise<Introspected | undefined> {
  if (!existsSync(file)) return undefined
  try {
    const state = JSON.parse(await readFile(file, 'utf8')) as Introspected // ours
    if (state.version === 1) return state
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error
    })
  }
  throw new Failure(`${file} was written by another version of uniform-rest.`)
}

/** Writes lines to standard output, with paths as they are from the working directory. */
class Screen {
  readonly #line: CommandLine

  constructor(line: CommandLine) {
    this.#line = line
  }

  print(text: string): void {
    this.#line.stdout.write(`${text}\n`)
  }

  path(file: string): string {
    return relative(this.#line.directory, file)
  }
}

/** Writes files, and never over one that a person has changed. */
class FileWriter {
  readonly isTyped: boolean
  readonly #screen: Screen
  readonly #root: string
  readonly #isDry: boolean
  readonly #written: Record<string, string>

  constructor(of: {
    readonly loaded: LoadedApplication
    readonly screen: Screen
    readonly isDry: boolean
    readonly written: Readonly<Record<string, string>>
  }) {
    this.#root = of.loaded.folder
    this.#screen = of.screen
    this.#isDry = of.isDry
    this.#written = { ...of.written }
    this.isTyped = !CONFIG_NAMES.some((name) => /\.m?js$/.test(name) && existsSync(join(this.#root, name)))
  }

  get extension(): string {
    return this.isTyped ? 'ts' : 'js'
  }

  /** A file that belongs to people from then on. */
  async once(file: string, text: string): Promise<void> {
    if (existsSync(file)) this.#screen.print(`${this.#screen.path(file)} is there already, and stays as it is.`)
    else await this.write(file, text)
  }

  /** A file that is written anew by each run until somebody changes it. */
  async again(file: string, text: string): Promise<void> {
    const name = relative(this.#root, file)
    if (existsSync(file)) {
      const there = await readFile(file, 'utf8')
      if (there === text) return
      const isOurs = hashOf(there) === this.#written[name] || there === listFile([], this.isTyped)
      if (!isOurs) {
        this.#screen.print(`${this.#screen.path(file)} was changed by hand and stays as it is. It would be:\n\n${text}`)
        return
      }
    }
    this.#written[name] = hashOf(text)
    await this.write(file, text)
  }

  async state(file: string, state: Omit<Introspected, 'written'>): Promise<void> {
    if (this.#isDry) return
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `${JSON.stringify({ ...state, written: this.#written }, null, 2)}\n`)
  }

  /** Whatever is there. */
  async write(file: string, text: string): Promise<void> {
    this.#screen.print(`${this.#isDry ? 'Would write' : 'Wrote'} ${this.#screen.path(file)}`)
    if (this.#isDry) return
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

interface BaselineFile {
  readonly name: string
  readonly file: string
  readonly text: string
  /** Whether no later migration builds on it. */
  readonly isLast: boolean
}

/** The migration that describes the tables as they are. */
function baselineOf(
  { application, folder }: LoadedApplication,
  { extension, isTyped }: FileWriter,
  { name: earlier, drafts }: { readonly name: string | undefined; readonly drafts: readonly EntityDraft[] }
): BaselineFile {
  const { migrations } = application
  const name = earlier ?? `${nextNumber(migrations)}-baseline`
  return {
    name,
    file: join(migrations.folder ?? join(folder, 'migrations'), `${name}.${extension}`),
    text: baselineFile(name, drafts, isTyped),
    isLast: migrations.every((one) => one.name === name || numberOf(one.name) < numberOf(name))
  }
}

/**
 * Writes `uniform-rest.config.ts` where there is none, or the one that `uniform-rest init --no-example` made and nobody has
 * changed. Answers whether the config names the entities now. A folder whose package.json does not say that its files are
 * modules gets no config, since Node could not load it.
 */
async function writeConfig(loaded: LoadedApplication, writer: FileWriter, list: string): Promise<boolean> {
  const { application, folder } = loaded
  const file = CONFIG_NAMES.map((name) => join(folder, name)).find((one) => existsSync(one))
  const text = configFile(loaded, list)
  const there = file === undefined ? undefined : await readFile(file, 'utf8')
  if (there === text) return true
  if (there === undefined && !holdsModules(folder)) return false
  if (there !== undefined && there !== (await bareConfig(application.settings[APPLICATION_NAME]))) return false
  await writer.write(file ?? join(folder, `uniform-rest.config.${writer.extension}`), text)
  return true
}

function importLine(folder: string, list: string): string {
  const from = `./${relative(folder, list).replaceAll(sep, '/').replace(/\.ts$/, '.js')}`
  return `import { introspected, introspectedPermissions } from ${stringLiteral(from)}`
}

/** `init` writes it into the config. Applications that share a key ring must have different names. */
const APPLICATION_NAME = 'DATA_PROTECTION_APPLICATION_NAME'

/** The config of an application that serves what was introspected and nothing else, with a role that may do everything. */
function configFile({ application, folder }: LoadedApplication, list: string): string {
  const name = application.settings[APPLICATION_NAME]
  const settings = ["OWNER_BYPASS_ROLE: 'Admin'", "STRICT_HANDLING: 'true'"]
  const written =
    name === undefined
      ? `{ ${settings.join(', ')} }`
      : `{\n    ${[...settings, `${APPLICATION_NAME}: ${stringLiteral(name)}`].join(',\n    ')}\n  }`
  return `import { defineApplication, migrationsIn } from 'uniform-rest'
${importLine(folder, list)}

export default defineApplication({
  entities: introspected,
  roles: { Admin: introspectedPermissions },
  settings: ${written},
  migrations: await migrationsIn(new URL('./migrations/', import.meta.url))
})
`
}

/** What a person has to add to a `uniform-rest.config.ts` of their own. */
function configLines(loaded: LoadedApplication, writer: FileWriter, list: string): string {
  const { application, folder } = loaded
  const config = `uniform-rest.config.${writer.extension}`
  if (application.entities.length + application.migrations.length === 0) {
    const intro = `A ${config} for them, with a role that may do everything, beside a package.json with "type": "module":`
    return `\n${intro}\n\n${configFile(loaded, list)}`
  }
  return `
Add this to ${config}:

  ${importLine(folder, list)}

  entities: [...introspected, /* and those that are there */],
  roles: { Admin: [...introspectedPermissions, /* and what it may do already */] },`
}

/** What a person has to add to the config for the procedures, whoever wrote it. */
function operationLines({ extension }: FileWriter): string {
  return `
For the procedures add this to uniform-rest.config.${extension}:

  import { calledProcedures, callPermissions } from './${OPERATIONS}/${LIST}.js'

  operations: [...calledProcedures, /* and those that are there */],
  roles: { Admin: [...callPermissions, /* and what it may do already */] },`
}

/**
 * What `migrate` has to be told to make the engine's own tables: the database holds tables of others, and nothing of ours
 * yet. Blank where an earlier migration has run there, or where the engine's tables go to a database of their own.
 */
async function flagToMigrate(database: Database, own: OwnTables): Promise<string> {
  if (own.schema !== undefined) return ''
  // An account of few rights may not read a record that is not there.
  const present = await schemaOf(database).present()
  return present.has(`${own.prefix}${RECORD}`) ? '' : ` ${amongTablesOf(database.name)}`
}

function nextSteps(report: string, migrateFlag: string): string {
  const steps = [
    ['check', 'whether entity files and tables fit'],
    [`migrate${migrateFlag}`, 'makes the tables that the engine keeps for itself, and alters none of yours'],
    ['account add you@example.com --role Admin', 'somebody who may read'],
    ['dev', 'serves them']
  ] as const
  const width = Math.max(...steps.map(([command]) => command.length))
  const lines = steps.map(([command, does]) => `  npx uniform-rest ${command.padEnd(width)}   ${does}`)
  return `\nRead ${report}. Then:\n\n${lines.join('\n')}`
}
