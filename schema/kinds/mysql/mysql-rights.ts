import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { StartError } from '../../../shared/start-error.js'
import { namesOfOwn, type OwnTables, RECORD } from '../../../data-service/sql/engines/own-tables.js'
import type { Grants, GrantsOptions, TableRight, TableRights } from '../../model/schema-tools.js'
import { quotedText } from './mysql-ddl.js'
import type { MysqlServer } from '../../../data-service/sql/engines/mysql/driver/mysql-connection.js'
import { errnoOf } from '../../../data-service/sql/engines/mysql/driver/mysql-errors.js'

/** ER_DBACCESS_DENIED_ERROR */
const DATABASE_DENIED = 1044
/** ER_TABLEACCESS_DENIED_ERROR */
export const COMMAND_DENIED = 1142
/** ER_COLUMNACCESS_DENIED_ERROR */
const COLUMN_DENIED = 1143
/** ER_BAD_FIELD_ERROR */
const NO_SUCH_COLUMN = 1054
/** ER_NO_SUCH_TABLE */
export const NO_SUCH_TABLE = 1146
/** The server is read-only, or all its transactions are. */
const READ_ONLY_ERRORS: readonly unknown[] = [1290, 1792, 1836]

const RIGHTS_TO_RUN = 'SELECT, INSERT, UPDATE, DELETE'
const RIGHTS_TO_MIGRATE = 'SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES'

/** One column of each table. A server hides tables to which an account has no right at all. */
const VISIBLE_TABLES =
  'SELECT TABLE_SCHEMA AS `schema`, TABLE_NAME AS name, MIN(COLUMN_NAME) AS `column` FROM information_schema.COLUMNS ' +
  'WHERE TABLE_SCHEMA IN (DATABASE(), $schema) GROUP BY TABLE_SCHEMA, TABLE_NAME ORDER BY TABLE_SCHEMA, TABLE_NAME'

/** The account as the catalogue names it, 'user'@'host', where a user may hold an @ too. */
const THIS_ACCOUNT =
  "CONCAT('''', LEFT(CURRENT_USER(), CHAR_LENGTH(CURRENT_USER()) - CHAR_LENGTH(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)) " +
  "- 1), '''@''', SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''')"

/** The rights of this account: to the server, to the databases, and whether there are others, to single tables and by a role. */
const RIGHTS = `
  SELECT 'server' AS place, PRIVILEGE_TYPE AS name FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = ACCOUNT
  UNION ALL
  SELECT 'rows', PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES
  WHERE GRANTEE = ACCOUNT AND DATABASE() LIKE TABLE_SCHEMA
  UNION ALL
  SELECT 'schema', PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES
  WHERE GRANTEE = ACCOUNT AND $schema LIKE TABLE_SCHEMA
  UNION ALL
  SELECT 'table', PRIVILEGE_TYPE FROM information_schema.TABLE_PRIVILEGES
  WHERE GRANTEE = ACCOUNT AND TABLE_SCHEMA IN (DATABASE(), $schema)
  UNION ALL
  SELECT 'role', CURRENT_ROLE() FROM DUAL WHERE COALESCE(CURRENT_ROLE(), 'NONE') <> 'NONE'`.replaceAll(
  'ACCOUNT',
  THIS_ACCOUNT
)

/** The tables that the account may read by name, and the columns that it may read of others. */
const NAMED_RIGHTS = `
  SELECT TABLE_NAME AS name, NULL AS columns FROM information_schema.TABLE_PRIVILEGES
  WHERE GRANTEE = ACCOUNT AND TABLE_SCHEMA = DATABASE() AND PRIVILEGE_TYPE = 'SELECT'
  UNION ALL
  SELECT TABLE_NAME, GROUP_CONCAT(COLUMN_NAME ORDER BY COLUMN_NAME SEPARATOR ', ') FROM information_schema.COLUMN_PRIVILEGES
  WHERE GRANTEE = ACCOUNT AND TABLE_SCHEMA = DATABASE() AND PRIVILEGE_TYPE = 'SELECT' GROUP BY TABLE_NAME
  ORDER BY name`.replaceAll('ACCOUNT', THIS_ACCOUNT)

/** The database of the rows, and the name of the one that holds the engine's tables apart from them. */
interface DatabasesToGrant {
  readonly rows: boolean
  readonly schema: string | undefined
}

