import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { Umzug, type UmzugStorage } from 'umzug'
import { messageOf, StartError } from '../../../shared/start-error.js'
import type { Database, Ddl, OwnTablesMigration } from '../engines/engine.js'
import type { EngineName } from '../engines/engines.js'
import { applyStep, type PresentTable, type Schema, type TableChange, type TableStep } from '../engines/tables.js'

/**
 * A change of the schema, forward only. Its name is never changed or reused once it is released, and neither are its steps:
 * what comes later is another migration. Some databases commit every DDL statement by itself, so an interrupted migration
 * runs again from its start. The steps of builders.ts leave out what is done; `sql` and `run` must be repeatable.
 */
export interface Migration {
  readonly name: string
  readonly steps: readonly Step[]
}

/** A step is data, so that the schema after it is known without a database. */
export type Step = TableStep | SqlStep | RunStep | EngineTablesStep

interface SqlStep {
  readonly kind: 'sql'
  readonly statements: Readonly<Record<EngineName, string | readonly string[]>>
  /** The steps that amount to the same. */
  readonly leaves: readonly Step[]
}

interface RunStep {
  readonly kind: 'run'
  readonly description: string
  readonly work: (database: MigrationDatabase) => Promise<void>
}

/** Tables of the engine that belong to no entity; each engine holds the statements. */
interface EngineTablesStep {
  readonly kind: 'engineTables'
  readonly name: OwnTablesMigration
}

