import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { StartError } from '../../../shared/start-error.js'
import { ENGINE_TABLES } from '../../entity/validate-fields.js'
import type { Ddl, OwnTablesMigration, SchemaTools, TableRight, TableRights } from './engine.js'
import type { LiveSchema } from './live-schema/live-schema.js'
import { mysqlCatalogue } from './live-schema/mysql-catalogue.js'
import { collationOf, type MysqlServer, serverOf } from './mysql-connection.js'
import { mysqlPresence, mysqlStatements, quotedText, TABLE_OPTIONS } from './mysql-ddl.js'
import { errnoOf } from './mysql-sessions.js'

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

/** All keys of each index that is not unique. */
const INDEX_KEYS = `
  SELECT TABLE_NAME AS tableName, INDEX_NAME AS indexName,
    GROUP_CONCAT(COLUMN_NAME, IF(COLLATION = 'D', ' DESC', ' ASC') ORDER BY SEQ_IN_INDEX) AS \`keys\`
  FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 1 GROUP BY TABLE_NAME, INDEX_NAME`

/** One column of each table. A server hides tables to which an account has no right at all. */
const TABLES =
  'SELECT TABLE_NAME AS name, MIN(COLUMN_NAME) AS `column` FROM information_schema.COLUMNS ' +
  'WHERE TABLE_SCHEMA = DATABASE() GROUP BY TABLE_NAME ORDER BY TABLE_NAME'

export class MysqlSchema implements SchemaTools {
  readonly #sequelize: Sequelize

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize
  }

  async ddl(): Promise<Ddl> {
    return mysqlDdl(await this.#server())
  }

  async describe(): Promise<LiveSchema> {
    return mysqlCatalogue((statement) => this.#select(statement), await this.#server())
  }

  async sortOrders(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#select<{ tableName: string; indexName: string; keys: string }>(INDEX_KEYS)
    // Every index ends in the primary key, declared or not.
    const order = (tableName: string, keys: string): string => `${tableName}: ${keys.replace(/,id ASC$/, '')},id ASC`
    return new Map(rows.map(({ tableName, indexName, keys }) => [order(tableName, keys), indexName]))
  }

  /** Needs only the right to SELECT. */
  async appliedMigrations(): Promise<ReadonlySet<string>> {
    try {
      const rows = await this.#select<{ name: string }>('SELECT `name` FROM `schema_migrations`')
      return new Set(rows.map(({ name }) => name))
    } catch (error) {
      const errno = errnoOf(error)
      if (errno === NO_SUCH_TABLE) return new Set()
      // The server does not tell an account without any right whether the table exists.
      throw errno === COMMAND_DENIED ? await this.#missingRights('SELECT on schema_migrations') : error
    }
  }

  defaultText(): Promise<string> {
    return Promise.resolve('DEFAULT')
  }

  async migrationRemedy(error: unknown): Promise<string | undefined> {
    const errno = errnoOf(error)
    if (READ_ONLY.includes(errno)) {
      return 'the server is read-only. Start once with a server that takes writes, or end read_only.'
    }
    if (errno !== COMMAND_DENIED && errno !== DATABASE_DENIED) return undefined
    const grant = await this.#grantStatement(RIGHTS_TO_MIGRATE)
    return `the account has not all rights that it takes. Grant them, for the time of this start at least: ${grant};`
  }

  /** Only prepares statements: a server checks rights at that moment, also while it is read-only. */
  async checkRights(needed: readonly TableRights[]): Promise<void> {
    const missing = new Map<string, string[]>()
    await this.#sequelize.transaction(async (transaction) => {
      const tables = await this.#select<{ name: string; column: string }>(TABLES, transaction)
      const own = tables.filter(({ name }) => ENGINE_TABLES.includes(name))
      const asked = [
        ...own.map(({ name, column }): TableRights => ({ table: name, rights: ALL_RIGHTS, column })),
        ...needed.filter(({ table }) => !ENGINE_TABLES.includes(table))
      ]
      for (const { table: name, rights, column } of asked) {
        for (const right of rights) {
          const statement = rightsStatements(name, column)[right]
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
      [...missing].map(([right, tables]) => `${right} on ${tables.join(', ')}`).join('; ')
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

  async #missingRights(what: string): Promise<StartError> {
    const grant = await this.#grantStatement(RIGHTS_TO_RUN)
    return new StartError(`the account has not all rights that it takes (${what}). Grant them: ${grant};`)
  }

  /** `GRANT … ON db.* TO 'user'@'host'` for the account under which the server runs this session. */
  async #grantStatement(rights: string): Promise<string> {
    const [row] = await this.#select<{ account: string; name: string }>(
      'SELECT CURRENT_USER() AS account, DATABASE() AS name'
    )
    const [user = '', host = ''] = (row?.account ?? '').split(/@(?=[^@]*$)/)
    return `GRANT ${rights} ON \`${row?.name ?? ''}\`.* TO '${user}'@'${host}'`
  }

  #select<Row extends object>(statement: string, transaction?: Transaction): Promise<Row[]> {
    return this.#sequelize.query<Row>(statement, {
      type: QueryTypes.SELECT,
      ...(transaction === undefined ? {} : { transaction })
    })
  }
}

const ALL_RIGHTS = ['SELECT', 'INSERT', 'UPDATE', 'DELETE'] as const

function rightsStatements(table: string, column: string): Readonly<Record<TableRight, string>> {
  return {
    SELECT: `SELECT 1 FROM \`${table}\``,
    INSERT: `INSERT INTO \`${table}\` () VALUES ()`,
    UPDATE: `UPDATE \`${table}\` SET \`${column}\` = NULL`,
    DELETE: `DELETE FROM \`${table}\``
  }
}

function mysqlDdl(server: MysqlServer): Ddl {
  const collation = collationOf(server)
  return {
    engine: 'mysql',
    statements: (change, present) => mysqlStatements(change, collation, present),
    presence: mysqlPresence,
    defersForeignKeys: () => false,
    ownTables: ownTables(collation),
    isColumnThere: (error) => errnoOf(error) === DUPLICATE_COLUMN,
    createMigrationRecord:
      'CREATE TABLE IF NOT EXISTS `schema_migrations` ' +
      '(`name` VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY)',
    // Two nodes of a cluster do not share named locks, so the second one may find the row.
    recordMigration: 'INSERT IGNORE INTO `schema_migrations` (`name`) VALUES ($name)'
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
