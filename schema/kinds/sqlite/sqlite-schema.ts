import { setTimeout as delay } from 'node:timers/promises'
import { QueryTypes, type Sequelize, Transaction } from 'sequelize'
import { StartError } from '../../../shared/start-error.js'
import type { Ddl, PresentRelation, SchemaTools, TableRights } from '../../model/schema-tools.js'
import { ROWS_LOOKED_AT, type StoredValues } from '../../model/column-types.js'
import {
  countDangling,
  countKey,
  type KeyCounts,
  type LiveColumn,
  type LiveSchema,
  type ReferenceCounts,
  type ReferringColumn
} from '../../model/live-schema.js'
import { sqliteCatalogue } from './sqlite-catalogue.js'
import { sqliteStoredValues, sqliteTypes } from './sqlite-types.js'
import {
  type OwnTables,
  type OwnTablesMigration,
  ownStatements,
  quotedTable,
  RECORD
} from '../../../data-service/sql/engines/own-tables.js'
import { sqliteChecks } from './sqlite-checks.js'
import { isRebuilt, sqlitePresence, sqliteStatements } from './sqlite-ddl.js'

const HAS_RECORD = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $name"

const PRESENT_TABLES = `
  SELECT t.name AS name, t.type AS kind, c.name AS "column" FROM sqlite_master t LEFT JOIN pragma_table_xinfo(t.name) c
  WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY t.name, c.cid`

const LOCK_TIMEOUT_MS = 600_000
const POLL_MS = 50

