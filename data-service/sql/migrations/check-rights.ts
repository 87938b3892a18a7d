import { QueryTypes, type Sequelize } from 'sequelize'
import { StartError } from '../../start-error.js'

const RIGHTS = 'SELECT, INSERT, UPDATE, DELETE'

/** Of tables; a server hides those that an account has no right to at all. */
const COLUMNS =
  'SELECT TABLE_NAME AS name, MIN(COLUMN_NAME) AS `column` FROM information_schema.COLUMNS ' +
  'WHERE TABLE_SCHEMA = DATABASE() GROUP BY TABLE_NAME ORDER BY TABLE_NAME'

/** SELECT command denied, and the same for a column. */
const DENIED: readonly unknown[] = [1142, 1143]

/** A file that may only be read lets a transaction begin, and refuses the first statement that could write. */
const WRITES_NOTHING = "DELETE FROM `schema_migrations` WHERE `name` = ''"

/**
 * Finds out whether an SQLite file may be written to, and whether the account may read and write every table of a MySQL or MariaDB database, without writing anything:
 * a server checks rights when it prepares a statement, also while it is read-only. Throws a StartError that names what
 * is missing and the statement that grants it.
 */
export async function checkRights(sequelize: Sequelize): Promise<void> {
  if (sequelize.getDialect() === 'sqlite') {
    await sequelize.query(WRITES_NOTHING)
    return
  }
  const missing = new Map<string, string[]>()
  await sequelize.transaction(async (transaction) => {
    const tables = await sequelize.query<{ name: string; column: string }>(COLUMNS, {
      transaction,
      type: QueryTypes.SELECT
    })
    for (const { name, column } of tables) {
      for (const [right, statement] of statementsOf(name, column)) {
        try {
          await sequelize.query(`PREPARE check_rights FROM '${statement}'`, { transaction, type: QueryTypes.RAW })
        } catch (error) {
          if (!DENIED.includes(errnoOf(error))) throw error
          missing.set(right, [...(missing.get(right) ?? []), name])
        }
      }
    }
    await sequelize.query("PREPARE check_rights FROM 'SELECT 1'", { transaction })
    await sequelize.query('DEALLOCATE PREPARE check_rights', { transaction })
  })
  if (missing.size === 0) return
  const what = [...missing].map(([right, tables]) => `${right} on ${tables.join(', ')}`).join('; ')
  throw await missingRights(sequelize, what)
}

/** What the account of a running service may not do, which it has to. */
export async function missingRights(sequelize: Sequelize, what: string): Promise<StartError> {
  const grant = await grantStatement(sequelize, RIGHTS)
  return new StartError(`the account has not all rights that it takes (${what}). Grant them: ${grant};`)
}

/** `GRANT … ON db.* TO 'user'@'host'`, for the account that the server takes this one for. */
export async function grantStatement(sequelize: Sequelize, rights: string): Promise<string> {
  const [row] = await sequelize.query<{ account: string; name: string }>(
    'SELECT CURRENT_USER() AS account, DATABASE() AS name',
    { type: QueryTypes.SELECT }
  )
  const [user = '', host = ''] = (row?.account ?? '').split(/@(?=[^@]*$)/)
  return `GRANT ${rights} ON \`${row?.name ?? ''}\`.* TO '${user}'@'${host}'`
}

function statementsOf(table: string, column: string): readonly (readonly [string, string])[] {
  return [
    ['SELECT', `SELECT 1 FROM \`${table}\``],
    ['INSERT', `INSERT INTO \`${table}\` () VALUES ()`],
    ['UPDATE', `UPDATE \`${table}\` SET \`${column}\` = NULL`],
    ['DELETE', `DELETE FROM \`${table}\``]
  ]
}

function errnoOf(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined
  return 'errno' in error ? error.errno : errnoOf('parent' in error ? error.parent : undefined)
}
