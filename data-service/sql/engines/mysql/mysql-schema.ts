import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { StartError } from '../../../../shared/start-error.js'
import type { Ddl, Grants, PresentRelation, SchemaTools, TableRight, TableRights } from '../schema-tools.js'
import type { StoredValues } from '../live-schema/column-types.js'
import { countKey, type KeyCounts } from '../live-schema/key-counts.js'
import type { LiveColumn, LiveSchema } from '../live-schema/live-schema.js'
import { mysqlCatalogue } from './mysql-catalogue.js'
import { mysqlStoredValues } from './mysql-stored-values.js'
import { mysqlTypes } from './mysql-types.js'
import { mysqlChecks } from './mysql-checks.js'
import { collationOf, type MysqlServer, serverOf } from './mysql-connection.js'
import { mysqlPresence, mysqlStatements, quotedText, TABLE_OPTIONS } from './mysql-ddl.js'
import { errnoOf } from './mysql-sessions.js'
import {
  namesOfOwn,
  type OwnTables,
  type OwnTablesMigration,
  ownStatements,
  quotedTable,
  RECORD
} from '../own-tables.js'

/** ER_DBACCESS_DENIED_ERROR */
const DATABASE_DENIED = 1044
/** ER_DUP_FIELDNAME */
const DUPLICATE_COLUMN = 1060
/** ER_TABLEACCESS_DENIED_ERROR */
const COMMAND_DENIED = 1142
/** ER_COLUMNACCESS_DENIED_ERROR */
const COLUMN_DENIED = 1143
/** ER_BAD_FIELD_ERROR */
const NO_SUCH_COLUMN = 1054
/** ER_NO_SUCH_TABLE */
const NO_SUCH_TABLE = 1146
/** The server is read-only, or all its transactions are. */
const READ_ONLY: readonly unknown[] = [1290, 1792, 1836]

const RIGHTS_TO_RUN = 'SELECT, INSERT, UPDATE, DELETE'
const RIGHTS_TO_MIGRATE = 'SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, DROP, INDEX, REFERENCES'

const LOCK_TIMEOUT_SECONDS = 600

/** One column of each table. A server hides tables to which an account has no right at all. */
const TABLES =
  'SELECT TABLE_SCHEMA AS `schema`, TABLE_NAME AS name, MIN(COLUMN_NAME) AS `column` FROM information_schema.COLUMNS ' +
  'WHERE TABLE_SCHEMA IN (DATABASE(), $schema) GROUP BY TABLE_SCHEMA, TABLE_NAME ORDER BY TABLE_SCHEMA, TABLE_NAME'

/** The rights of this account: to the server, to the databases, and whether there are others that are not listed. */
const RIGHTS = `
  SELECT 'server' AS place, PRIVILEGE_TYPE AS name FROM information_schema.USER_PRIVILEGES WHERE GRANTEE = ACCOUNT
  UNION ALL
  SELECT 'rows', PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES
  WHERE GRANTEE = ACCOUNT AND DATABASE() LIKE TABLE_SCHEMA
  UNION ALL
  SELECT 'schema', PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES
  WHERE GRANTEE = ACCOUNT AND $schema LIKE TABLE_SCHEMA
  UNION ALL
  SELECT 'unknown', PRIVILEGE_TYPE FROM information_schema.TABLE_PRIVILEGES
  WHERE GRANTEE = ACCOUNT AND TABLE_SCHEMA IN (DATABASE(), $schema)
  UNION ALL
  SELECT 'unknown', CURRENT_ROLE() FROM DUAL WHERE COALESCE(CURRENT_ROLE(), 'NONE') <> 'NONE'`.replaceAll(
  'ACCOUNT',
  // 'user'@'host', where a user may hold an @ too.
  "CONCAT('''', LEFT(CURRENT_USER(), CHAR_LENGTH(CURRENT_USER()) - CHAR_LENGTH(SUBSTRING_INDEX(CURRENT_USER(), '@', -1)) " +
    "- 1), '''@''', SUBSTRING_INDEX(CURRENT_USER(), '@', -1), '''')"
)