export class SqliteSchema implements SchemaTools {
  readonly checksOf = sqliteChecks
  readonly #sequelize: Sequelize

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize
  }

  ddl(own: OwnTables): Promise<Ddl> {
    return Promise.resolve(sqliteDdl(own))
  }

  async present(): Promise<ReadonlyMap<string, PresentRelation>> {
    const rows = await this.#sequelize.query<{ name: string; kind: string; column: string | null }>(PRESENT_TABLES, {
      type: QueryTypes.SELECT
    })
    const found = new Map<string, { readonly kind: 'table' | 'view'; readonly columns: Set<string> }>()
    for (const { name, kind, column } of rows) {
      const relation = found.get(name) ?? { kind: kind === 'view' ? 'view' : 'table', columns: new Set() }
      if (column !== null) relation.columns.add(column)
      found.set(name, relation)
    }
    return found
  }

  readonly columnTypes = sqliteTypes

  describe(): Promise<LiveSchema> {
    return sqliteCatalogue((statement) => this.#select(statement))
  }

  countKey(table: string, columns: readonly string[]): Promise<KeyCounts> {
    return countKey((statement) => this.#select(statement), { table, columns, quote: '"' })
  }

  countDangling(reference: ReferringColumn): Promise<ReferenceCounts> {
    return countDangling((statement) => this.#select(statement), reference, { quote: '"', most: ROWS_LOOKED_AT })
  }

  storedValues(table: string, columns: readonly LiveColumn[]): Promise<ReadonlyMap<string, StoredValues>> {
    return sqliteStoredValues((statement) => this.#select(statement), table, columns)
  }

  #select<Row extends object>(statement: string): Promise<Row[]> {
    return this.#sequelize.query<Row>(statement, { type: QueryTypes.SELECT })
  }

  unseen(): Promise<readonly string[]> {
    return Promise.resolve([])
  }

  textOperand(): undefined {
    return undefined
  }

  sortOrders(): ReadonlyMap<string, string> {
    return new Map()
  }

  async appliedMigrations({ prefix, sql }: OwnTables): Promise<ReadonlySet<string>> {
    const bind = { name: `${prefix}${RECORD}` }
    const record = await this.#sequelize.query(HAS_RECORD, { bind, type: QueryTypes.SELECT })
    if (record.length === 0) return new Set()
    const rows = await this.#sequelize.query<{ name: string }>(`SELECT \`name\` FROM ${sql.schema_migrations}`, {
      type: QueryTypes.SELECT
    })
    return new Set(rows.map(({ name }) => name))
  }

  /** SQLite has no word for the default of a column in an UPDATE, so it is the expression that the table was made with. */
  async defaultText(table: string, column: string): Promise<string | undefined> {
    const [row] = await this.#sequelize.query<{ text: string | null }>(
      'SELECT dflt_value AS text FROM pragma_table_info($table) WHERE name = $column COLLATE NOCASE',
      { bind: { table, column }, type: QueryTypes.SELECT }
    )
    // Only within quotes can a default hold a `$`, which would be taken for a bound value.
    return row?.text === undefined || row.text === null ? undefined : `(${row.text.replaceAll('$', "'||char(36)||'")})`
  }

  migrationRemedy(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  grants(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  procedures(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  missingRights(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  /**
   * On a read-only file a transaction can begin, and the first statement that could write fails. The transaction switches
   * the file to WAL mode, in which nobody waits for those who read.
   */
  async checkRights(_needed: readonly TableRights[], { sql }: OwnTables): Promise<void> {
    await this.#sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE }, async (transaction) => {
      await this.#sequelize.query(`DELETE FROM ${sql.schema_migrations} WHERE \`name\` = ''`, { transaction })
    })
  }

  /** Takes the file's only write lock, for every name. */
  async withLock<Result>(
    _name: string,
    work: (transaction: Transaction) => Promise<Result>,
    foreignKeys?: 'checkedAtEnd'
  ): Promise<Result> {
    const deadline = performance.now() + LOCK_TIMEOUT_MS
    for (;;) {
      let hasStarted = false
      try {
        return await this.#sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE }, async (transaction) => {
          if (foreignKeys === 'checkedAtEnd') await this.#beginWithoutForeignKeys(transaction)
          hasStarted = true
          const result = await work(transaction)
          if (foreignKeys === 'checkedAtEnd') await this.#checkForeignKeys(transaction)
          return result
        })
      } catch (error) {
        if (hasStarted || !isFileBusy(error) || performance.now() > deadline) throw error
        await delay(POLL_MS)
      }
    }
  }

  /** SQLite switches foreign keys outside of transactions alone, so the one that has begun is begun again. */
  async #beginWithoutForeignKeys(transaction: Transaction): Promise<void> {
    const run = (statement: string) => this.#sequelize.query(statement, { transaction, type: QueryTypes.RAW })
    await run('ROLLBACK')
    await run('PRAGMA foreign_keys = OFF')
    try {
      await run('BEGIN IMMEDIATE')
    } catch (error) {
      // Sequelize rolls back, for which a transaction must be open.
      await run('BEGIN')
      throw error
    }
  }

  /** The connection of the transaction ends with it, so that no other one is without foreign keys. */
  async #checkForeignKeys(transaction: Transaction): Promise<void> {
    const violations = await this.#sequelize.query<{ table: string; parent: string }>('PRAGMA foreign_key_check', {
      transaction,
      type: QueryTypes.SELECT
    })
    if (violations.length === 0) return
    const pairs = [...new Set(violations.map(({ table, parent }) => `${table} that refer to no row of ${parent}`))]
    throw new StartError(`migrations would leave rows of ${pairs.join(', rows of ')}; nothing was changed`)
  }
}

/** Whether another connection holds the file. The driver's error may be wrapped by Sequelize. */
function isFileBusy(error: unknown): boolean {
  return error instanceof Error && (/SQLITE_BUSY|database is locked/.test(error.message) || isFileBusy(error.cause))
}

function sqliteDdl(own: OwnTables): Ddl {
  const record = quotedTable(own, RECORD)
  return {
    engine: 'sqlite',
    statements: sqliteStatements,
    presence: sqlitePresence,
    defersForeignKeys: isRebuilt,
    ownTables: ownStatements(sqliteOwnTables(), own),
    isColumnThere: (error) => {
      const parent = error instanceof Error && 'parent' in error ? error.parent : error
      return parent instanceof Error && parent.message.includes('duplicate column name')
    },
    createMigrationRecord: `CREATE TABLE IF NOT EXISTS ${record} (\`name\` TEXT NOT NULL PRIMARY KEY)`,
    recordMigration: `INSERT OR IGNORE INTO ${record} (\`name\`) VALUES ($name)`,
    forgetMigration: `DELETE FROM ${record} WHERE \`name\` = $name`,
    recorded: `SELECT \`name\` FROM ${record} ORDER BY \`name\``
  }
}

