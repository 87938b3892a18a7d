import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import type { Application } from './public/application.js'
import { readConfig } from '../data-service/config.js'
import { type ConfiguredDatabase, openFailure, withDatabase } from '../data-service/sql/connect.js'
import type { Database } from '../data-service/sql/engines/engine.js'
import { namesOfOwn, type OwnNames, type OwnTables, ownTables } from '../data-service/sql/engines/own-tables.js'
import { type Difference, difference, type DifferenceOptions } from '../schema/migrations/difference.js'
import { neededRights, neededRightsToOwn } from '../schema/check/needed-rights.js'
import { engineMigrations } from '../schema/migrations/engine-tables.js'
import { entityTables } from '../schema/migrations/entity-tables.js'
import { findOwnTables, withOwnTables } from '../schema/migrations/find-own-tables.js'
import { type Allowed, readRecord } from '../schema/migrations/look-first.js'
import {
  migrateDatabase as runMigrations,
  type PendingStatements,
  pendingStatements
} from '../schema/migrations/migrate.js'
import { type Migration, plan, schemaAfter } from '../schema/migrations/migration.js'
import { migrationFile } from '../schema/migrations/migration-file.js'
import { type Migrations, numberOf } from '../schema/migrations/migration-folder.js'
import { rollingUpgrade } from '../schema/migrations/rolling-upgrade.js'
import { keepDataPrivate } from '../shared/files.js'
import { createLogger } from '../shared/logger.js'
import { loadApplication, type LoadedApplication } from './application/application.js'
import { type CommandLine, Failure, withUsage } from './application/command.js'
import { schemaOf } from '../schema/kinds/kinds.js'
import { listed } from '../shared/start-error.js'

const USAGE = `Usage: uniform-rest migrate                   runs the migrations that have not run
         --among-tables-of <database>         makes tables in a database that holds tables of others
         --may-alter <table>                  lets migrations alter and refer to a table that none of them made
       uniform-rest migrate --dry-run         prints its statements and runs nothing
       uniform-rest migrate --grants <acc.>   prints what an account of the server must be granted
       uniform-rest migrate status            lists what has run, says whether what is pending allows a rolling upgrade,
                                              and compares the migrations with the entity files
       uniform-rest migrate create <name>     writes the next migration: what the entities need and no migration makes
         --rename <table.column>:<column>     keeps the values of a column with another name; <table>:<table> for a table
         --default <table.column>=<value>     the value of rows that are there
         --allow-drops                        drops tables, columns and indexes that are in no entity file
         --allow-data-loss                    makes types narrower
         --empty                              writes a file without steps, to be filled by hand
         --second-store                       for the database of \`secondStore\`
`

/** `uniform-rest migrate`, `migrate status` and `migrate create <name>`; the last two are also written `--status` and `--create`. */
export async function migrate(line: CommandLine): Promise<number> {
  const order = parseMigrateOrder(line.args)
  const loaded = { ...(await loadApplication(line)), directory: line.directory, print: printTo(line) }
  switch (order.task) {
    case 'run':
      return await eachStore(loaded, (store) => runPending(store, order.allowed))
    case 'dry-run':
      return await eachStore(loaded, (store) => printPending(store, order.allowed), 'stand-in')
    case 'grants':
      return await eachStore(loaded, (store) => printGrants(store, order.account), 'stand-in')
    case 'status':
      return await eachStore(loaded, printStatus, 'stand-in')
    case 'create':
      return await createMigration(loaded, order)
  }
}

type Order =
  | { readonly task: 'run' | 'dry-run'; readonly allowed: Allowed }
  | { readonly task: 'status' }
  | { readonly task: 'grants'; readonly account: string }
  | {
      readonly task: 'create'
      readonly name: string
      readonly isEmpty: boolean
      readonly isSecond: boolean
      readonly options: Omit<DifferenceOptions, 'engineTables'>
    }

const MIGRATE_OPTIONS = {
  create: { type: 'string' },
  status: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  'among-tables-of': { type: 'string', multiple: true },
  'may-alter': { type: 'string', multiple: true },
  grants: { type: 'string' },
  rename: { type: 'string', multiple: true },
  default: { type: 'string', multiple: true },
  'allow-drops': { type: 'boolean' },
  'allow-data-loss': { type: 'boolean' },
  empty: { type: 'boolean' },
  'second-store': { type: 'boolean' }
} as const

