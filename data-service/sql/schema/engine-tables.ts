import { DatabaseError } from 'sequelize'
import { dateTime, long, optional, text } from '../../entity/field.js'
import { collationOf } from '../engines/mysql-connection.js'
import type { Migration, MigrationDatabase } from './migrate.js'
import { addColumns, createTables, table } from './tables.js'

/** Keys of writes with the answers kept under them, which are purged by `expires_at`. Times are epoch milliseconds. */
const createIdempotencyKeys: Migration = {
  name: '005-idempotency-keys',
  up: async ({ kind, run }) => {
    if (kind === 'sqlite') {
      await run(
        'CREATE TABLE IF NOT EXISTS `idempotency_keys` (`key_hash` BLOB NOT NULL PRIMARY KEY, ' +
          '`fingerprint` BLOB NOT NULL, `answer` BLOB, `created_at` INTEGER NOT NULL, `expires_at` INTEGER NOT NULL) STRICT'
      )
      await run(
        'CREATE INDEX IF NOT EXISTS `idempotency_keys_expires_at` ON `idempotency_keys` (`expires_at`, `key_hash`)'
      )
      return
    }
    await run(
      'CREATE TABLE IF NOT EXISTS `idempotency_keys` (`key_hash` BINARY(32) NOT NULL PRIMARY KEY, ' +
        '`fingerprint` BINARY(32) NOT NULL, `answer` LONGBLOB, `created_at` BIGINT NOT NULL, ' +
        '`expires_at` BIGINT NOT NULL, INDEX `idempotency_keys_expires_at` (`expires_at`)) ' +
        'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4'
    )
  }
}

const createAuditEntries: Migration = {
  name: '006-audit-entries',
  up: createTables(
    table('audit_entries', {
      columns: {
        id: long(),
        at: dateTime(),
        subject: text(512),
        resource: text(64),
        rowId: text(64),
        action: text(64)
      },
      sorted: ['at', 'subject', 'resource', 'rowId', 'action']
    })
  )
}

/**
 * Accounts, found by the hash of their e-mail address in lower case, and the log-ins that failed lately, by the hash of
 * where they came from and whose account they tried. Times are epoch milliseconds.
 */
const createAccounts: Migration = {
  name: '007-accounts',
  up: async ({ kind, run }) => {
    if (kind === 'sqlite') {
      await run(
        'CREATE TABLE IF NOT EXISTS `accounts` (`id` INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, ' +
          '`email_key` BLOB NOT NULL UNIQUE, `email` TEXT NOT NULL, `name` TEXT NOT NULL, ' +
          '`password_hash` TEXT NOT NULL, `role` TEXT NOT NULL, `owner` INTEGER, `is_sample` INTEGER NOT NULL, ' +
          '`created_at` INTEGER NOT NULL) STRICT'
      )
      await run(
        'CREATE TABLE IF NOT EXISTS `login_attempts` (`key_hash` BLOB NOT NULL PRIMARY KEY, ' +
          '`attempts` TEXT NOT NULL, `expires_at` INTEGER NOT NULL) STRICT'
      )
      await run('CREATE INDEX IF NOT EXISTS `login_attempts_expires_at` ON `login_attempts` (`expires_at`, `key_hash`)')
      return
    }
    const text = (length: number): string =>
      `VARCHAR(${length}) CHARACTER SET utf8mb4 COLLATE ${collationOf(kind)} NOT NULL`
    await run(
      'CREATE TABLE IF NOT EXISTS `accounts` (`id` BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, ' +
        `\`email_key\` BINARY(32) NOT NULL, \`email\` ${text(254)}, \`name\` ${text(200)}, ` +
        `\`password_hash\` VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, \`role\` ${text(64)}, ` +
        '`owner` BIGINT, `is_sample` TINYINT(1) NOT NULL, `created_at` BIGINT NOT NULL, ' +
        'UNIQUE INDEX `accounts_email_key_unique` (`email_key`)) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4'
    )
    await run(
      'CREATE TABLE IF NOT EXISTS `login_attempts` (`key_hash` BINARY(32) NOT NULL PRIMARY KEY, ' +
        '`attempts` TEXT CHARACTER SET ascii NOT NULL, `expires_at` BIGINT NOT NULL, ' +
        'INDEX `login_attempts_expires_at` (`expires_at`)) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4'
    )
  }
}

/**
 * A family of refresh tokens for each device that logged in. Tokens are kept as their SHA-256, the one that followed a
 * used one sealed under a key that only the used one gives. Families are purged by `expires_at`, with their tokens.
 * Times are epoch milliseconds.
 */