/** The database of a step. If DDL can be rolled back, all pending migrations share one transaction. */
export interface MigrationDatabase {
  /** The kind of database: a member of what `sql` takes. */
  readonly engine: string
  readonly transaction: Transaction
  run(statement: string): Promise<void>
  /** The rows of a SELECT, for a migration that depends on existing data. */
  select(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

/** A migration whose steps know the tables that they change. */
interface PlannedMigration {
  readonly name: string
  readonly steps: readonly (TableChange | Exclude<Step, TableStep>)[]
}

/** The tables that the migrations make, without those of `engineTables` and of `sql` that does not say what it leaves. */
export function schemaAfter(migrations: readonly Migration[]): Schema {
  return plan(migrations).schema
}

/** Throws a StartError that names the migration and the step that does not fit those before it. */
function plan(migrations: readonly Migration[]): { readonly planned: PlannedMigration[]; readonly schema: Schema } {
  let schema: Schema = new Map()
  const planned = migrations.map(({ name, steps }) => {
    const planStep = (step: Step): PlannedMigration['steps'][number] => {
      switch (step.kind) {
        case 'sql':
          step.leaves.forEach(planStep)
          return step
        case 'run':
        case 'engineTables':
          return step
        default: {
          const before = schema.get(step.table)
          schema = applyStep(schema, step)
          return { step, before, after: schema.get(step.kind === 'renameTable' ? step.to : step.table) }
        }
      }
    }
    try {
      return { name, steps: steps.map(planStep) }
    } catch (error) {
      throw new StartError(`the migration ${name} does not fit those before it: ${messageOf(error)}.`, { cause: error })
    }
  })
  return { planned, schema }
}

/**
 * Runs the migrations that a database has not had, and returns their names. If it has had all of them, nothing is changed
 * and the right to SELECT is enough. Any number of processes may call this at the same time: one migrates, the others wait.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  log: Logger
): Promise<readonly string[]> {
  const { sequelize, schema } = database
  const pending = await pendingMigrations(database, migrations)
  if (pending.length === 0) return []
  const ddl = await schema.ddl()
  const migrated: string[] = []
  try {
    for (const { batch, foreignKeys } of batches(pending, ddl)) {
      await schema.withLock('migrations', (transaction) => runBatch(batch, transaction), foreignKeys)
    }
  } catch (error) {
    const remedy = await schema.migrationRemedy(error)
    if (remedy === undefined) throw error
    const names = pending.map(({ name }) => name).join(', ')
    throw new StartError(`migrations have to run (${names}), and ${remedy}`, { cause: error })
  }
  return migrated

  async function runBatch(batch: readonly PlannedMigration[], transaction: Transaction): Promise<void> {
    const context: MigrationDatabase = {
      engine: ddl.engine,
      transaction,
      run: async (statement) => {
        await sequelize.query(statement, { transaction })
      },
      select: (statement) => sequelize.query(statement, { transaction, type: QueryTypes.SELECT })
    }
    const umzug = new Umzug<MigrationDatabase>({
      migrations: batch.map((migration) => ({
        name: migration.name,
        up: async () => {
          for (const step of migration.steps) await runStep(step, ddl, context)
        }
      })),
      context,
      storage: migrationRecord(sequelize, ddl),
      logger: undefined
    })
    umzug.on('migrated', ({ name }) => {
      migrated.push(name)
      log.info({ migration: name }, 'Migrated')
    })
    await umzug.up()
  }
}

/** Milliseconds between two looks for migrations that somebody else runs. */
const LOOK_AGAIN = 500

/**
 * Resolves when somebody else has run the migrations. `waiting` gets the names of those that have not run, at first and
 * whenever they change. Rejects when the signal is aborted.
 */
export async function awaitMigrated(
  database: Database,
  migrations: readonly Migration[],
  how: { readonly signal: AbortSignal; readonly waiting: (names: string) => void }
): Promise<void> {
  for (let told = ''; ;) {
    const names = (await pendingMigrations(database, migrations)).map(({ name }) => name).join(', ')
    if (names === '') return
    if (names !== told) how.waiting(names)
    told = names
    await delay(LOOK_AGAIN, undefined, { signal: how.signal })
  }
}

async function pendingMigrations(database: Database, migrations: readonly Migration[]): Promise<PlannedMigration[]> {
  const { planned } = plan(migrations)
  const applied = await database.schema.appliedMigrations()
  return planned.filter(({ name }) => !applied.has(name))
}

/** Migrations in a row that need the same of the foreign keys share a lock and, if DDL can be rolled back, a transaction. */
function batches(pending: readonly PlannedMigration[], ddl: Ddl) {
  const all: { batch: PlannedMigration[]; readonly foreignKeys: 'checkedAtEnd' | undefined }[] = []
  for (const migration of pending) {
    const defers = migration.steps.some((step) => 'step' in step && ddl.defersForeignKeys(step))
    const foreignKeys = defers ? 'checkedAtEnd' : undefined
    const last = all.at(-1)
    if (last !== undefined && last.foreignKeys === foreignKeys) last.batch.push(migration)
    else all.push({ batch: [migration], foreignKeys })
  }
  return all
}

async function runStep(step: PlannedMigration['steps'][number], ddl: Ddl, database: MigrationDatabase): Promise<void> {
  if ('step' in step) {
    const present = await presentTable(step.step.table, ddl, database)
    for (const statement of ddl.statements(step, present)) await database.run(statement)
    return
  }
  if (step.kind === 'run') return await step.work(database)
  for (const statement of statementsOf(step, ddl)) {
    try {
      await database.run(statement)
    } catch (error) {
      // A statement of the engine's own that adds an existing column has been run before, as a whole.
      if (step.kind === 'sql' || !ddl.isColumnThere(error)) throw error
    }
  }
}

async function presentTable(table: string, ddl: Ddl, { select }: MigrationDatabase): Promise<PresentTable> {
  const rows = await select(ddl.presence(table))
  const names = (kind: string) => rows.filter((row) => row['kind'] === kind).map((row) => String(row['name']))
  return {
    columns: new Set(names('column')),
    indexes: new Set(names('index')),
    foreignKeys: new Set(names('foreignKey')),
    extras: new Map(
      rows.flatMap(({ name, text }): [string, string][] => (typeof text === 'string' ? [[String(name), text]] : []))
    )
  }
}

/** The texts of a step, as they are for a database that has had the steps before it. */
function statementsOf(step: PlannedMigration['steps'][number], ddl: Ddl): readonly string[] {
  if ('step' in step) return ddl.statements(step)
  switch (step.kind) {
    case 'sql':
      return ownStatements(step.statements, ddl.engine)
    case 'run':
      return [`-- ${step.description}`]
    case 'engineTables':
      return ddl.ownTables[step.name]
  }
}

function ownStatements(statements: Readonly<Record<string, string | readonly string[]>>, engine: string) {
  return [statements[engine] ?? []].flat()
}

/** The names of the pending migrations of a database with the statements that they would run. Changes nothing. */
export async function pendingStatements(
  database: Database,
  migrations: readonly Migration[]
): Promise<readonly { readonly name: string; readonly statements: readonly string[] }[]> {
  const ddl = await database.schema.ddl()
  const pending = await pendingMigrations(database, migrations)
  return pending.map(({ name, steps }) => ({ name, statements: steps.flatMap((step) => statementsOf(step, ddl)) }))
}

/** The statements of each migration on one kind of database that has had none of them. */
export function statementsOfAll(migrations: readonly Migration[], ddl: Ddl): ReadonlyMap<string, readonly string[]> {
  const { planned } = plan(migrations)
  return new Map(planned.map(({ name, steps }) => [name, steps.flatMap((step) => statementsOf(step, ddl))]))
}

/**
 * The record of a database's migrations, in its table `schema_migrations`. umzug's own storage for Sequelize opens
 * further connections, which would wait for the lock that the migrations hold.
 */
function migrationRecord(sequelize: Sequelize, ddl: Ddl): UmzugStorage<MigrationDatabase> {
  return {
    async executed({ context }) {
      await context.run(ddl.createMigrationRecord)
      const rows = await context.select('SELECT `name` FROM `schema_migrations` ORDER BY `name`')
      return rows.map((row) => String(row['name']))
    },
    async logMigration({ name, context }) {
      await sequelize.query(ddl.recordMigration, { bind: { name }, transaction: context.transaction })
    },
    unlogMigration({ name }) {
      return Promise.reject(new Error(`Migrations go forward only: ${name} cannot be undone`))
    }
  }
}
