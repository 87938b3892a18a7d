import type { Logger } from 'pino'
import { StartError } from '../shared/start-error.js'
import type { Operation } from '../data-service/entity/define-operation.js'
import type { Entity } from '../data-service/entity/entity.js'
import type { Preparing, PreparedPrimary, SchemaAtStart, SchemaMismatch } from '../data-service/schema-at-start.js'
import { explaining, opening } from '../data-service/sql/connect.js'
import type { Database } from '../data-service/sql/engines/engine.js'
import type { OwnTables } from '../data-service/sql/engines/own-tables.js'
import { procedureMistakes } from './check/check-procedures.js'
import { checkSchema, unreachableRows } from './check/check-schema.js'
import { neededRights } from './check/needed-rights.js'
import { schemaOf } from './kinds/kinds.js'
import { engineMigrations } from './migrations/engine-tables.js'
import { findOwnTables, ownTableMistakes, withOwnTables } from './migrations/find-own-tables.js'
import { awaitMigrated, migrateAtStart } from './migrations/migrate.js'
import type { Migrations } from './migrations/migration-folder.js'
import { loadSampleRows, type SampleAggregate } from './sample-rows.js'
import { readTableFacts } from './table-facts.js'
import { isolatableResources, LiveFit, logIsolated } from './table-fit.js'

/** The part of an application that has tables. */
interface ApplicationTables {
  readonly entities: readonly Entity[]
  readonly operations?: readonly Operation[]
  readonly migrations: Migrations
  readonly secondStore?: { readonly migrations: Migrations }
  readonly sample?: { readonly rows?: () => ReadonlyMap<string, readonly SampleAggregate[]> }
}

/** What the data service asks at its start of the schema of an application. */
export function schemaAtStart(application: ApplicationTables): SchemaAtStart {
  return {
    primary: (database, how, awaitMigrations) => preparePrimary(database, { application, ...how }, awaitMigrations),
    second: (database, how) => prepareSecond(database, { application, ...how }),
    async loadSample(stores, entities) {
      const rows = application.sample?.rows
      return rows !== undefined && (await loadSampleRows(stores, entities, rows))
    }
  }
}

type OfApplication = Preparing & { readonly application: ApplicationTables }

async function preparePrimary(
  database: Database,
  {
    configured,
    application,
    ownNames,
    mayMigrate,
    mismatch,
    log
  }: OfApplication & { readonly mismatch: SchemaMismatch },
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
  const served = entities.map((one) => (database.dialect.words === undefined ? { ...one, fullText: false } : one))
  const fitting = entities.filter(({ name }) => !isolated.has(name))
  for (const { resource, ids } of await explaining(configured, () => unreachableRows(database, fitting))) {
    log.warn({ resource, ids }, 'rows have ids that no path can name: they are in lists alone')
  }
  const facts = await explaining(configured, () => readTableFacts(tools, live, fitting))
  return {
    tables,
    entities: served,
    facts,
    fit: new LiveFit(isolated, { database, entities: served, isolatable, facts, log })
  }
}

async function prepareSecond(
  database: Database,
  { configured: { setting }, application, ownNames, mayMigrate, log }: OfApplication
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