/** The rights of the account: what it has, what it lacks, and how they are granted. */
export class MysqlRights {
  readonly #sequelize: Sequelize

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize
  }

  /** As `SchemaTools.migrationRemedy`. */
  async migrationRemedy(error: unknown, own: OwnTables): Promise<string | undefined> {
    const errno = errnoOf(error)
    if (READ_ONLY_ERRORS.includes(errno)) {
      return 'the server is read-only. Start once with a server that takes writes, or end read_only.'
    }
    return errno === COMMAND_DENIED || errno === DATABASE_DENIED
      ? await this.#rightsRemedy({ rows: true, schema: own.schema })
      : undefined
  }

  /** As `SchemaTools.missingRights`. Rights to single tables and those of roles are not looked at: an account with any of them may have what it takes. */
  async missingRights(statements: readonly string[], own: OwnTables): Promise<string | undefined> {
    const rights = await this.#sequelize.query<{ place: string; name: string }>(RIGHTS, {
      bind: { schema: own.schema ?? null },
      type: QueryTypes.SELECT
    })
    if (rights.some(({ place }) => place === 'table' || place === 'role')) return undefined
    const isOwn = (statement: string): boolean => own.schema !== undefined && statement.includes(`\`${own.schema}\`.`)
    const lacks = (place: 'rows' | 'schema'): boolean => {
      const there = statements.filter((statement) => isOwn(statement) === (place === 'schema'))
      return there
        .flatMap(rightsToRun)
        .some((right) => !rights.some((one) => one.name === right && [place, 'server'].includes(one.place)))
    }
    const [rows, schema] = [lacks('rows'), lacks('schema')]
    return rows || schema ? await this.#rightsRemedy({ rows, schema: schema ? own.schema : undefined }) : undefined
  }

  /** As `SchemaTools.unseen`. */
  async unseen(server: MysqlServer): Promise<readonly string[]> {
    const rights = await this.#sequelize.query<{ place: string; name: string }>(RIGHTS, {
      bind: { schema: null },
      type: QueryTypes.SELECT
    })
    if (rights.some(({ place }) => place === 'role')) return []
    const everywhere = new Set(rights.filter(({ place }) => place !== 'table').map(({ name }) => name))
    const byName = await this.#select<{ name: string; columns: string | null }>(NAMED_RIGHTS)
    const tables = new Set(byName.filter(({ columns }) => columns === null).map(({ name }) => name))
    const found: string[] = []
    if (!everywhere.has('SELECT')) {
      found.push('Tables and views to which it has no right: it has SELECT on those that are named here alone.')
      for (const { name, columns } of byName) {
        if (columns !== null && !tables.has(name)) found.push(`Of \`${name}\` all columns but ${columns}.`)
      }
    }
    const hasMore = rights.some(({ name }) => ['INSERT', 'UPDATE', 'DELETE', 'REFERENCES', 'ALTER'].includes(name))
    if (!hasMore) {
      found.push(
        server === 'mysql'
          ? 'Foreign keys, and so references: a server shows them to an account that has more than SELECT, such as INSERT.'
          : 'What foreign keys do when a row is deleted: a server shows that to an account that has more than SELECT, such as INSERT.'
      )
    }
    if (!everywhere.has('TRIGGER'))
      found.push('Triggers, such as those that keep a row version: that takes the right TRIGGER.')
    return found
  }

  /** As `SchemaTools.grants`. */
  async grants(account: string, { needed, own, procedures, altersRows }: GrantsOptions): Promise<Grants> {
    const to = accountText(account)
    const [row] = await this.#select<{ name: string }>('SELECT DATABASE() AS name')
    const here = row?.name ?? ''
    const names = namesOfOwn(own)
    return {
      migrating: [
        // A server shows an account no table to which it has no right, and a baseline is looked for.
        { database: here, rights: altersRows || own.schema === undefined ? RIGHTS_TO_MIGRATE : 'SELECT' },
        ...(own.schema === undefined ? [] : [{ database: own.schema, rights: RIGHTS_TO_MIGRATE }])
      ].map(({ database, rights }) => `GRANT ${rights} ON \`${database}\`.* TO ${to};`),
      serving: [
        ...needed.map(({ table, rights }) => {
          const database = names.has(table) ? (own.schema ?? here) : here
          return `GRANT ${rights.join(', ')} ON \`${database}\`.\`${table}\` TO ${to};`
        }),
        ...procedures.map((name) => executeGrant(here, name, to))
      ]
    }
  }

  /** As `LiveProcedures.grantOf`. */
  async grantOfExecute(): Promise<(name: string) => string> {
    const { account, here } = await this.#thisAccount()
    return (name) => executeGrant(here, name, account)
  }

  async #rightsRemedy(databases: DatabasesToGrant): Promise<string> {
    const grants = await this.#grantStatements(RIGHTS_TO_MIGRATE, databases)
    return `the account has not all rights that it takes. Grant them, for as long as they run: ${grants}`
  }

  /** As `SchemaTools.checkRights`. It only prepares statements: a server checks rights at that moment, also while it is read-only. */
  async check(needed: readonly TableRights[], own: OwnTables): Promise<void> {
    const missing = new Map<string, string[]>()
    await this.#sequelize.transaction(async (transaction) => {
      const tables = await this.#sequelize.query<{ schema: string; name: string; column: string }>(VISIBLE_TABLES, {
        bind: { schema: own.schema ?? null },
        transaction,
        type: QueryTypes.SELECT
      })
      const [here] = await this.#select<{ name: string }>('SELECT DATABASE() AS name', transaction)
      const names = namesOfOwn(own)
      const ours = tables.flatMap(({ schema, name, column }) => {
        if (schema !== (own.schema ?? here?.name) || !names.has(name)) return []
        const rights = name === `${own.prefix}${RECORD}` ? (['SELECT'] as const) : ALL_RIGHTS
        return [{ table: name, schema, column, rights }]
      })
      const others = needed
        .filter(({ table }) => !names.has(table))
        .map((one) => ({ ...one, schema: here?.name ?? '' }))
      for (const { table: name, schema, rights, column } of [...ours, ...others]) {
        for (const right of rights) {
          const statement = rightsStatements(`\`${schema}\`.\`${name}\``, column)[right]
          try {
            await this.#sequelize.query(`PREPARE check_rights FROM ${quotedText(statement)}`, {
              transaction,
              type: QueryTypes.RAW
            })
          } catch (error) {
            const errno = errnoOf(error)
            // The check of the tables, which comes next, names what is not there.
            if (errno === NO_SUCH_TABLE || errno === NO_SUCH_COLUMN) continue
            if (errno !== COMMAND_DENIED && errno !== COLUMN_DENIED) throw error
            missing.set(right, [...(missing.get(right) ?? []), name])
          }
        }
      }
      await this.#sequelize.query("PREPARE check_rights FROM 'SELECT 1'", { transaction })
      await this.#sequelize.query('DEALLOCATE PREPARE check_rights', { transaction })
    })
    if (missing.size === 0) return
    throw await this.errorOf([...missing].map(([right, tables]) => `${right} on ${tables.join(', ')}`).join('; '), own)
  }

  /** The error for an account that has not the rights `what`. */
  async errorOf(what: string, own: OwnTables): Promise<StartError> {
    const grants = await this.#grantStatements(RIGHTS_TO_RUN, { rows: true, schema: own.schema })
    return new StartError(
      `the account has not all rights that it takes (${what}). Grant them: ${grants} ` +
        'Or grant table by table: `uniform-rest migrate --grants <account>` prints no more than it takes.'
    )
  }

  /** `GRANT … ON db.* TO 'user'@'host';` for the account under which the server runs this session. */
  async #grantStatements(rights: string, { rows, schema }: DatabasesToGrant): Promise<string> {
    const { account, here } = await this.#thisAccount()
    return [...(rows ? [here] : []), ...(schema === undefined ? [] : [schema])]
      .map((name) => `GRANT ${rights} ON \`${name}\`.* TO ${account};`)
      .join(' ')
  }

  /** As statements name them. */
  async #thisAccount(): Promise<{ readonly account: string; readonly here: string }> {
    const [row] = await this.#select<{ account: string; name: string }>(
      'SELECT CURRENT_USER() AS account, DATABASE() AS name'
    )
    const [user = '', host = ''] = (row?.account ?? '').split(/@(?=[^@]*$)/)
    return { account: `'${user}'@'${host}'`, here: row?.name ?? '' }
  }

  #select<Row extends object>(statement: string, transaction?: Transaction): Promise<Row[]> {
    return this.#sequelize.query<Row>(statement, {
      type: QueryTypes.SELECT,
      ...(transaction === undefined ? {} : { transaction })
    })
  }
}

