import { StartError } from '../../shared/start-error.js'
import type { Children, Entity } from '../../data-service/entity/entity.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import type { PresentRelation } from '../model/schema-tools.js'
import {
  namesOfOwn,
  OWN_TABLES,
  type OwnNames,
  ownTableNames,
  type OwnTables,
  ownTables,
  RECORD
} from '../../data-service/sql/engines/own-tables.js'
import { engineMigrations } from './engine-tables.js'
import type { Migration } from './migration.js'
import { schemaOf } from '../kinds/kinds.js'

/** The names that the engine's tables had up to version 0.2. */
const UNPREFIXED = ownTables({ schema: undefined, prefix: '' })

/**
 * The names of the engine's own tables in a database. One that an earlier version made keeps its names without a prefix for
 * ever: it is known by a record of migrations that has our shape and names migrations of ours. Any other database has the
 * names of the setting. All processes find the same, since only what the database holds decides. Reads, and writes nothing.
 */
export async function findOwnTables(
  database: Database,
  setting: OwnNames,
  migrations: readonly Migration[]
): Promise<OwnTables> {
  const configured = ownTables(setting)
  const isOurs = migrationNames([...engineMigrations(configured), ...migrations])
  const schema = schemaOf(database)
  const here = await schema.present()
  const there = setting.schema === undefined ? here : await schema.present(setting.schema)
  const recorded = hasRecord(here, UNPREFIXED) ? await schema.appliedMigrations(UNPREFIXED) : new Set<string>()
  const earlier = [...recorded].some((name) => isOurs.has(name)) && ofAnother(recorded, migrations).length === 0
  const record = `${setting.prefix}${RECORD}`
  if (there.has(record) && !hasRecord(there, configured)) {
    throw new StartError(
      `${relationText(there.get(record))} ${inSchema(setting, record)} stands there, and it is no record of migrations of this ` +
        'service. Nothing was changed. Name another beginning for the tables of the engine with ENGINE_TABLE_PREFIX, such ' +
        `as ENGINE_TABLE_PREFIX=${setting.schema === undefined ? '' : `${setting.schema}.`}rest_.`
    )
  }
  if (!earlier) {
    const others = there.has(record) ? ofAnother(await schema.appliedMigrations(configured), migrations) : []
    if (others.length === 0) return configured
    throw new StartError(
      `${inSchema(setting, record)} is the record of another application: it names ${others.slice(0, MIGRATIONS_TOLD).join(', ')}` +
        `${others.length > MIGRATIONS_TOLD ? ' and more' : ''}, and no migration of this one. Nothing was changed. Two ` +
        'applications would share accounts, sessions and outbox: give this one a beginning of its own for the tables of the ' +
        `engine, such as ENGINE_TABLE_PREFIX=${setting.schema === undefined ? '' : `${setting.schema}.`}rest_, or a database ` +
        'of its own.'
    )
  }
  const second = there.has(record) ? await schema.appliedMigrations(configured) : new Set<string>()
  if (second.size > 0 && ofAnother(second, migrations).length === 0) {
    throw new StartError(
      `there are two records of migrations, ${RECORD} of an earlier version and ${inSchema(setting, record)}. Nothing was ` +
        'changed. Drop or rename the tables of the engine that are not in use, with their record.'
    )
  }
  requireShapes(here, await schema.appliedMigrations(UNPREFIXED))
  return UNPREFIXED
}

/** So many migrations of another application are told. */
const MIGRATIONS_TOLD = 3

/**
 * The migrations of another application in a record: names that are neither the engine's nor this application's, where none
 * of this application's is there. Each version of one application finds some of its own, and one without migrations cannot
 * be told from another.
 */
function ofAnother(recorded: ReadonlySet<string>, migrations: readonly Migration[]): readonly string[] {
  // Those that have begun, or whose tables stood there, are marked.
  const names = [...recorded].map((name) => name.replace(/^[>~]/, ''))
  const own = migrationNames(migrations)
  if (own.size === 0 || names.some((name) => own.has(name))) return []
  const engine = migrationNames(engineMigrations(UNPREFIXED))
  return [...new Set(names.filter((name) => !engine.has(name)))]
}

/**
 * The entities with the engine's audit entries as they are named in the database. Entity files call them `audit_entries`,
 * unless the application has a table of this name: then one of its migrations makes or describes it.
 */
export function withOwnTables(
  { entities, migrations }: { readonly entities: readonly Entity[]; readonly migrations: readonly Migration[] },
  { prefix, schema }: OwnTables
): readonly Entity[] {
  const makes = ({ steps }: Migration): boolean =>
    steps.some((step) => step.kind === 'createTable' && step.table === 'audit_entries')
  if (migrations.some(makes)) return entities
  return entities.map((entity) => {
    if (entity.table !== 'audit_entries') return entity
    const named = { ...entity, table: `${prefix}audit_entries` }
    return schema === undefined ? named : { ...named, schema }
  })
}

interface NamedTable {
  readonly name: string
  readonly table: string
  readonly children: readonly Children[]
}

/** Entities and children whose table is one of the engine's own in this database, a sentence each. */
export function ownTableMistakes(entities: readonly Entity[], tables: OwnTables): string[] {
  if (tables.schema !== undefined) return []
  const own = new Set(namesOfOwn(tables))
  own.delete(`${tables.prefix}audit_entries`)
  const tablesOf = ({ name, table, children }: NamedTable, path: string): { owner: string; table: string }[] => [
    { owner: `${path}${name}`, table },
    ...children.filter(({ store }) => store === 'primary').flatMap((one) => tablesOf(one, `${path}${name}.`))
  ]
  const named = entities.flatMap((entity) => tablesOf(entity, ''))
  return named
    .filter(({ table }) => own.has(table.toLowerCase()))
    .map(({ owner, table }) => `${owner}: the table ${table} is one of the engine's own. Name another with \`table\`.`)
}

function migrationNames(migrations: readonly Migration[]): ReadonlySet<string> {
  return new Set(migrations.map(({ name }) => name))
}

/** Whether a table of the name and the one column of our record stands there. Other tools have other columns in theirs. */
function hasRecord(present: ReadonlyMap<string, PresentRelation>, { prefix }: OwnTables): boolean {
  const found = present.get(`${prefix}${RECORD}`)
  return found?.kind === 'table' && found.columns.size === 1 && found.columns.has('name')
}

/** Tables that the record says are there must be there and be ours: to begin anew would lose accounts and sessions. */
function requireShapes(present: ReadonlyMap<string, PresentRelation>, applied: ReadonlySet<string>): void {
  for (const table of ownTableNames()) {
    const { since, columns } = OWN_TABLES[table]
    // An engine that knows no clusters has no guards.
    if (!applied.has(since) || (table === 'look_up_guards' && !present.has(table))) continue
    const missing = columns.filter((column) => present.get(table)?.columns.has(column) !== true)
    if (missing.length === 0) continue
    throw new StartError(
      `${RECORD} says that ${since} has run, and ` +
        (present.has(table) ? `${table} has no column ${missing.join(', ')}` : `there is no table ${table}`) +
        '. Nothing was changed. Restore the tables of the engine from a backup, or give it rights to see them.'
    )
  }
}

function relationText(found: PresentRelation | undefined): string {
  return found?.kind === 'view' ? 'a view' : 'a table'
}

function inSchema({ schema }: OwnNames, table: string): string {
  return schema === undefined ? table : `${schema}.${table}`
}
