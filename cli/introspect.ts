import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { parseArgs } from 'node:util'
import { defineApplication } from './public/application.js'
import { withLiveDatabase } from './application/databases.js'
import { baselineFile } from '../schema/introspect/baseline.js'
import { type Changes, compareTables, isPending, type PossibleRename } from '../schema/introspect/changes.js'
import type { Drafts, EntityDraft } from '../schema/introspect/entity-draft.js'
import { entityFile, type ListedFile, listFile } from '../schema/introspect/entity-file.js'
import {
  hiddenColumns,
  type Introspected,
  introspectedTable,
  recordOfFiles,
  rememberedReferences,
  renameMistake,
  withRenamed
} from '../schema/introspect/record.js'
import { type NamedReference, parseReference, referenceText } from '../schema/introspect/references.js'
import { servedTables, type ServedTable } from '../schema/introspect/served-tables.js'
import { draftOperations, operationFile, operationListFile } from '../schema/introspect/operation-file.js'
import { type Found, introspectDatabase as readDatabase, ReferenceMistake } from '../schema/introspect/introspect.js'
import { bounded, newsLines, pendingLines, reportOf, some } from '../schema/introspect/report.js'
import type { Database } from '../data-service/sql/engines/engine.js'
import { stringLiteral } from '../schema/model/column-types.js'
import { type OwnTables, RECORD } from '../data-service/sql/engines/own-tables.js'
import { amongTablesOf } from '../schema/migrations/look-first.js'
import { numberOf } from '../schema/migrations/migration-folder.js'
import { CONFIG_NAMES, environmentOf, findApplication, type LoadedApplication } from './application/application.js'
import { holdsModules } from './application/load-error.js'
import { type CommandLine, Failure, printable, withUsage } from './application/command.js'
import { bareConfig } from './init.js'
import { FileWriter, Screen } from './introspected-files.js'
import { nextNumber } from './migrate.js'
import { schemaOf } from '../schema/kinds/kinds.js'

