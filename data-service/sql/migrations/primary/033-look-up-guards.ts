import type { Migration } from '../migration.js'

/**
 * What the nodes of a Galera cluster certify look-ups against (sql/write/guards.ts). A bounded number of rows, none of
 * which means anything; the embedded database has one writer and needs none.
 */
export const createLookUpGuards: Migration = {
  name: '033-look-up-guards',
  up: async ({ kind, run }) => {
    if (kind === 'sqlite') return
    await run(
      'CREATE TABLE IF NOT EXISTS `look_up_guards` (`slot` INT UNSIGNED NOT NULL PRIMARY KEY, ' +
        '`turn` BIGINT UNSIGNED NOT NULL) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4'
    )
  }
}