function parseMigrateOrder(args: readonly string[]): Order {
  const { values, positionals } = withUsage(USAGE, () =>
    parseArgs({ args: [...args], options: MIGRATE_OPTIONS, allowPositionals: true })
  )
  const {
    create: given,
    status,
    grants,
    'dry-run': dryRun,
    'among-tables-of': among,
    'may-alter': mayAlter,
    ...options
  } = values
  const words = [...positionals, ...(given === undefined ? [] : ['create', given]), ...(status ? ['status'] : [])]
  const [word, name, ...more] = words
  const isCreate = word === 'create'
  const forCreate = Object.keys(options)
  if (more.length > 0 || (!isCreate && (name !== undefined || forCreate.length > 0))) throw new Failure(USAGE)
  const ofRun = [dryRun, among, mayAlter].some((one) => one !== undefined)
  if (grants !== undefined && (word !== undefined || ofRun)) throw new Failure(USAGE)
  if (grants !== undefined) return { task: 'grants', account: grants }
  if (word === undefined) {
    return { task: dryRun ? 'dry-run' : 'run', allowed: { among: among ?? [], mayAlter: mayAlter ?? [] } }
  }
  if (ofRun) throw new Failure(USAGE)
  if (word === 'status') return { task: 'status' }
  if (!isCreate) throw new Failure(`There is no \`migrate ${word}\`.\n${USAGE}`)
  if (name === undefined || !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || name.length > MAX_MIGRATION_NAME) {
    throw new Failure(`\`migrate create\` takes a name such as add-note: lower case, digits and hyphens.\n${USAGE}`)
  }
  return {
    task: 'create',
    name,
    isEmpty: options.empty === true,
    isSecond: options['second-store'] === true,
    options: {
      renames: pairs('--rename', options.rename ?? [], /^([^.:]+(?:\.[^.:]+)?):([^.:]+)$/),
      defaults: pairs('--default', options.default ?? [], /^([^.=]+\.[^.=]+)=(.*)$/s),
      allowDrops: options['allow-drops'] === true,
      allowDataLoss: options['allow-data-loss'] === true
    }
  }
}

/** Names of migrations are recorded in a column of 100 characters. */
const MAX_MIGRATION_NAME = 90

function pairs(flag: string, texts: readonly string[], form: RegExp): ReadonlyMap<string, string> {
  return new Map(
    texts.map((text) => {
      const [, from = '', to = ''] = form.exec(text) ?? []
      if (from === '') throw new Failure(`${flag} ${text} is not written as it must be.\n${USAGE}`)
      return [from, to]
    })
  )
}

/** One of the stores of an application, with its migrations. */
interface Store {
  readonly which: 'primary' | 'second'
  readonly own: Migrations
}

function storesOf({ migrations, secondStore }: Application): Store[] {
  const primary: Store = { which: 'primary', own: migrations }
  return secondStore === undefined ? [primary] : [primary, { which: 'second', own: secondStore.migrations }]
}

/** The migrations of a store with those of the engine that run before them. */
function allMigrations({ which, own }: Store, names: OwnNames): readonly Migration[] {
  return which === 'primary' ? [...engineMigrations(names), ...own] : own
}

interface OpenStore extends Store {
  readonly all: readonly Migration[]
  readonly tables: OwnTables
  readonly database: Database
  readonly setting: string
  readonly application: Application
  readonly print: Print
}

/** Writes a line to standard output. */
type Print = (text: string) => void

function printTo({ stdout }: CommandLine): Print {
  return (text) => void stdout.write(`${text}\n`)
}

interface Loaded extends LoadedApplication {
  /** The working directory. */
  readonly directory: string
  readonly print: Print
}

/** Does the same for each store, and answers the highest exit code. With `stand-in` a database that is not there is taken as an empty one. */
async function eachStore(
  { application, environment, print }: Loaded,
  work: (store: OpenStore) => Promise<number>,
  ifMissing: 'make' | 'stand-in' = 'make'
): Promise<number> {
  const { config } = readConfig(environment, application)
  await keepDataPrivate(config.dataDir, createLogger({ name: 'migrate', level: 'silent' }))
  let code = 0
  for (const store of storesOf(application)) {
    const configured: ConfiguredDatabase | undefined = config.databases[store.which]
    if (configured === undefined) continue
    const { setting, url } = configured
    const run = async (database: Database): Promise<number> => {
      const names = store.which === 'primary' ? config.ownNames : { ...config.ownNames, schema: undefined }
      const tables = await findOwnTables(database, names, store.own)
      return await work({ ...store, all: allMigrations(store, tables), tables, database, setting, application, print })
    }
    try {
      code = Math.max(code, await withDatabase(url, { poolSize: config.databasePoolSize, ifMissing }, run))
    } catch (error) {
      throw openFailure(error, configured)
    }
  }
  return code
}

