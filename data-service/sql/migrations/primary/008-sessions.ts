import type { Migration } from '../migration.js'

/**
 * A family of refresh tokens for each device that logged in. Tokens are kept as their SHA-256, the one that followed a
 * used one sealed under a key that only the used one gives. Families are purged by `expires_at`, with their tokens.
 * Times are epoch milliseconds.
 */
export const createSessions: Migration = {
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