const PRESENT = `
  SELECT t.TABLE_NAME AS name, t.TABLE_TYPE LIKE '%VIEW' AS isView, c.COLUMN_NAME AS \`column\`
  FROM information_schema.TABLES t LEFT JOIN information_schema.COLUMNS c
    ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
  WHERE t.TABLE_SCHEMA = COALESCE($schema, DATABASE()) ORDER BY t.TABLE_NAME, c.ORDINAL_POSITION`

export class MysqlSchema implements SchemaTools {
  readonly checksOf = mysqlChecks
  readonly #sequelize: Sequelize

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize
  }

  async ddl(own: OwnTables): Promise<Ddl> {
    return mysqlDdl(await this.#server(), own)
  }

  async present(schema?: string): Promise<ReadonlyMap<string, PresentRelation>> {
    const rows = await this.#sequelize.query<{ name: string; isView: unknown; column: string | null }>(PRESENT, {
      bind: { schema: schema ?? null },
      type: QueryTypes.SELECT
    })
    const found = new Map<string, { readonly kind: 'table' | 'view'; readonly columns: Set<string> }>()
    for (const { name, isView, column } of rows) {
      const relation = found.get(name) ?? { kind: Number(isView) === 1 ? 'view' : 'table', columns: new Set() }
      if (column !== null) relation.columns.add(column)
      found.set(name, relation)
    }
    return found
  }

  readonly columnTypes = mysqlTypes

  countKey(table: string, columns: readonly string[]): Promise<KeyCounts> {
    return countKey((statement) => this.#select(statement), { table, columns, quote: '`' })
  }

  storedValues(table: string, columns: readonly LiveColumn[]): Promise<ReadonlyMap<string, StoredValues>> {
    return mysqlStoredValues((statement) => this.#select(statement), table, columns)
  }

  async describe(): Promise<LiveSchema> {
    return mysqlCatalogue((statement) => this.#select(statement), await this.#server())
  }

  async sortOrders(): Promise<ReadonlyMap<string, string>> {
    const served = new Map<string, string>()
    for (const { name: table, indexes, primaryKey } of (await this.describe()).tables.values()) {
      for (const { name, unique, sorted, keys } of indexes) {
        const columns = keys.map(({ column, prefix }) => (prefix === undefined ? column : undefined))
        // A unique index is not sorted by the primary key, which every other one ends in, declared or not.
        if (unique || !sorted || columns.includes(undefined)) continue
        const declared = keys.map(({ column = '', descending }) => `${column} ${descending ? 'DESC' : 'ASC'}`)
        const rest = primaryKey.filter((column) => !columns.includes(column)).map((column) => `${column} ASC`)
        served.set(`${table}: ${[...declared, ...rest].join()}`, name)
      }
    }
    return served
  }

  /** Needs only the right to SELECT. */
  async appliedMigrations(own: OwnTables): Promise<ReadonlySet<string>> {
    const record = own.sql.schema_migrations
    try {
      const rows = await this.#select<{ name: string }>(`SELECT \`name\` FROM ${record}`)
      return new Set(rows.map(({ name }) => name))
    } catch (error) {
      const errno = errnoOf(error)
      if (errno === NO_SUCH_TABLE) return new Set()
      // The server does not tell an account without any right whether the table exists.
      throw errno === COMMAND_DENIED ? await this.#missingRights(`SELECT on ${record}`, own) : error
    }
  }

  defaultText(): Promise<string> {
    return Promise.resolve('DEFAULT')
  }

  async migrationRemedy(error: unknown, own: OwnTables): Promise<string | undefined> {
    const errno = errnoOf(error)
    if (READ_ONLY.includes(errno)) {
      return 'the server is read-only. Start once with a server that takes writes, or end read_only.'
    }
    return errno === COMMAND_DENIED || errno === DATABASE_DENIED ? await this.#rightsRemedy(own) : undefined
  }

  /** Rights to single tables and those of roles are not looked at: an account with any of them may have what it takes. */
  async missingRights(statements: readonly string[], own: OwnTables): Promise<string | undefined> {
    const rights = await this.#sequelize.query<{ place: string; name: string }>(RIGHTS, {
      bind: { schema: own.schema ?? null },
      type: QueryTypes.SELECT
    })
    if (rights.some(({ place }) => place === 'unknown')) return undefined
    const needed = new Set(statements.flatMap(rightsOf))
    const places = ['rows', ...(own.schema === undefined ? [] : ['schema'])]
    const lacks = places.some((place) =>
      [...needed].some((right) => !rights.some((one) => one.name === right && [place, 'server'].includes(one.place)))
    )
    return lacks ? await this.#rightsRemedy(own) : undefined
  }

  async grants(account: string, needed: readonly TableRights[], own: OwnTables): Promise<Grants> {
    const to = accountText(account)
    const [row] = await this.#select<{ name: string }>('SELECT DATABASE() AS name')
    const here = row?.name ?? ''
    const names = namesOfOwn(own)
    return {
      migrating: [here, ...(own.schema === undefined ? [] : [own.schema])].map(
        (database) => `GRANT ${RIGHTS_TO_MIGRATE} ON \`${database}\`.* TO ${to};`
      ),
      serving: needed.map(({ table, rights }) => {
        const database = names.has(table) ? (own.schema ?? here) : here
        return `GRANT ${rights.join(', ')} ON \`${database}\`.\`${table}\` TO ${to};`
      })
    }
  }

  async #rightsRemedy(own: OwnTables): Promise<string> {
    const grants = await this.#grantStatements(RIGHTS_TO_MIGRATE, own)
    return `the account has not all rights that it takes. Grant them, for as long as they run: ${grants}`
  }

  /** Only prepares statements: a server checks rights at that moment, also while it is read-only. */
  async checkRights(needed: readonly TableRights[], own: OwnTables): Promise<void> {
    const missing = new Map<string, string[]>()
    await this.#sequelize.transaction(async (transaction) => {
      const tables = await this.#sequelize.query<{ schema: string; name: string; column: string }>(TABLES, {
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
    throw await this.#missingRights(
      [...missing].map(([right, tables]) => `${right} on ${tables.join(', ')}`).join('; '),
      own
    )
  }

  /**
   * Takes two connections of the pool: the lock needs a connection of its own, since it must be held until the work is
   * committed. The nodes of a Galera cluster do not share such locks.
   */
  withLock<Result>(name: string, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#sequelize.transaction(async (transaction) => {
      // Lock names are global to the server and have at most 64 characters.
      const lock = "CONCAT(MD5(DATABASE()), ':', $name)"
      const options = { bind: { name }, transaction, type: QueryTypes.SELECT } as const
      const [row] = await this.#sequelize.query<{ got: unknown }>(
        `SELECT GET_LOCK(${lock}, ${LOCK_TIMEOUT_SECONDS}) AS got`,
        options
      )
      if (Number(row?.got) !== 1) {
        throw new Error(`The database's ${name} lock was not free within ${LOCK_TIMEOUT_SECONDS} s`)
      }
      try {
        return await this.#sequelize.transaction(work)
      } finally {
        await this.#sequelize.query(`SELECT RELEASE_LOCK(${lock})`, options)
      }
    })
  }

  async #server(): Promise<MysqlServer> {
    const [row] = await this.#select<{ version: string }>('SELECT VERSION() AS version')
    return serverOf(row?.version ?? '')
  }

  async #missingRights(what: string, own: OwnTables): Promise<StartError> {
    const grants = await this.#grantStatements(RIGHTS_TO_RUN, own)
    return new StartError(`the account has not all rights that it takes (${what}). Grant them: ${grants}`)
  }

  /** `GRANT … ON db.* TO 'user'@'host';` for the account under which the server runs this session. */
  async #grantStatements(rights: string, { schema }: OwnTables): Promise<string> {
    const [row] = await this.#select<{ account: string; name: string }>(
      'SELECT CURRENT_USER() AS account, DATABASE() AS name'
    )
    const [user = '', host = ''] = (row?.account ?? '').split(/@(?=[^@]*$)/)
    return [row?.name ?? '', ...(schema === undefined ? [] : [schema])]
      .map((name) => `GRANT ${rights} ON \`${name}\`.* TO '${user}'@'${host}';`)
      .join(' ')
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