function sqliteOwnTables(): Record<OwnTablesMigration, readonly string[]> {
  return {
    '005-idempotency-keys': [
      'CREATE TABLE IF NOT EXISTS `idempotency_keys` (`key_hash` BLOB NOT NULL PRIMARY KEY, ' +
        '`fingerprint` BLOB NOT NULL, `answer` BLOB, `created_at` INTEGER NOT NULL, `expires_at` INTEGER NOT NULL) STRICT',
      'CREATE INDEX IF NOT EXISTS `idempotency_keys_expires_at` ON `idempotency_keys` (`expires_at`, `key_hash`)'
    ],
    '007-accounts': [
      'CREATE TABLE IF NOT EXISTS `accounts` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, ' +
        '`email_key` BLOB NOT NULL UNIQUE, `email` TEXT NOT NULL, `name` TEXT NOT NULL, ' +
        '`password_hash` TEXT NOT NULL, `role` TEXT NOT NULL, `owner` INTEGER, `is_sample` INTEGER NOT NULL, ' +
        '`created_at` INTEGER NOT NULL) STRICT',
      'CREATE TABLE IF NOT EXISTS `login_attempts` (`key_hash` BLOB NOT NULL PRIMARY KEY, ' +
        '`attempts` TEXT NOT NULL, `expires_at` INTEGER NOT NULL) STRICT',
      'CREATE INDEX IF NOT EXISTS `login_attempts_expires_at` ON `login_attempts` (`expires_at`, `key_hash`)'
    ],
    '008-sessions': [
      'CREATE TABLE IF NOT EXISTS `refresh_families` (`id` BLOB NOT NULL PRIMARY KEY, ' +
        '`account_id` INTEGER NOT NULL REFERENCES `accounts` (`id`) ON DELETE CASCADE, ' +
        '`created_at` INTEGER NOT NULL, `ends_at` INTEGER NOT NULL, `revoked_at` INTEGER, ' +
        '`expires_at` INTEGER NOT NULL) STRICT',
      'CREATE INDEX IF NOT EXISTS `refresh_families_account_id` ON `refresh_families` (`account_id`)',
      'CREATE INDEX IF NOT EXISTS `refresh_families_expires_at` ON `refresh_families` (`expires_at`, `id`)',
      'CREATE TABLE IF NOT EXISTS `refresh_tokens` (`token_hash` BLOB NOT NULL PRIMARY KEY, ' +
        '`family_id` BLOB NOT NULL REFERENCES `refresh_families` (`id`) ON DELETE CASCADE, ' +
        '`issued_at` INTEGER NOT NULL, `expires_at` INTEGER NOT NULL, `used_at` INTEGER, `successor` BLOB) STRICT',
      'CREATE INDEX IF NOT EXISTS `refresh_tokens_family_id` ON `refresh_tokens` (`family_id`)'
    ],
    // One writer at a time needs no guards.
    '033-look-up-guards': [],
    '034-family-refs': [
      'ALTER TABLE `refresh_families` ADD COLUMN `ref_hash` BLOB',
      'ALTER TABLE `refresh_tokens` ADD COLUMN `purge_at` INTEGER',
      'CREATE UNIQUE INDEX IF NOT EXISTS `refresh_families_ref_hash_unique` ON `refresh_families` (`ref_hash`)',
      'CREATE INDEX IF NOT EXISTS `refresh_tokens_purge_at` ON `refresh_tokens` (`purge_at`, `token_hash`)'
    ],
    '050-account-claims': [
      'ALTER TABLE `accounts` ADD COLUMN `roles` TEXT',
      'ALTER TABLE `accounts` ADD COLUMN `claims` TEXT'
    ],
    '051-account-sessions': [
      'ALTER TABLE `accounts` ADD COLUMN `disabled_at` INTEGER',
      'ALTER TABLE `accounts` ADD COLUMN `session_generation` INTEGER',
      'ALTER TABLE `refresh_families` ADD COLUMN `session_generation` INTEGER'
    ],
    '053-account-links': [
      'CREATE TABLE IF NOT EXISTS `account_links` (`identity_key` BLOB NOT NULL PRIMARY KEY, ' +
        '`account_id` INTEGER NOT NULL REFERENCES `accounts` (`id`) ON DELETE CASCADE, ' +
        '`issuer` TEXT NOT NULL, `subject` TEXT NOT NULL, `created_at` INTEGER NOT NULL) STRICT',
      'CREATE INDEX IF NOT EXISTS `account_links_account_id` ON `account_links` (`account_id`)'
    ],
    '054-outbox': [
      'CREATE TABLE IF NOT EXISTS `outbox` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, ' +
        '`event_id` TEXT NOT NULL UNIQUE, `type` TEXT NOT NULL, `resource` TEXT NOT NULL, `row_id` TEXT NOT NULL, ' +
        '`request_id` TEXT NOT NULL, `payload` TEXT NOT NULL, `occurred_at` INTEGER NOT NULL, `aggregate_key` BLOB, ' +
        '`due_at` INTEGER, `lease` BLOB, `attempts` INTEGER NOT NULL, `last_error` TEXT, `delivered_at` INTEGER, ' +
        '`dead_at` INTEGER) STRICT',
      // Partial, since most rows are delivered events.
      'CREATE INDEX IF NOT EXISTS `outbox_aggregate_key` ON `outbox` (`aggregate_key`, `id`) WHERE `aggregate_key` IS NOT NULL',
      'CREATE INDEX IF NOT EXISTS `outbox_due_at` ON `outbox` (`due_at`, `id`) WHERE `due_at` IS NOT NULL',
      'CREATE INDEX IF NOT EXISTS `outbox_delivered_at` ON `outbox` (`delivered_at`) WHERE `delivered_at` IS NOT NULL',
      'CREATE INDEX IF NOT EXISTS `outbox_dead_at` ON `outbox` (`dead_at`) WHERE `dead_at` IS NOT NULL'
    ],
    // The column is a TEXT, which takes any id.
    '055-outbox-row-ids': [],
    '060-machine-secrets': [
      'CREATE TABLE IF NOT EXISTS `machine_secrets` (' +
        '`account_id` INTEGER NOT NULL REFERENCES `accounts` (`id`) ON DELETE CASCADE, `slot` INTEGER NOT NULL, ' +
        '`secret_hash` BLOB NOT NULL, `created_at` INTEGER NOT NULL, `expires_at` INTEGER, `last_used_at` INTEGER, ' +
        'PRIMARY KEY (`account_id`, `slot`)) STRICT'
    ],
    '062-outbox-by-type': [
      'CREATE INDEX IF NOT EXISTS `outbox_type_due_at` ON `outbox` (`type`, `due_at`, `id`) WHERE `due_at` IS NOT NULL'
    ],
    '063-one-time-links': [
      'CREATE TABLE IF NOT EXISTS `one_time_links` (`link_hash` BLOB NOT NULL PRIMARY KEY, `email_key` BLOB NOT NULL, ' +
        '`email` TEXT NOT NULL, `account_state` BLOB NOT NULL, `event_id` TEXT NOT NULL, `expires_at` INTEGER NOT NULL) STRICT',
      'CREATE INDEX IF NOT EXISTS `one_time_links_email_key` ON `one_time_links` (`email_key`)',
      'CREATE INDEX IF NOT EXISTS `one_time_links_expires_at` ON `one_time_links` (`expires_at`)',
      // For their purge: the index by type has waiting events alone.
      "CREATE INDEX IF NOT EXISTS `outbox_one_time_links` ON `outbox` (`occurred_at`) WHERE `type` = 'one-time-link'"
    ]
  }
}
