import type { Sequelize } from 'sequelize'
import { connect } from '../../../../data-service/sql/connect.js'
import { parseDatabaseUrl } from '../../../../data-service/sql/engines/engine.js'
import { migrate } from '../../../../data-service/sql/schema/migrate.js'
import { primaryMigrations } from '../../../harness/primary-migrations.js'
import { secondMigrations } from '../../../../examples/store/schema/second-migrations.js'
import { createLogger } from '../../../../shared/logger.js'
import { type DatabaseKind, freshDatabase } from '../../../harness/database.js'

/** Both stores of one test file, empty. */
export interface FreshStores {
  readonly urls: Readonly<Record<'DATABASE_URL' | 'REVIEWS_DATABASE_URL', string>>
  readonly primary: Sequelize
  readonly second: Sequelize
  /** Runs all migrations. */
  migrate(): Promise<void>
  dispose(): Promise<void>
}

export async function freshStores(kind: DatabaseKind): Promise<FreshStores> {
  const { url, reviewsUrl, dispose } = await freshDatabase(kind)
  const primary = connect(parseDatabaseUrl(url)).sequelize
  const second = connect(parseDatabaseUrl(reviewsUrl)).sequelize
  const log = createLogger({ name: 'test', level: 'silent' })
  return {
    urls: { DATABASE_URL: url, REVIEWS_DATABASE_URL: reviewsUrl },
    primary,
    second,
    migrate: async () => {
      await migrate(primary, primaryMigrations, log)
      await migrate(second, secondMigrations, log)
    },
    dispose: async () => {
      await Promise.all([primary.close(), second.close()])
      await dispose()
    }
  }
}