async function runPending(store: OpenStore, allowed: Allowed): Promise<number> {
  const { database, all, tables, setting, print } = store
  const found = await pendingStatements(database, all, { own: tables, allowed })
  if (found.objection !== undefined) throw found.objection
  const log = createLogger({ name: 'migrate', level: 'silent' })
  const migrated = await runMigrations(database, all, { own: tables, log, allowed })
  for (const name of migrated) print(`${setting}: ran ${name}`)
  if (migrated.length === 0) print(`${setting}: all ${all.length} migrations have run`)
  return 0
}

async function printPending(store: OpenStore, allowed: Allowed): Promise<number> {
  const { database, all, tables, setting, print } = store
  const found = await pendingStatements(database, all, { own: tables, allowed })
  if (found.pending.length === 0) print(`-- ${setting}: all ${all.length} migrations have run`)
  printStatements(store, found)
  if (found.objection !== undefined) print(`${setting}: ${found.objection.message}`.replace(/^/gm, '-- '))
  return 0
}

function printStatements({ setting, print }: OpenStore, { pending, record }: PendingStatements): void {
  if (record !== undefined) print(`-- ${setting}: the record of migrations\n${record};\n`)
  for (const { name, statements } of pending) {
    print(
      [`-- ${setting}: ${name}`, ...statements.map((one) => (one.startsWith('--') ? one : `${one};`)), ''].join('\n')
    )
  }
}

/** Of an account that migrates and of one that serves. */
async function printGrants(
  { which, own: ownMigrations, database, tables, setting, application, print }: OpenStore,
  account: string
) {
  const entities = withOwnTables(application, tables)
  const own = namesOfOwn(tables)
  const needed = [
    ...neededRightsToOwn(tables, which),
    ...neededRights(entities, which).filter(({ table }) => !own.has(table))
  ]
  const altersRows = ownMigrations.some(({ baseline = false }) => !baseline)
  const called = which === 'primary' ? (application.operations ?? []).flatMap((one) => one.procedures) : []
  const procedures = [...new Set(called.map(({ name }) => name))]
  const grants = await schemaOf(database).grants(account, { needed, own: tables, procedures, altersRows })
  if (grants === undefined) {
    print(`-- ${setting} names a file, which has no accounts`)
    return 0
  }
  print([`-- ${setting}: for the account that migrates`, ...grants.migrating, ''].join('\n'))
  print([`-- ${setting}: for the account that serves`, ...grants.serving, ''].join('\n'))
  return 0
}

/** The exit code is 1 if a migration is pending or if entities and migrations differ. */
async function printStatus(store: OpenStore): Promise<number> {
  const { database, all, tables, setting, application, print } = store
  const { applied, takenOver } = await readRecord(database, tables)
  print(`${setting}:`)
  for (const { name } of all) {
    const note = takenOver.has(name) ? ', whose tables stood there already' : ''
    print(`  ${applied.has(name) ? 'applied' : 'pending'}  ${name}${note}`)
  }
  const unknown = [...applied].filter((name) => !all.some((one) => one.name === name)).toSorted()
  for (const name of unknown) print(`  applied  ${name}, which the application does not have`)
  printRollingUpgrade(store, applied)
  const found = differenceOf(store, { application, names: tables })
  const differs = [...found.steps.map(stepText), ...found.problems]
  if (differs.length > 0) {
    print('  The entities need what no migration makes:')
    for (const text of differs) print(`  - ${text}`)
    print(`  \`npx uniform-rest migrate create <name>${store.which === 'second' ? ' --second-store' : ''}\` writes it.`)
  }
  if (found.kept.length > 0) {
    print('  These are in the tables and in no entity file. They stay; `migrate create` with --allow-drops drops them:')
  }
  for (const text of found.kept) print(`  - ${text}`)
  const isPending = all.some(({ name }) => !applied.has(name))
  return isPending || differs.length > 0 ? 1 : 0
}

