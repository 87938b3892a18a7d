import { QueryTypes } from 'sequelize'
import type { Sequelize } from 'sequelize'
import type { UmzugStorage } from 'umzug'
import type { MigrationDatabase } from './migration.js'

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