const USAGE = `Usage: uniform-rest introspect               writes entity files for the tables of DATABASE_URL, which is only read
         --key <table>=<column>[,<column>]   names what tells the rows of a view or of a table without a key apart
         --unkey <table>                     forgets the key that --key named for it
         --except <table>[.<column>]         leaves a table or view out, or tells no more of a change of a column
         --renamed <table>=<table>           says that a table has the second name now; its file stays
         --reference <table>.<column>=<table>.<column>
                                             a reference that no foreign key declares; \`proposed\` for all that the report proposes
         --strip-prefix <prefix>             leaves it out of the names of new resources, where these stay different
         --sortable all|indexed              new files sort by all properties, or by those with an index (the default)
         --routines                          writes operations too, for the procedures that the account may call
         --entities <folder>                 where the entity files are; \`entities\` without it
         --dry-run                           writes nothing and says what it would do
         --check                             writes nothing, says what is to be written or changed, and exits with 1 if anything is

A second run writes what is new, says what is to be changed until it is, and changes no file that a person has changed.
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
  const inFolder = (name: string): string => join(folder, name)
  const report = screen.path(inFolder(REPORT))
  const served = servedTables(loaded.application.entities)
  const state = await readState(inFolder(STATE))
  const writer = new FileWriter({ loaded, screen, isDry: order.isDry || order.isCheck, written: state?.written ?? {} })
  const list = inFolder(`${LIST}.${writer.extension}`)
  const record = state ?? (await recordWithoutState(list, { loaded, served }))
  const files = await filesIn(folder)
  const first = await look(loaded, { order, record, served, files, renamed: order.renamed, apart: new Set() })
  const answers = await askedRenames(line, { order, renamed: first.changes.renamed })
  const seen =
    answers === undefined
      ? first
      : await look(loaded, {
          order,
          record,
          served,
          files,
          ...answers,
          renamed: new Map([...order.renamed, ...answers.renamed])
        })
  const { drafts, before, routines, migrateFlag } = seen
  const rewritten = order.isCheck ? [] : await newlyKeyed(seen, { order, writer, folder })
  const fileOf = (draft: EntityDraft): string => inFolder(`${draft.resource}.${writer.extension}`)
  const changes = withRewritten(await withoutForeign(seen.changes, fileOf), rewritten)
  if (drafts.entities.length + drafts.leftOut.length === 0) {
    throw new Failure('The database has no tables, so nothing was written. DATABASE_URL names the one that is read.')
  }
  for (const [table, why] of drafts.refused) screen.print(`--key ${printable(table)} is refused: ${why}.`)
  const pending = pendingLines(changes)
  const told = [...bounded(pending, report), ...bounded(newsLines(changes, report), report)]
  if (order.isCheck) {
    const files = changes.added.map(({ resource }) => `${resource}.${writer.extension}`)
    for (const text of pending.length === 0 ? [] : bounded(pending, report)) screen.print(text)
    if (files.length > 0) screen.print(`No entity file yet: ${some(files)}. \`uniform-rest introspect\` writes them.`)
    if (isPending(changes) || drafts.refused.size > 0) return 1
    screen.print('Database and entity files agree.')
    return 0
  }
  const isOrdered =
    order.routines ||
    order.keys.size + order.unkey.length + order.except.length + order.renamed.size + order.references.length > 0
  if (record !== undefined && told.length === 0 && changes.added.length === 0 && !isOrdered) {
    screen.print('Nothing has changed in the database since the last run.')
  }
  for (const text of told) screen.print(text)
  const ours = drafts.entities.filter(({ table }) => Object.hasOwn(changes.tables, table))
  const baseline = baselineOf(loaded, writer, { name: before?.baseline, drafts: ours })
  for (const draft of changes.added) {
    await writer.once(fileOf(draft), entityFile(draft))
  }
  for (const { draft, file, text } of rewritten) {
    await writer.again(file, text)
    for (const note of draft.notes) screen.print(`${draft.table}: ${note}`)
  }
  await writer.again(list, listFile(listedFiles(changes, drafts), writer.isTyped))
  await writer.again(inFolder(REPORT), reportOf(drafts, changes))
  const resources = [
    ...drafts.entities.map(({ resource }) => resource),
    ...[...served.values()].map((one) => one.resource)
  ]
  const calls = routines && (await writeOperations(routines, { folder: loaded.folder, writer, resources }))
  await writer.again(baseline.file, baseline.text, baseline.isLast ? undefined : 'later migrations build on it')
  await writer.state(inFolder(STATE), {
    version: 1,
    ...settingsOf(order, before, drafts),
    baseline: baseline.name,
    tables: changes.tables,
    leftOut: Object.fromEntries(drafts.leftOut.map(({ table, why }) => [table, why]))
  })
  writer.summary()
  const { length: proposed } = order.takesProposals ? [] : drafts.proposed.references
  if (proposed > 0 && changes.added.length > 0)
    screen.print(`References that no foreign key declares: ${proposed} in ${report}`)
  for (const text of routines?.leftOut ?? []) screen.print(text)
  for (const text of drafts.unseen) screen.print(`This account does not see: ${text}`)
  if (record === undefined && !(await writeConfig(loaded, writer, list)))
    screen.print(configLines(loaded, writer, list))
  const there = (loaded.application.operations ?? []).map(({ name }) => name)
  if (calls?.every((name) => there.includes(name)) === false) screen.print(operationLines(writer))
  if (record === undefined) screen.print(nextSteps(report, migrateFlag))
  return drafts.refused.size > 0 ? 1 : 0
}

type RecordBefore = Pick<Introspected, 'tables' | 'leftOut' | 'keys' | 'except'> & Partial<Introspected>