/** `app`, `app@10.0.0.%` or `'app'@'%'` as a statement names it. */
function accountText(account: string): string {
  const [, user = '', host = '%'] = /^'?([^'@\\\s]{1,80})'?(?:@'?([^'@\\\s]{1,255})'?)?$/.exec(account) ?? []
  if (user !== '') return `'${user}'@'${host}'`
  throw new StartError(`${account} is no account such as app, app@10.0.0.% or 'app'@'%'.`)
}

function executeGrant(database: string, procedure: string, account: string): string {
  return `GRANT EXECUTE ON PROCEDURE \`${database}\`.\`${procedure}\` TO ${account};`
}

/** The rights that a statement of a migration takes, as MySQL's manual says of each. */
function rightsToRun(statement: string): string[] {
  const references = /\bREFERENCES\b/i.test(statement) ? ['REFERENCES'] : []
  if (/^\s*CREATE\s+TABLE\b/i.test(statement)) return ['CREATE', ...references]
  if (/^\s*DROP\s+TABLE\b/i.test(statement)) return ['DROP']
  if (/^\s*ALTER\s+TABLE\b/i.test(statement)) {
    return ['ALTER', 'CREATE', 'INSERT', ...(/\bRENAME TO\b/i.test(statement) ? ['DROP'] : []), ...references]
  }
  return []
}

const ALL_RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const

function rightsStatements(table: string, column: string): Readonly<Record<TableRight, string>> {
  return {
    SELECT: `SELECT 1 FROM ${table}`,
    INSERT: `INSERT INTO ${table} () VALUES ()`,
    UPDATE: `UPDATE ${table} SET \`${column}\` = NULL`,
    DELETE: `DELETE FROM ${table}`
  }
}