/** The rights that a statement of a migration takes, as MySQL's manual says of each. */
function rightsOf(statement: string): string[] {
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

function mysqlDdl(server: MysqlServer, own: OwnTables): Ddl {
  const collation = collationOf(server)
  const record = quotedTable(own, 'schema_migrations')
  // The table of audit entries is the one of the engine's own that steps of the builders make and change.
  const audit = `${own.prefix}audit_entries`
  const inSchema = (statement: string): string =>
    statement.replaceAll(`\`${audit}\``, quotedTable(own, 'audit_entries'))
  return {
    engine: 'mysql',
    statements: (change, present) => {
      const statements = mysqlStatements(change, collation, present)
      return change.step.table === audit ? statements.map(inSchema) : statements
    },
    presence: (table) => mysqlPresence(table, table === audit ? own.schema : undefined),
    defersForeignKeys: () => false,
    ownTables: ownStatements(ownTables(collation), own),
    isColumnThere: (error) => errnoOf(error) === DUPLICATE_COLUMN,
    createMigrationRecord:
      `CREATE TABLE IF NOT EXISTS ${record} ` +
      '(`name` VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY)',
    // Two nodes of a cluster do not share named locks, so the second one may find the row.
    recordMigration: `INSERT IGNORE INTO ${record} (\`name\`) VALUES ($name)`,
    forgetMigration: `DELETE FROM ${record} WHERE \`name\` = $name`,
    recorded: `SELECT \`name\` FROM ${record} ORDER BY \`name\``
  }
}

function ownTables(collation: string): Record<OwnTablesMigration, readonly string[]> {
  const text = (length: number): string => `VARCHAR(${length}) CHARACTER SET utf8mb4 COLLATE ${collation} NOT NULL`
  return {
    '005-idempotency-keys': [
      'CREATE TABLE IF NOT EXISTS `idempotency_keys` (`key_hash` BINARY(32) NOT NULL PRIMARY KEY, ' +
        '`fingerprint` BINARY(32) NOT NULL, `answer` LONGBLOB, `created_at` BIGINT NOT NULL, ' +
        `\`expires_at\` BIGINT NOT NULL, INDEX \`idempotency_keys_expires_at\` (\`expires_at\`)) ${TABLE_OPTIONS}`
    ],
    '007-accounts': [
      'CREATE TABLE IF NOT EXISTS `accounts` (`id` BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, ' +
        `\`email_key\` BINARY(32) NOT NULL, \`email\` ${text(254)}, \`name\` ${text(200)}, ` +
        `\`password_hash\` VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, \`role\` ${text(64)}, ` +
        '`owner` BIGINT, `is_sample` TINYINT(1) NOT NULL, `created_at` BIGINT NOT NULL, ' +
        `UNIQUE INDEX \`accounts_email_key_unique\` (\`email_key\`)) ${TABLE_OPTIONS}`,
      'CREATE TABLE IF NOT EXISTS `login_attempts` (`key_hash` BINARY(32) NOT NULL PRIMARY KEY, ' +
        '`attempts` TEXT CHARACTER SET ascii NOT NULL, `expires_at` BIGINT NOT NULL, ' +
        `INDEX \`login_attempts_expires_at\` (\`expires_at\`)) ${TABLE_OPTIONS}`
    ],
    '008-sessions': [
      'CREATE TABLE IF NOT EXISTS `refresh_families` (`id` BINARY(16) NOT NULL PRIMARY KEY, ' +
        '`account_id` BIGINT NOT NULL, `created_at` BIGINT NOT NULL, `ends_at` BIGINT NOT NULL, ' +
        '`revoked_at` BIGINT, `expires_at` BIGINT NOT NULL, INDEX `refresh_families_expires_at` (`expires_at`), ' +
        'CONSTRAINT `refresh_families_account_id_fk` FOREIGN KEY (`account_id`) REFERENCES `accounts` (`id`) ' +
        `ON DELETE CASCADE) ${TABLE_OPTIONS}`,
      'CREATE TABLE IF NOT EXISTS `refresh_tokens` (`token_hash` BINARY(32) NOT NULL PRIMARY KEY, ' +
        '`family_id` BINARY(16) NOT NULL, `issued_at` BIGINT NOT NULL, `expires_at` BIGINT NOT NULL, ' +
        '`used_at` BIGINT, `successor` VARBINARY(64), ' +
        'CONSTRAINT `refresh_tokens_family_id_fk` FOREIGN KEY (`family_id`) REFERENCES `refresh_families` (`id`) ' +
        `ON DELETE CASCADE) ${TABLE_OPTIONS}`
    ],
    '033-look-up-guards': [
      'CREATE TABLE IF NOT EXISTS `look_up_guards` (`slot` INT UNSIGNED NOT NULL PRIMARY KEY, ' +
        `\`turn\` BIGINT UNSIGNED NOT NULL) ${TABLE_OPTIONS}`
    ],
    '034-family-refs': [
      'ALTER TABLE `refresh_families` ADD COLUMN `ref_hash` BINARY(32), ' +
        'ADD UNIQUE INDEX `refresh_families_ref_hash_unique` (`ref_hash`)',
      // A token with its family's reference is longer, and so is its encrypted form.
      'ALTER TABLE `refresh_tokens` ADD COLUMN `purge_at` BIGINT, MODIFY COLUMN `successor` VARBINARY(128), ' +
        'ADD INDEX `refresh_tokens_purge_at` (`purge_at`)'
    ],
    '050-account-claims': [
      `ALTER TABLE \`accounts\` ADD COLUMN \`roles\` TEXT CHARACTER SET utf8mb4 COLLATE ${collation}, ` +
        `ADD COLUMN \`claims\` TEXT CHARACTER SET utf8mb4 COLLATE ${collation}`
    ],
    '051-account-sessions': [
      'ALTER TABLE `accounts` ADD COLUMN `disabled_at` BIGINT, ADD COLUMN `session_generation` BIGINT',
      'ALTER TABLE `refresh_families` ADD COLUMN `session_generation` BIGINT'
    ],
    '053-account-links': [
      'CREATE TABLE IF NOT EXISTS `account_links` (`identity_key` BINARY(32) NOT NULL PRIMARY KEY, ' +
        `\`account_id\` BIGINT NOT NULL, \`issuer\` ${text(512)}, \`subject\` ${text(255)}, ` +
        '`created_at` BIGINT NOT NULL, ' +
        'CONSTRAINT `account_links_account_id_fk` FOREIGN KEY (`account_id`) REFERENCES `accounts` (`id`) ' +
        `ON DELETE CASCADE) ${TABLE_OPTIONS}`
    ],
    '054-outbox': [
      'CREATE TABLE IF NOT EXISTS `outbox` (`id` BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, ' +
        '`event_id` CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, ' +
        '`type` VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, ' +
        '`resource` VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, ' +
        '`row_id` VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, ' +
        '`request_id` VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, ' +
        '`payload` LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL, `occurred_at` BIGINT NOT NULL, ' +
        '`aggregate_key` BINARY(16), `due_at` BIGINT, `lease` BINARY(16), `attempts` INT NOT NULL, ' +
        '`last_error` VARCHAR(1000) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin, `delivered_at` BIGINT, `dead_at` BIGINT, ' +
        'UNIQUE INDEX `outbox_event_id_unique` (`event_id`), INDEX `outbox_aggregate_key` (`aggregate_key`), ' +
        'INDEX `outbox_due_at` (`due_at`), INDEX `outbox_delivered_at` (`delivered_at`), ' +
        `INDEX \`outbox_dead_at\` (\`dead_at\`)) ${TABLE_OPTIONS}`
    ]
  }
}
