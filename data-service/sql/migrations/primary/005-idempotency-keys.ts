import type { Migration } from '../migration.js'

/** Keys of writes with the answers kept under them, which are purged by `expires_at`. Times are epoch milliseconds. */
export const createIdempotencyKeys: Migration = {
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
