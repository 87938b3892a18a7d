import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { QueryTypes, type Sequelize, Transaction } from 'sequelize'
import { Umzug, type UmzugStorage } from 'umzug'
import { StartError } from '../../../shared/start-error.js'
import { type MysqlServer, serverOf } from '../engines/mysql-connection.js'
import { grantStatement, missingRights } from './check-schema.js'

export type DatabaseKind = 'sqlite' | MysqlServer

/** Which of the three databases this is. MariaDB and MySQL are told apart by asking the server. */
export async function databaseKind(sequelize: Sequelize): Promise<DatabaseKind> {
  if (sequelize.getDialect() === 'sqlite') return 'sqlite'
  const [row] = await sequelize.query<{ version: string }>('SELECT VERSION() AS version', { type: QueryTypes.SELECT })
  return serverOf(row?.version ?? '')
}

/**
 * One step of the schema, forward only. The name is the file's and is never changed or reused once released. MariaDB
 * and MySQL commit every DDL statement by itself, so a step that was cut off runs again from its start: each statement
 * must stand being repeated (`IF NOT EXISTS`).
 */
export interface Migration {
  readonly name: string
  readonly up: (database: MigrationDatabase) => Promise<void>
}

/** What a migration works with. On SQLite all pending migrations share the one transaction. */
export interface MigrationDatabase {
  readonly kind: DatabaseKind
  readonly transaction: Transaction
  run(statement: string): Promise<void>
  /** The rows of a SELECT, for a migration that depends on what is there. */
  select(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}

/**
 * Which migrations a database has had, kept in its table `schema_migrations`. umzug's own storage for Sequelize takes
 * connections of its own, which the write lock of SQLite would shut out.
 */
export function migrationRecord(sequelize: Sequelize): UmzugStorage<MigrationDatabase> {
  return {
    async executed({ context }) {
      const name = context.kind === 'sqlite' ? 'TEXT' : 'VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin'
      await context.run(`CREATE TABLE IF NOT EXISTS \`schema_migrations\` (\`name\` ${name} NOT NULL PRIMARY KEY)`)
      const rows = await sequelize.query<{ name: string }>('SELECT `name` FROM `schema_migrations` ORDER BY `name`', {
        transaction: context.transaction,
        type: QueryTypes.SELECT
      })
      return rows.map((row) => row.name)
    },
    async logMigration({ name, context }) {
      // Two nodes of a cluster do not share named locks: the second of them finds the row there.
      const insert = context.kind === 'sqlite' ? 'INSERT OR IGNORE' : 'INSERT IGNORE'
      await sequelize.query(`${insert} INTO \`schema_migrations\` (\`name\`) VALUES ($name)`, {
        bind: { name },
        transaction: context.transaction
      })
    },
    unlogMigration({ name }) {
      return Promise.reject(new Error(`Migrations go forward only: ${name} cannot be undone`))
    }
  }
}

const WAIT_SECONDS = 600
const SQLITE_POLL_MS = 50

/**
 * Runs `work` in a transaction while no other process runs work under the same `name` against the same database;
 * others wait until it has committed. A process that dies gives the lock back. On MariaDB and MySQL it takes two
 * connections of the pool, on SQLite the one writer's lock of the file, whatever the name.
 */
export async function exclusively<T>(
  sequelize: Sequelize,
  name: string,
  work: (transaction: Transaction) => Promise<T>
): Promise<T> {
  return sequelize.getDialect() === 'sqlite' ? alone(sequelize, work) : locked(sequelize, name, work)
}

/** The lock belongs to a connection of its own, since it must outlast the commit of the work. */
async function locked<T>(
  sequelize: Sequelize,
  name: string,
  work: (transaction: Transaction) => Promise<T>
): Promise<T> {
  return sequelize.transaction(async (holder) => {
    // Lock names are of the whole server and at most 64 characters.
    const lock = "CONCAT(MD5(DATABASE()), ':', $name)"
    const options = { bind: { name }, transaction: holder, type: QueryTypes.SELECT } as const
    const [row] = await sequelize.query<{ got: unknown }>(`SELECT GET_LOCK(${lock}, ${WAIT_SECONDS}) AS got`, options)
    if (Number(row?.got) !== 1) throw new Error(`The database's ${name} lock was not free within ${WAIT_SECONDS} s`)
    try {
      return await sequelize.transaction(work)
    } finally {
      await sequelize.query(`SELECT RELEASE_LOCK(${lock})`, options)
    }
  })
}

async function alone<T>(sequelize: Sequelize, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const deadline = performance.now() + WAIT_SECONDS * 1000
  for (;;) {
    let started = false
    try {
      return await sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE }, (transaction) => {
        started = true
        return work(transaction)
      })
    } catch (error) {
      if (started || !isBusy(error) || performance.now() > deadline) throw error
      await delay(SQLITE_POLL_MS)
    }
  }
}

/** Whether another connection holds the file. The driver's error may be wrapped by Sequelize. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && (/SQLITE_BUSY|database is locked/.test(error.message) || isBusy(error.cause))
}

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