/** What the list of entities and its files say, where the record is gone. undefined where there is no such list. */
async function recordWithoutState(
  list: string,
  of: { readonly loaded: LoadedApplication; readonly served: ReadonlyMap<string, ServedTable> }
): Promise<RecordBefore | undefined> {
  const tables = existsSync(list) ? recordOfFiles(await readFile(list, 'utf8'), of.served) : {}
  if (Object.keys(tables).length === 0) return undefined
  const baseline = of.loaded.application.migrations.find((one) => one.baseline === true)?.name
  return { tables, leftOut: {}, keys: {}, except: [], ...(baseline === undefined ? {} : { baseline }) }
}

/** The names of the files of a folder, without their endings. */
async function filesIn(folder: string): Promise<ReadonlySet<string>> {
  const names = existsSync(folder) ? await readdir(folder) : []
  return new Set(names.map((name) => name.replace(/\.[jt]s$/, '')))
}

interface ToLookAt {
  readonly order: IntrospectOrder
  readonly record: RecordBefore | undefined
  readonly served: ReadonlyMap<string, ServedTable>
  readonly files: ReadonlySet<string>
  readonly renamed: ReadonlyMap<string, string>
  readonly apart: ReadonlySet<string>
}

/** Reads the database, and compares it with the entity files and the record. */
async function look(loaded: LoadedApplication, { order, record, served, files, renamed, apart }: ToLookAt) {
  const mistake = renameMistake(record ?? { tables: {} }, renamed)
  if (mistake !== undefined) throw new Failure(`--renamed: ${mistake}.`)
  const before = record && withRenamed(record, renamed)
  const { keys, except, references = [], stripPrefix, sortable } = settingsOf(order, before)
  const remembered = new Map(Object.entries(before?.keys ?? {}))
  const known = Object.entries(before?.tables ?? {})
  const resourceOf = (table: string): string | undefined => served.get(table)?.resource
  const { drafts, ...others } = await tellingMistakes(() =>
    withLiveDatabase(loaded.application, loaded.environment, async ({ database, own }) => ({
      drafts: await readDatabase(database, {
        keys: new Map(Object.entries(keys)),
        named: new Map(Array.from(order.keys.keys(), (table) => [table, remembered.get(table)])),
        references: references.flatMap((text) => parseReference(text) ?? []),
        namedReferences: new Set(order.references.map(referenceText)),
        proposals: order.isCheck ? 'ignored' : order.takesProposals ? 'taken' : 'told',
        except,
        hidden: before === undefined ? new Map<string, never>() : hiddenColumns(before, served),
        resources: new Map([
          ...[...served].map(([table, { resource }]): [string, string] => [table, resource]),
          ...known.map(([table, one]): [string, string] => [
            table,
            resourceOf(table) ?? resourceOf(one.renamedFrom ?? '') ?? one.resource
          ])
        ]),
        files: known.map(([, { resource }]) => resource),
        ...(stripPrefix === undefined ? {} : { stripPrefix }),
        sortsAll: sortable === 'all',
        own
      }),
      migrateFlag: await flagToMigrate(database, own),
      routines: order.routines ? await readProcedures(database) : undefined
    }))
  )
  const live = new Set([...drafts.entities, ...drafts.leftOut].map(({ table }) => table))
  for (const [from, to] of renamed) {
    if (live.has(from)) throw new Failure(`--renamed ${from}=${to}: the database still has ${from}.`)
    if (!live.has(to)) throw new Failure(`--renamed ${from}=${to}: the database has no table ${to}.`)
  }
  return {
    ...others,
    before,
    drafts,
    changes: compareTables({ drafts, served, files, record: before, except: new Set(except), apart })
  }
}

/** What a run says of itself for the next ones too. */
function settingsOf(
  order: IntrospectOrder,
  before: RecordBefore | undefined,
  { refused, taken }: Pick<Found, 'refused' | 'taken'> = { refused: new Map(), taken: [] }
): Pick<Introspected, 'keys' | 'except' | 'references' | 'stripPrefix' | 'sortable'> {
  const kept = Object.entries(before?.keys ?? {}).filter(([table]) => !order.unkey.includes(table))
  const { except } = order
  const references = rememberedReferences(before?.references ?? [], { named: [...order.references, ...taken], except })
  const stripPrefix = order.stripPrefix ?? before?.stripPrefix
  const sortable = order.sortable ?? before?.sortable
  return {
    keys: Object.fromEntries([...kept, ...[...order.keys].filter(([table]) => !refused.has(table))]),
    except: [...new Set([...(before?.except ?? []), ...except])],
    ...(references.length === 0 ? {} : { references }),
    ...(stripPrefix === undefined ? {} : { stripPrefix }),
    ...(sortable === undefined ? {} : { sortable })
  }
}

