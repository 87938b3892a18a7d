import {
  type OwnTables,
  type OwnTablesMigration,
  ownStatements,
  quotedTable
} from '../../../data-service/sql/engines/own-tables.js'
import type { Ddl } from '../../model/schema-tools.js'
import { collationOf, type MysqlServer } from '../../../data-service/sql/engines/mysql/driver/mysql-connection.js'
import { mysqlPresence, mysqlStatements, TABLE_OPTIONS } from './mysql-ddl.js'
import { errnoOf } from '../../../data-service/sql/engines/mysql/driver/mysql-errors.js'

/** ER_DUP_FIELDNAME, and ER_DUP_KEYNAME of an index */
const DUPLICATES: readonly unknown[] = [1060, 1061]

export function mysqlDdl(server: MysqlServer, own: OwnTables): Ddl {
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
    ownTables: ownStatements(mysqlOwnTables(collation), own),
    isColumnThere: (error) => DUPLICATES.includes(errnoOf(error)),
    createMigrationRecord:
      `CREATE TABLE IF NOT EXISTS ${record} ` +
      '(`name` VARCHAR(100) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY)',
    // Two nodes of a cluster do not share named locks, so the second one may find the row.
    recordMigration: `INSERT IGNORE INTO ${record} (\`name\`) VALUES ($name)`,
    forgetMigration: `DELETE FROM ${record} WHERE \`name\` = $name`,
    recorded: `SELECT \`name\` FROM ${record} ORDER BY \`name\``
  }
}

/**
 * Characters of the longest id. A key of InnoDB has at most 3,072 bytes, of which each may be three characters of a composite
 * id, and 15 commas; words of an ENUM take two bytes each and are longer (validate-fields.ts).
 */
const LONGEST_ID = 12_000

function mysqlOwnTables(collation: string): Record<OwnTablesMigration, readonly string[]> {
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
    ],
    // No copy of the table is made: two bytes hold the length before and after.
    '055-outbox-row-ids': [
      `ALTER TABLE \`outbox\` MODIFY COLUMN \`row_id\` VARCHAR(${LONGEST_ID}) ` +
        'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL'
    ],
    '060-machine-secrets': [
      'CREATE TABLE IF NOT EXISTS `machine_secrets` (`account_id` BIGINT NOT NULL, `slot` TINYINT NOT NULL, ' +
        '`secret_hash` BINARY(32) NOT NULL, `created_at` BIGINT NOT NULL, `expires_at` BIGINT, `last_used_at` BIGINT, ' +
        'PRIMARY KEY (`account_id`, `slot`), ' +
        'CONSTRAINT `machine_secrets_account_id_fk` FOREIGN KEY (`account_id`) REFERENCES `accounts` (`id`) ' +
        `ON DELETE CASCADE) ${TABLE_OPTIONS}`
    ],
    '062-outbox-by-type': ['ALTER TABLE `outbox` ADD INDEX `outbox_type_due_at` (`type`, `due_at`)'],
    '063-one-time-links': [
      'CREATE TABLE IF NOT EXISTS `one_time_links` (`link_hash` BINARY(32) NOT NULL PRIMARY KEY, ' +
        `\`email_key\` BINARY(32) NOT NULL, \`email\` ${text(254)}, \`account_state\` BINARY(32) NOT NULL, ` +
        '`event_id` CHAR(36) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, ' +
        '`expires_at` BIGINT NOT NULL, INDEX `one_time_links_email_key` (`email_key`), ' +
        `INDEX \`one_time_links_expires_at\` (\`expires_at\`)) ${TABLE_OPTIONS}`
    ]
  }
}
