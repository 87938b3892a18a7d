import type { Logger } from 'pino'
import { QueryTypes, type Sequelize } from 'sequelize'
import { Umzug } from 'umzug'
import { databaseKind } from './database-kind.js'
import { exclusively } from './exclusively.js'
import { migrationRecord } from './migration-record.js'
import type { Migration, MigrationDatabase } from './migration.js'

/**
 * Brings a database up to the last of `migrations`; on one that is there already it changes nothing. Any number of
 * processes may call it at the same moment: one migrates, the others wait for it.
 */
export async function migrate(sequelize: Sequelize, migrations: readonly Migration[], log: Logger): Promise<void> {
  const kind = await databaseKind(sequelize)
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
}