/** Asks a terminal whether tables that are gone have other names now. undefined where there is nothing to ask, or no terminal. */
async function askedRenames(
  line: CommandLine,
  of: { readonly order: IntrospectOrder; readonly renamed: readonly PossibleRename[] }
): Promise<Pick<ToLookAt, 'renamed' | 'apart'> | undefined> {
  if (of.renamed.length === 0 || of.order.isDry || of.order.isCheck) return undefined
  const input = line.stdin()
  if (input.isTTY !== true) return undefined
  const lines = createInterface({ input, output: line.stdout })
  try {
    const renamed = new Map<string, string>()
    const apart = new Set<string>()
    for (const { table, to } of of.renamed) {
      const free = to.filter((one) => ![...renamed.values()].includes(one))
      for (const one of free) {
        const answer = await lines.question(
          `Is ${printable(one)} the table ${printable(table)} under another name? [y/N]: `
        )
        if (!/^y(?:es)?$/i.test(answer.trim())) continue
        renamed.set(table, one)
        break
      }
      if (!renamed.has(table)) apart.add(table)
    }
    return { renamed, apart }
  } finally {
    lines.close()
  }
}

interface Rewritten {
  readonly draft: EntityDraft
  readonly file: string
  readonly text: string
}

/** Entity files that this run writes again: it names or forgets the key of their table, and they are as it wrote them. */
async function newlyKeyed(
  { drafts, changes }: { readonly drafts: Pick<Found, 'entities' | 'refused'>; readonly changes: Changes },
  { order, writer, folder }: { readonly order: IntrospectOrder; readonly writer: FileWriter; readonly folder: string }
): Promise<readonly Rewritten[]> {
  const found: Rewritten[] = []
  for (const draft of drafts.entities) {
    const { table } = draft
    const change = changes.changed.find((one) => one.table === table)
    const isNamed = order.keys.has(table) && !drafts.refused.has(table)
    if (change === undefined || (!isNamed && !order.unkey.includes(table))) continue
    const file = join(folder, `${changes.tables[table]?.resource ?? draft.resource}.${writer.extension}`)
    if (await writer.isOurs(file)) found.push({ draft, file, text: entityFile(draft) })
  }
  return found
}

function withRewritten(changes: Changes, rewritten: readonly Rewritten[]): Changes {
  const followed = rewritten.map(({ draft }): [string, Introspected['tables'][string]] => [
    draft.table,
    { ...introspectedTable(draft), resource: changes.tables[draft.table]?.resource ?? draft.resource }
  ])
  return {
    ...changes,
    changed: changes.changed.filter(({ table }) => !rewritten.some(({ draft }) => draft.table === table)),
    tables: { ...changes.tables, ...Object.fromEntries(followed) }
  }
}

/** Without the tables for which a person has another file of that name: no list may import it, and the run goes on to tell it. */
async function withoutForeign(changes: Changes, fileOf: (draft: EntityDraft) => string): Promise<Changes> {
  const foreign = new Set<string>()
  for (const draft of changes.added) {
    const text = await readFile(fileOf(draft), 'utf8').catch(() => undefined)
    const exported = [' ', ':', '='].map((end) => `export const ${draft.constant}${end}`)
    if (text !== undefined && !exported.some((one) => text.includes(one))) foreign.add(draft.table)
  }
  const tables = Object.entries(changes.tables).filter(([table]) => !foreign.has(table))
  return { ...changes, tables: Object.fromEntries(tables) }
}

