import { setTimeout as delay } from 'node:timers/promises'
import { type Sequelize, Transaction } from 'sequelize'
import type { FieldType } from '../../entity/field.js'
import type { Ddl, ForeignKey, OwnTablesMigration, SchemaTools, TableColumn, TableIndex } from './engine.js'

const COLUMNS = `
  SELECT t.name AS tableName, c.name AS columnName
  FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`

/** Strings are indexed by an expression, which the pragma does not return: it is read from the index's DDL. */
const INDEXES = `
  SELECT i.tbl_name AS tableName, x.desc AS isDescending, COALESCE(x.name,
    SUBSTR(i.sql, INSTR(i.sql, 'sort_key(\`') + 10, INSTR(i.sql, '\`)') - INSTR(i.sql, 'sort_key(\`') - 10)) AS columnName
  FROM sqlite_master i JOIN pragma_index_list(i.tbl_name) l ON l.name = i.name JOIN pragma_index_xinfo(i.name) x
  WHERE i.type = 'index' AND i.sql IS NOT NULL AND x.seqno = 0 AND l."unique" = 0`

/** On a read-only file a transaction can begin, and the first statement that could write fails. */
const WRITES_NOTHING = "DELETE FROM `schema_migrations` WHERE `name` = ''"

const LOCK_TIMEOUT_MS = 600_000
const POLL_MS = 50

export class SqliteSchema implements SchemaTools {
  readonly catalogue = { columns: COLUMNS, indexes: INDEXES }
  readonly #sequelize: Sequelize

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize
  }

  ddl(): Promise<Ddl> {
    return Promise.resolve(sqliteDdl)
  }

  sortOrders(): Promise<ReadonlyMap<string, string>> {
    return Promise.resolve(new Map())
  }

  /** Always empty: SQLite has no rights that could be missing, and its lock is cheap. */
  appliedMigrations(): Promise<ReadonlySet<string>> {
    return Promise.resolve(new Set())
  }

  migrationRemedy(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  async checkRights(): Promise<void> {
    await this.#sequelize.query(WRITES_NOTHING)
  }

  /** Takes the file's only write lock, for every name. */
  async withLock<Result>(_name: string, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + LOCK_TIMEOUT_MS
    for (;;) {
      let hasStarted = false
      try {
        return await this.#sequelize.transaction({ type: Transaction.TYPES.IMMEDIATE }, (transaction) => {
          hasStarted = true
          return work(transaction)
        })
      } catch (error) {
        if (hasStarted || !isBusy(error) || performance.now() > deadline) throw error
        await delay(POLL_MS)
      }
    }
  }
}

/** Whether another connection holds the file. The driver's error may be wrapped by Sequelize. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && (/SQLITE_BUSY|database is locked/.test(error.message) || isBusy(error.cause))
}

/** All migrations share one transaction, so a table may take several statements. */
const sqliteDdl: Ddl = {
  createTable: ({ name, columns, versioned, indexes, foreignKeys }) => {
    const lines = [
      ...columns.map(columnDefinition),
      ...(versioned ? ['`row_version` BLOB NOT NULL'] : []),
      ...foreignKeys.map((key) => foreignKeyDefinition(name, key))
    ]
    return [
      `CREATE TABLE IF NOT EXISTS \`${name}\` (${lines.join(', ')}) STRICT`,
      ...indexes.map((index) => createIndex(name, index))
    ]
  },
  addColumns: ({ name, columns, indexes }) => [
    ...columns.map((column) => `ALTER TABLE \`${name}\` ADD COLUMN ${columnDefinition(column)}`),
    ...indexes.map((index) => createIndex(name, index))
  ],
  addIndexes: ({ name, indexes }) => indexes.map((index) => createIndex(name, index)),
  columnNames: (table) => `SELECT name AS columnName FROM pragma_table_info('${table}')`,
  indexNames: (table) => `SELECT name AS indexName FROM pragma_index_list('${table}')`,
  ownTables: ownTables(),
  isColumnThere: (error) => {
    const parent = error instanceof Error && 'parent' in error ? error.parent : error
    return parent instanceof Error && parent.message.includes('duplicate column name')
  },
  createMigrationRecord: 'CREATE TABLE IF NOT EXISTS `schema_migrations` (`name` TEXT NOT NULL PRIMARY KEY)',
  recordMigration: 'INSERT OR IGNORE INTO `schema_migrations` (`name`) VALUES ($name)'
}

/** Decimals are whole numbers of their smallest unit, since SQLite has no exact decimals of its own. */
const TYPES: Record<FieldType, string> = {
  string: 'TEXT',
  bool: 'INTEGER',
  int: 'INTEGER',
  long: 'INTEGER',
  decimal: 'INTEGER',
  dateTime: 'TEXT',
  guid: 'TEXT'
}

function columnDefinition({ column, field, isKey }: TableColumn): string {
  const definition = `\`${column}\` ${TYPES[field.type]}${field.nullable ? '' : ' NOT NULL'}`
  if (!isKey) return definition
  return `${definition} PRIMARY KEY${field.type === 'int' || field.type === 'long' ? ' AUTOINCREMENT' : ''}`
}

function createIndex(table: string, { name, unique, keys }: TableIndex): string {
  const parts = keys.map((key) => `${indexKey(key)}${key.descending ? ' DESC' : ''}`)
  return `CREATE ${unique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS \`${name}\` ON \`${table}\` (${parts.join(', ')})`
}

/** SQLite has no collation like that of the servers, so strings are indexed by a key that has the same order. */
function indexKey({ column, field, isKey }: TableColumn): string {
  return !isKey && field.type === 'string' ? `sort_key(\`${column}\`)` : `\`${column}\``
}

/** SQLite reports a violated RESTRICT as a failed trigger. NO ACTION forbids the same and is reported as a foreign key. */
function foreignKeyDefinition(table: string, { column, to, toColumn, onDelete }: ForeignKey): string {
  return (
    `CONSTRAINT \`${table}_${column}_fk\` FOREIGN KEY (\`${column}\`) ` +
    `REFERENCES \`${to}\` (\`${toColumn}\`) ON DELETE ${onDelete === 'RESTRICT' ? 'NO ACTION' : onDelete}`
  )
}

function ownTables(): Record<OwnTablesMigration, readonly string[]> {
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
    ]
  }
}
