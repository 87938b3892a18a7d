import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { StartError } from '../../shared/start-error.js'
import { MigrationFailure } from '../../data-service/sql/connect.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import type { Ddl } from '../model/schema-tools.js'
import type { OwnTables } from '../../data-service/sql/engines/own-tables.js'
import type { PresentTable } from '../model/tables.js'
import { type Allowed, begunMark, lookFirst, NOTHING_NAMED, readRecord, takenOverMark } from './look-first.js'
import {
  type Migration,
  type MigrationDatabase,
  plan,
  type PlannedMigration,
  type PlannedStep,
  statementsOfStep
} from './migration.js'
import { schemaOf } from '../kinds/kinds.js'

interface MigrateOptions {
  readonly own: OwnTables
  readonly log: Logger
  /** What a person has named; nothing without it. */
  readonly allowed?: Allowed
}

/**
 * Runs the migrations that a database has not had, and returns their names. If it has had all of them, nothing is changed
 * and the right to SELECT is enough. Any number of processes may call this at the same time: one migrates, the others wait.
 */
export async function migrateDatabase(
  database: Database,
  migrations: readonly Migration[],
  { own, log, allowed = NOTHING_NAMED }: MigrateOptions
): Promise<readonly string[]> {
  const { sequelize } = database
  const schema = schemaOf(database)
  const ddl = await schema.ddl(own)
  const { pending, toTakeOver, objection } = await lookFirst(database, plan(migrations).planned, { own, ddl, allowed })
  if (pending.length === 0) return []
  if (objection !== undefined) throw objection
  const names = pending.map(({ name }) => name).join(', ')
  const statements = pending.flatMap(({ name, steps }) =>
    toTakeOver.has(name) ? [] : steps.flatMap((step) => statementsOfStep(step, ddl))
  )
  const lacking = await schema.missingRights([ddl.createMigrationRecord, ...statements], own)
  if (lacking !== undefined) throw new StartError(`migrations have to run (${names}), and ${lacking}`)
  const migrated: string[] = []
  try {
    for (const { batch, foreignKeys } of batches(pending, ddl)) {
      await schema.withLock('migrations', (transaction) => runBatch(batch, transaction), foreignKeys)
    }
  } catch (error) {
    const remedy = await schema.migrationRemedy(error, own)
    if (remedy === undefined) throw error
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
    const run = async ({ name, steps }: PlannedMigration): Promise<void> => {
      if (toTakeOver.has(name)) return await record.add(takenOverMark(name))
      await record.add(begunMark(name))
      for (const step of steps) await runStep(step, ddl, context)
    }
    const record = migrationRecord(sequelize, ddl, context)
    // Another process may have run some of them before this one had the lock.
    const executed = await record.executed()
    for (const migration of batch.filter(({ name }) => !executed.has(name))) {
      const { name } = migration
      await run(migration).catch((error: unknown) => {
        throw new MigrationFailure(name, error)
      })
      await record.complete(name)
      migrated.push(name)
      log.info({ migration: name }, toTakeOver.has(name) ? 'Recorded: its tables stand there already' : 'Migrated')
    }
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
  how: { readonly own: OwnTables; readonly signal: AbortSignal; readonly waiting: (names: string) => void }
): Promise<void> {
  for (let told = ''; ;) {
    const names = (await pendingNames(database, migrations, how.own)).join(', ')
    if (names === '') return
    if (names !== told) how.waiting(names)
    told = names
    await delay(LOOK_AGAIN, undefined, { signal: how.signal })
  }
}

/** Throws a StartError that names the command if a migration has not run. The right to SELECT is enough. */
async function requireMigrated(database: Database, migrations: readonly Migration[], own: OwnTables): Promise<void> {
  const names = await pendingNames(database, migrations, own)
  if (names.length === 0) return
  const what = names.length === 1 ? 'a migration has' : `${names.length} migrations have`
  throw new StartError(
    `${what} not run: ${names.join(', ')}. Run them with \`uniform-rest migrate\` (\`--dry-run\` prints their statements), ` +
      'or set MIGRATE_AT_START=true to have a start run them.'
  )
}

/** As the setting MIGRATE_AT_START says: runs the migrations, or throws if there are any that have not run. */
export async function migrateAtStart(
  database: Database,
  migrations: readonly Migration[],
  { mayMigrate, ...options }: MigrateOptions & { readonly mayMigrate: boolean }
): Promise<void> {
  if (mayMigrate) await migrateDatabase(database, migrations, options)
  else await requireMigrated(database, migrations, options.own)
}

async function pendingNames(database: Database, migrations: readonly Migration[], own: OwnTables): Promise<string[]> {
  const { applied } = await readRecord(database, own)
  return migrations.map(({ name }) => name).filter((name) => !applied.has(name))
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

async function runStep(step: PlannedStep, ddl: Ddl, database: MigrationDatabase): Promise<void> {
  if ('step' in step) {
    const present = await presentTable(step.step.table, ddl, database)
    for (const statement of ddl.statements(step, present)) await database.run(statement)
    return
  }
  if (step.kind === 'run') return await step.work(database)
  for (const statement of statementsOfStep(step, ddl)) {
    try {
      await database.run(statement)
    } catch (error) {
      // A statement of the engine's own that adds an existing column or index has been run before, as a whole.
      if (step.kind === 'sql' || !ddl.isColumnThere(error)) throw error
    }
  }
}

async function presentTable(table: string, ddl: Ddl, { select }: MigrationDatabase): Promise<PresentTable> {
  const rows = await select(ddl.presence(table))
  const names = (kind: string) => rows.filter((row) => row['kind'] === kind).map((row) => String(row['name']))
  return {
    columns: new Set(names('column')),
    computed: new Set(names('computed')),
    indexes: new Set(names('index')),
    foreignKeys: new Set(names('foreignKey')),
    extras: new Map(
      rows.flatMap(({ name, text }): [string, string][] => (typeof text === 'string' ? [[String(name), text]] : []))
    )
  }
}

/** What pending migrations would do. */
export interface PendingStatements {
  /** Each with its statements; none for one whose tables stand there already. */
  readonly pending: readonly { readonly name: string; readonly statements: readonly string[] }[]
  /** The statement that makes the record of migrations, if the database has none. */
  readonly record: string | undefined
  /** Why they would not run; undefined if they would. */
  readonly objection: StartError | undefined
}

/** The pending migrations of a database with the statements that they would run. Changes nothing. */
export async function pendingStatements(
  database: Database,
  migrations: readonly Migration[],
  { own, allowed = NOTHING_NAMED }: Omit<MigrateOptions, 'log'>
): Promise<PendingStatements> {
  const ddl = await schemaOf(database).ddl(own)
  const look = await lookFirst(database, plan(migrations).planned, { own, ddl, allowed })
  return {
    pending: look.pending.map(({ name, steps }) => ({
      name,
      statements: look.toTakeOver.has(name)
        ? ['-- its tables stand there already: it is recorded, and runs no statement']
        : steps.flatMap((step) => statementsOfStep(step, ddl))
    })),
    record: look.record.applied.size === 0 && look.pending.length > 0 ? ddl.createMigrationRecord : undefined,
    objection: look.objection
  }
}

/** The record of a database's migrations, in the transaction that holds the lock of the migrations. */
function migrationRecord(sequelize: Sequelize, ddl: Ddl, { run, select, transaction }: MigrationDatabase) {
  const bound = async (statement: string, name: string): Promise<void> => {
    await sequelize.query(statement, { bind: { name }, transaction })
  }
  const add = (name: string): Promise<void> => bound(ddl.recordMigration, name)
  return {
    add,
    /** The names of those that were run. */
    async executed(): Promise<ReadonlySet<string>> {
      await run(ddl.createMigrationRecord)
      const rows = await select(ddl.recorded)
      return new Set(rows.map((row) => String(row['name'])))
    },
    async complete(name: string): Promise<void> {
      await add(name)
      // Only now: one that is interrupted before is known by this mark.
      await bound(ddl.forgetMigration, begunMark(name))
    }
  }
}
