import { DatabaseError } from 'sequelize'
import type { Migration, MigrationDatabase } from '../migration.js'

/**
 * Refresh tokens name their family by a reference that the family keeps hashed, so that a used one is known as such when
 * it is not stored any more, and used ones are purged by `purge_at`, epoch milliseconds. Both are null for what earlier
 * versions made: such tokens name no family, and stay until their family dies.
 */
export const addFamilyRefs: Migration = {
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
