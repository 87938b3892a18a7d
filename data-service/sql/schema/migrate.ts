import type { Logger } from 'pino'
import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { Umzug, type UmzugStorage } from 'umzug'
import { StartError } from '../../../shared/start-error.js'
import type { Database, Ddl } from '../engines/engine.js'

/**
 * One step of the schema, forward only. Its name is never changed or reused once it is released. Some databases commit
 * every DDL statement by itself, so an interrupted step runs again from its start: each statement must be repeatable
 * (`IF NOT EXISTS`).
 */
export interface Migration {
  readonly name: string
  readonly up: (database: MigrationDatabase) => Promise<void>
}

/** The database of a migration. If DDL can be rolled back, all pending migrations share one transaction. */
export interface MigrationDatabase {
  readonly ddl: Ddl
  readonly transaction: Transaction
  run(statement: string): Promise<void>
  /** The rows of a SELECT, for a migration that depends on existing data. */
  select(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

/**
 * Runs the migrations that a database has not had. If it has had all of them, nothing is changed and the right to SELECT
 * is enough. Any number of processes may call this at the same time: one migrates, the others wait.
 */
export async function migrate(database: Database, migrations: readonly Migration[], log: Logger): Promise<void> {
  const { sequelize, schema } = database
  const applied = await schema.appliedMigrations()
  const pending = migrations.filter(({ name }) => !applied.has(name))
  if (pending.length === 0) return
  const ddl = await schema.ddl()
  try {
    await schema.withLock('migrations', async (transaction) => {
      const context: MigrationDatabase = {
        ddl,
        transaction,
        run: async (statement) => {
          await sequelize.query(statement, { transaction })
        },
        select: (statement) => sequelize.query(statement, { transaction, type: QueryTypes.SELECT })
      }
      const umzug = new Umzug<MigrationDatabase>({
        migrations: migrations.map(({ name, up }) => ({ name, up: () => up(context) })),
        context,
        storage: migrationRecord(sequelize),
        logger: undefined
      })
      umzug.on('migrated', ({ name }) => log.info({ migration: name }, 'Migrated'))
      await umzug.up()
    })
  } catch (error) {
    const remedy = await schema.migrationRemedy(error)
    if (remedy === undefined) throw error
    const names = pending.map(({ name }) => name).join(', ')
    throw new StartError(`migrations have to run (${names}), and ${remedy}`, { cause: error })
  }
}

/**
 * The record of a database's migrations, in its table `schema_migrations`. umzug's own storage for Sequelize opens
 * further connections, which would wait for the lock that the migrations hold.
 */
function migrationRecord(sequelize: Sequelize): UmzugStorage<MigrationDatabase> {
  return {
    async executed({ context }) {
      await context.run(context.ddl.createMigrationRecord)
      const rows = await context.select('SELECT `name` FROM `schema_migrations` ORDER BY `name`')
      return rows.map((row) => String(row['name']))
    },
    async logMigration({ name, context }) {
      await sequelize.query(context.ddl.recordMigration, { bind: { name }, transaction: context.transaction })
    },
    unlogMigration({ name }) {
      return Promise.reject(new Error(`Migrations go forward only: ${name} cannot be undone`))
    }
  }
}
