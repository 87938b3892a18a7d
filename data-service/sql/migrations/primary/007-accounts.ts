import { collationOf } from '../../mysql/mysql-session.js'
import type { Migration } from '../migration.js'

/**
 * Accounts, found by the hash of their e-mail address in lower case, and the log-ins that failed lately, by the hash of
 * where they came from and whose account they tried. Times are epoch milliseconds.
 */
export const createAccounts: Migration = {
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