/**
 * The list names a file until its table is gone and no other one can be it, and the permission to write once the table has
 * versions: the file that is to ask for it would fail without a role that has it.
 */
function listedFiles({ tables, removed }: Changes, { entities }: Drafts): ListedFile[] {
  const gone = new Set(removed.map(({ table }) => table))
  const versioned = new Set(entities.filter((one) => one.versionColumn !== undefined).map(({ table }) => table))
  return Object.entries(tables)
    .filter(([table]) => !gone.has(table))
    .map(([table, { resource, rows }]) => ({
      resource,
      isVersioned: versioned.has(table) || rows.includes('; row version ')
    }))
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
  readonly renamed: ReadonlyMap<string, string>
  readonly references: readonly NamedReference[]
  readonly takesProposals: boolean
  readonly stripPrefix: string | undefined
  readonly sortable: 'all' | 'indexed' | undefined
  readonly routines: boolean
  readonly isDry: boolean
  readonly isCheck: boolean
}

/** In place of references that are named. */
const PROPOSED = 'proposed'

const OPTIONS = {
  key: { type: 'string', multiple: true },
  unkey: { type: 'string', multiple: true },
  except: { type: 'string', multiple: true },
  renamed: { type: 'string', multiple: true },
  reference: { type: 'string', multiple: true },
  'strip-prefix': { type: 'string' },
  sortable: { type: 'string' },
  entities: { type: 'string' },
  routines: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean' },
  check: { type: 'boolean', default: false }
} as const

function parseOrder(args: readonly string[]): IntrospectOrder {
  const {
    key = [],
    unkey = [],
    except = [],
    renamed = [],
    reference = [],
    'strip-prefix': stripPrefix,
    sortable,
    entities = 'entities',
    routines,
    check: isCheck,
    'dry-run': isDry = false
  } = withUsage(USAGE, () => parseArgs({ args: [...args], options: OPTIONS, allowPositionals: false }).values)
  const keys = key.map((text): [string, string[]] => {
    const at = text.lastIndexOf('=')
    const columns = text.slice(at + 1).split(',')
    if (at < 1 || columns.includes('')) throw new Failure(`--key ${text} is not written as it must be.\n${USAGE}`)
    return [text.slice(0, at), columns]
  })
  if (sortable !== undefined && sortable !== 'all' && sortable !== 'indexed') {
    throw new Failure(`--sortable is all or indexed, not ${JSON.stringify(sortable)}.\n${USAGE}`)
  }
  const renames = renamed.map((text): [string, string] => {
    const [from = '', to = '', ...more] = text.split('=')
    if (from === '' || to === '' || more.length > 0)
      throw new Failure(`--renamed ${text} is not written as it must be.\n${USAGE}`)
    return [from, to]
  })
  const references = reference
    .filter((text) => text !== PROPOSED)
    .map((text) => {
      const found = parseReference(text)
      if (found === undefined) throw new Failure(`--reference ${text} is not written as it must be.\n${USAGE}`)
      return found
    })
  return {
    entities,
    references,
    takesProposals: reference.includes(PROPOSED),
    keys: new Map(keys),
    unkey,
    except,
    renamed: new Map(renames),
    stripPrefix,
    sortable,
    routines,
    isDry,
    isCheck
  }
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

async function tellingMistakes<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ReferenceMistake) throw new Failure(error.message, { cause: error })
    throw error
  }
}

/** What every record has. */
const MEMBERS = ['tables', 'leftOut', 'keys', 'except', 'written'] as const

async function readState(file: string): Promise<Introspected | undefined> {
  if (!existsSync(file)) return undefined
  try {
    const state = JSON.parse(await readFile(file, 'utf8')) as Partial<Introspected> | null
    if (state?.version === 1 && MEMBERS.every((one) => typeof state[one] === 'object')) return state as Introspected // ours
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error
    })
  }
  throw new Failure(`${file} is damaged, or was written by another version of uniform-rest.`)
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