/** Says whether data services of the version before can go on while the pending migrations run and new ones are started. */
function printRollingUpgrade({ all, print }: OpenStore, applied: ReadonlySet<string>): void {
  const pending = plan(all).planned.filter(({ name }) => !applied.has(name))
  // No version serves from a database in which nothing has run.
  if (pending.length === 0 || applied.size === 0) return
  const { verdict, unsafe, unknown } = rollingUpgrade(pending)
  switch (verdict) {
    case 'safe':
      print('  A rolling upgrade is safe: the pending migrations only add to the tables.')
      return
    case 'unsafe':
      print('  A rolling upgrade is not safe, unless the version that serves now uses nothing of this:')
      break
    case 'unknown':
      print(
        '  Read these steps to know whether a rolling upgrade is safe. All other pending steps only add to the tables:'
      )
  }
  for (const text of unsafe) print(`  - ${text}`)
  if (unsafe.length > 0 && unknown.length > 0) print('  Read these steps too, which nothing but a reader can judge:')
  for (const text of unknown) print(`  - ${text}`)
}

function differenceOf(
  store: Store,
  { application, names }: { readonly application: Application; readonly names: OwnTables },
  options: Omit<DifferenceOptions, 'engineTables'> = {}
): Difference {
  const { which } = store
  const engineTables = new Set(which === 'primary' ? schemaAfter(engineMigrations(names)).keys() : [])
  const wanted = entityTables(withOwnTables(application, names), which)
  return difference(schemaAfter(allMigrations(store, names)), wanted, { ...options, engineTables })
}

function stepText(step: Difference['steps'][number]): string {
  const names = (parts: readonly { readonly name: string }[]): string => parts.map(({ name }) => name).join(', ')
  switch (step.kind) {
    case 'createTable':
      return `the table ${step.table}`
    case 'addColumns':
      return `${step.table}: the columns ${names(step.columns)}`
    case 'alterColumn':
      return `${step.table}: another type of ${step.column.name}`
    case 'addIndexes':
      return `${step.table}: the indexes ${names(step.indexes)}`
    case 'addForeignKeys':
      return `${step.table}: the foreign keys ${names(step.foreignKeys)}`
    case 'dropForeignKeys':
      return `${step.table}: other foreign keys than ${step.foreignKeys.join(', ')}`
    default:
      return `${step.table}: ${step.kind}`
  }
}

async function createMigration(
  { application, folder, environment, directory, print }: Loaded,
  { name, isEmpty, isSecond, options }: Extract<Order, { readonly task: 'create' }>
): Promise<number> {
  const store = storesOf(application).find(({ which }) => (which === 'second') === isSecond)
  if (store === undefined) throw new Failure('The application has no `secondStore` in its uniform-rest.config.ts.')
  const names = ownTables(readConfig(environment, application).config.ownNames)
  const found = isEmpty ? { steps: [], problems: [], kept: [] } : differenceOf(store, { application, names }, options)
  if (found.problems.length > 0) {
    throw new Failure(`Nothing was written.${listed(found.problems)}`)
  }
  for (const text of found.kept) print(`No entity file has ${text}: it stays. --allow-drops drops it.`)
  if (found.steps.length === 0 && !isEmpty) {
    print('The migrations make all that the entities need: nothing was written.')
    return 0
  }
  const isTyped = ['ts', 'mts'].some((extension) => existsSync(join(folder, `uniform-rest.config.${extension}`)))
  const full = `${nextNumber(store.own)}-${name}`
  const target = store.own.folder ?? join(folder, isSecond ? 'second-migrations' : 'migrations')
  const file = join(target, `${full}.${isTyped ? 'ts' : 'js'}`)
  await mkdir(target, { recursive: true })
  await writeFile(file, migrationFile(full, found.steps, { isTyped }), { flag: 'wx' })
  print(`Wrote ${relative(directory, file)}. Read it, and then run \`npx uniform-rest migrate\`.`)
  if (store.own.folder === undefined) {
    print(
      'Add it to the end of the migrations in uniform-rest.config.ts: they are a list, and no folder (migrationsIn).'
    )
  }
  return 0
}

/** After the highest number, in three digits or more. */
export function nextNumber(migrations: Migrations): string {
  const numbers = migrations.map(({ name }) => numberOf(name)).filter((one) => one < Number.MAX_SAFE_INTEGER)
  return String(Math.max(0, ...numbers) + 1).padStart(3, '0')
}