const createSessions: Migration = {
  name: '008-sessions',
  up: async ({ kind, run }) => {
    if (kind === 'sqlite') {
      await run(
        'CREATE TABLE IF NOT EXISTS `refresh_families` (`id` BLOB NOT NULL PRIMARY KEY, ' +
          '`account_id` INTEGER NOT NULL REFERENCES `accounts` (`id`) ON DELETE CASCADE, ' +
          '`created_at` INTEGER NOT NULL, `ends_at` INTEGER NOT NULL, `revoked_at` INTEGER, ' +
          '`expires_at` INTEGER NOT NULL) STRICT'
      )
      await run('CREATE INDEX IF NOT EXISTS `refresh_families_account_id` ON `refresh_families` (`account_id`)')
      await run('CREATE INDEX IF NOT EXISTS `refresh_families_expires_at` ON `refresh_families` (`expires_at`, `id`)')
      await run(
        'CREATE TABLE IF NOT EXISTS `refresh_tokens` (`token_hash` BLOB NOT NULL PRIMARY KEY, ' +
          '`family_id` BLOB NOT NULL REFERENCES `refresh_families` (`id`) ON DELETE CASCADE, ' +
          '`issued_at` INTEGER NOT NULL, `expires_at` INTEGER NOT NULL, `used_at` INTEGER, `successor` BLOB) STRICT'
      )
      await run('CREATE INDEX IF NOT EXISTS `refresh_tokens_family_id` ON `refresh_tokens` (`family_id`)')
      return
    }
    await run(
      'CREATE TABLE IF NOT EXISTS `refresh_families` (`id` BINARY(16) NOT NULL PRIMARY KEY, ' +
        '`account_id` BIGINT NOT NULL, `created_at` BIGINT NOT NULL, `ends_at` BIGINT NOT NULL, ' +
        '`revoked_at` BIGINT, `expires_at` BIGINT NOT NULL, INDEX `refresh_families_expires_at` (`expires_at`), ' +
        'CONSTRAINT `refresh_families_account_id_fk` FOREIGN KEY (`account_id`) REFERENCES `accounts` (`id`) ' +
        'ON DELETE CASCADE) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4'
    )
    await run(
      'CREATE TABLE IF NOT EXISTS `refresh_tokens` (`token_hash` BINARY(32) NOT NULL PRIMARY KEY, ' +
        '`family_id` BINARY(16) NOT NULL, `issued_at` BIGINT NOT NULL, `expires_at` BIGINT NOT NULL, ' +
        '`used_at` BIGINT, `successor` VARBINARY(64), ' +
        'CONSTRAINT `refresh_tokens_family_id_fk` FOREIGN KEY (`family_id`) REFERENCES `refresh_families` (`id`) ' +
        'ON DELETE CASCADE) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4'
    )
  }
}

/** The request that made an audit entry. Entries of before have none. */
const addAuditRequestId: Migration = {
  name: '030-audit-request-id',
  up: addColumns('audit_entries', { columns: { requestId: optional(text(128)) }, indexed: ['requestId'] })
}

/**
 * What the nodes of a Galera cluster certify look-ups against (sql/write/guards.ts). A bounded number of rows, none of
 * which means anything; the embedded database has one writer and needs none.
 */
const createLookUpGuards: Migration = {
  name: '033-look-up-guards',
  up: async ({ kind, run }) => {
    if (kind === 'sqlite') return
    await run(
      'CREATE TABLE IF NOT EXISTS `look_up_guards` (`slot` INT UNSIGNED NOT NULL PRIMARY KEY, ' +
        '`turn` BIGINT UNSIGNED NOT NULL) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4'
    )
  }
}

/**
 * Refresh tokens name their family by a reference that the family keeps hashed, so that a used one is known as such when
 * it is not stored any more, and used ones are purged by `purge_at`, epoch milliseconds. Both are null for what earlier
 * versions made: such tokens name no family, and stay until their family dies.
 */
const addFamilyRefs: Migration = {
  name: '034-family-refs',
  up: async (database) => {
    if (database.kind === 'sqlite') {
      await unlessThere(database, 'ALTER TABLE `refresh_families` ADD COLUMN `ref_hash` BLOB')
      await unlessThere(database, 'ALTER TABLE `refresh_tokens` ADD COLUMN `purge_at` INTEGER')
      await database.run(
        'CREATE UNIQUE INDEX IF NOT EXISTS `refresh_families_ref_hash_unique` ON `refresh_families` (`ref_hash`)'
      )
      await database.run(
        'CREATE INDEX IF NOT EXISTS `refresh_tokens_purge_at` ON `refresh_tokens` (`purge_at`, `token_hash`)'
      )
      return
    }
    await unlessThere(
      database,
      'ALTER TABLE `refresh_families` ADD COLUMN `ref_hash` BINARY(32), ' +
        'ADD UNIQUE INDEX `refresh_families_ref_hash_unique` (`ref_hash`)'
    )
    await unlessThere(
      database,
      // A token with its family's reference is longer, and so is what it is sealed to.
      'ALTER TABLE `refresh_tokens` ADD COLUMN `purge_at` BIGINT, MODIFY COLUMN `successor` VARBINARY(128), ' +
        'ADD INDEX `refresh_tokens_purge_at` (`purge_at`)'
    )
  }
}

const DUPLICATE_COLUMN = 1060

/** One ALTER TABLE is done whole or not at all: where its column is there already, all of it is. */
async function unlessThere(database: MigrationDatabase, statement: string): Promise<void> {
  try {
    await database.run(statement)
  } catch (error) {
    const { parent } = error instanceof DatabaseError ? error : { parent: undefined }
    const isThere =
      (parent !== undefined && 'errno' in parent && parent.errno === DUPLICATE_COLUMN) ||
      (parent?.message.includes('duplicate column name') ?? false)
    if (!isThere) throw error
  }
}

/**
 * The tables of the engine itself, in order. They are made before those of the application, whose migrations have names
 * of their own: a name that stands here is never changed, since databases know by it what they have had.
 */
export const engineMigrations: readonly Migration[] = [
  createIdempotencyKeys,
  createAuditEntries,
  createAccounts,
  createSessions,
  addAuditRequestId,
  createLookUpGuards,
  addFamilyRefs
]
