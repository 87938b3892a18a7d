import type { Logger } from 'pino'
import { StartError } from '../shared/start-error.js'
import type { Operation } from '../data-service/entity/define-operation.js'
import type { Entity } from '../data-service/entity/entity.js'
import { type ConfiguredDatabase, explaining, opening } from '../data-service/sql/connect.js'
import type { Database } from '../data-service/sql/engines/engine.js'
import type { OwnNames, OwnTables } from '../data-service/sql/engines/own-tables.js'
import { procedureMistakes } from './check/check-procedures.js'
import { checkSchema, unreachableRows } from './check/check-schema.js'
import { neededRights } from './check/needed-rights.js'
import { schemaOf } from './kinds/kinds.js'
import { engineMigrations } from './migrations/engine-tables.js'
import { findOwnTables, ownTableMistakes, withOwnTables } from './migrations/find-own-tables.js'
import { awaitMigrated, migrateAtStart } from './migrations/migrate.js'
import type { Migrations } from './migrations/migration-folder.js'
import { type LiveFacts, readTableFacts } from './table-facts.js'
import { isolatableResources, logIsolated, type SchemaMismatch, TableFit } from './table-fit.js'

/** The part of an application that has tables. */
interface ApplicationTables {
  readonly entities: readonly Entity[]
  readonly operations?: readonly Operation[]
  readonly migrations: Migrations
  readonly secondStore?: { readonly migrations: Migrations }
}

interface HowToPrepare {
  readonly configured: ConfiguredDatabase
  readonly application: ApplicationTables
  /** What ENGINE_TABLE_PREFIX says. */
  readonly ownNames: OwnNames
  /** Whether pending migrations run. Otherwise they are mistakes. */
  readonly mayMigrate: boolean
  /** What SCHEMA_MISMATCH says. */
  readonly mismatch: SchemaMismatch
  readonly log: Logger
}

/** The primary database, ready for requests. */
export interface PreparedPrimary {
  readonly tables: OwnTables
  /** Those of the application, with the tables that they have in this database, and full-text searches only where it has them. */
  readonly entities: readonly Entity[]
  readonly facts: LiveFacts
  /** The resources that are taken out of service where their tables do not fit. */
  readonly isolatable: ReadonlySet<string>
  readonly fit: TableFit
}

/**
 * Brings the primary database up to date, and checks rights, tables and rows against the entities. Throws a StartError that
 * names the setting, the reason and the remedy where the service could not serve it. `waiting`: wait until somebody else has
 * run pending migrations instead of running them, and say so once.
 */
export async function preparePrimary(
  database: Database,
  { configured, application, ownNames, mayMigrate, mismatch, log }: HowToPrepare,
  awaitMigrations?: AbortSignal
): Promise<PreparedPrimary> {
  const tables = await opening(configured, () => findOwnTables(database, ownNames, application.migrations))
  const entities = withOwnTables(application, tables)
  requireOtherTables(entities, tables)
  const migrations = [...engineMigrations(tables), ...application.migrations]
  await opening(configured, () =>
    awaitMigrations === undefined
      ? migrateAtStart(database, migrations, { own: tables, log, mayMigrate })
      : awaitMigrated(database, migrations, { own: tables, signal: awaitMigrations, waiting: waitingIn(log) })
  )
  const tools = schemaOf(database)
  await opening(configured, () => tools.checkRights(neededRights(entities, 'primary'), tables))
  const { setting } = configured
  for (const text of await opening(configured, () => procedureMistakes(database, application.operations))) {
    if (!database.dialect.isServer) throw new StartError(`${setting}: ${text}`)
    log.warn(text)
  }
  const { migrations: made } = application
  const isolatable = await opening(configured, () =>
    isolatableResources(database, { entities, migrations: made }, { own: tables, mismatch })
  )
  const { live, isolated } = await explaining(configured, () =>
    checkSchema(database, { store: 'primary', setting, log, isolatable }, entities)
  )
  for (const [resource, reason] of isolated) logIsolated(log, resource, reason)
  const fitting = entities.filter(({ name }) => !isolated.has(name))
  for (const { resource, ids } of await explaining(configured, () => unreachableRows(database, fitting))) {
    log.warn({ resource, ids }, 'rows have ids that no path can name: they are in lists alone')
  }
  return {
    tables,
    entities: entities.map((one) => (database.dialect.words === undefined ? { ...one, fullText: false } : one)),
    facts: await explaining(configured, () => readTableFacts(tools, live, fitting)),
    isolatable,
    fit: new TableFit(isolated)
  }
}

/** The same for the second store, whose errors are those of the database: it may be down, and is tried again. */
export async function prepareSecond(
  database: Database,
  { configured: { setting }, application, ownNames, mayMigrate, log }: Omit<HowToPrepare, 'mismatch'>
): Promise<void> {
  const { entities, secondStore: { migrations } = { migrations: [] } } = application
  // It holds no table of the engine but the record of its own migrations.
  const own = await findOwnTables(database, { ...ownNames, schema: undefined }, migrations)
  await migrateAtStart(database, migrations, { own, log, mayMigrate })
  await schemaOf(database).checkRights(neededRights(entities, 'second'), own)
  await checkSchema(database, { store: 'second', setting, log }, entities)
}

function waitingIn(log: Logger): (names: string) => void {
  return (names) =>
    log.warn({ migrations: names }, 'waiting for migrations: read them, and then run `npx uniform-rest migrate`')
}

function requireOtherTables(entities: readonly Entity[], tables: OwnTables): void {
  const mistakes = ownTableMistakes(entities, tables)
  if (mistakes.length > 0) throw new StartError('entities name tables of the engine.', { mistakes })
}
