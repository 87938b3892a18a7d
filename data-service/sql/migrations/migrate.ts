import { QueryTypes, type Sequelize } from 'sequelize'
import type { Logger } from 'pino'
import { Umzug } from 'umzug'
import { StartError } from '../../start-error.js'
import { grantStatement, missingRights } from './check-rights.js'
import { databaseKind } from './database-kind.js'
import { exclusively } from './exclusively.js'
import { migrationRecord } from './migration-record.js'
import type { Migration, MigrationDatabase } from './migration.js'

/**
 * Brings a database up to the last of `migrations`; on one that is there already it changes nothing, and needs the right
 * to SELECT alone. Any number of processes may call it at the same moment: one migrates, the others wait for it.
 */
export async function migrate(sequelize: Sequelize, migrations: readonly Migration[], log: Logger): Promise<void> {
  const kind = await databaseKind(sequelize)
  const pending = kind === 'sqlite' ? migrations : await pendingOf(sequelize, migrations)
  if (pending.length === 0) return
  try {
    await exclusively(sequelize, 'migrations', async (transaction) => {
      const context: MigrationDatabase = {
        kind,
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
    const remedy = kind === 'sqlite' ? undefined : await remedyOf(error, sequelize)
    if (remedy === undefined) throw error
    const names = pending.map(({ name }) => name).join(', ')
    throw new StartError(`migrations have to run (${names}), and ${remedy}`, { cause: error })
  }
}

const NO_SUCH_TABLE = 1146

/** Those that are not in the record: all of them where there is none. */
async function pendingOf(sequelize: Sequelize, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  try {
    const rows = await sequelize.query<{ name: string }>('SELECT `name` FROM `schema_migrations`', {
      type: QueryTypes.SELECT
    })
    const run = new Set(rows.map(({ name }) => name))
    return migrations.filter(({ name }) => !run.has(name))
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === NO_SUCH_TABLE) return migrations
    // Without any right to it the server does not say whether the table is there.
    throw errno === COMMAND_DENIED ? await missingRights(sequelize, 'SELECT on schema_migrations') : error
  }
}

const COMMAND_DENIED = 1142
const DATABASE_DENIED = 1044
const READ_ONLY: readonly number[] = [1290, 1792, 1836]

const RIGHTS_TO_MIGRATE = 'SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES'

async function remedyOf(error: unknown, sequelize: Sequelize): Promise<string | undefined> {
  const errno = errnoOf(error)
  if (READ_ONLY.includes(errno)) {
    return 'the server is read-only. Start once with a server that takes writes, or end read_only.'
  }
  if (errno !== COMMAND_DENIED && errno !== DATABASE_DENIED) return undefined
  const grant = await grantStatement(sequelize, RIGHTS_TO_MIGRATE)
  return `the account has not all rights that it takes. Grant them, for the time of this start at least: ${grant};`
}

/** The server's number behind what Sequelize and umzug make of its error; 0 where there is none. */
function errnoOf(error: unknown): number {
  if (!(error instanceof Error)) return 0
  if ('errno' in error && typeof error.errno === 'number') return error.errno
  return errnoOf('parent' in error ? error.parent : error.cause)
}
