import type { Sequelize } from 'sequelize'
import type { StoreName } from '../../data-service/entity/entity.js'
import { connect } from '../../data-service/sql/connect.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import { migrateDatabase } from '../../schema/migrations/migrate.js'
import { OWN } from '../harness/own-tables.js'
import { primaryMigrations } from '../harness/primary-migrations.js'
import { secondMigrations } from '../../examples/store/schema/reviews.js'
import { createLogger } from '../../shared/logger.js'
import { type DatabaseKind, freshDatabase } from '../harness/database.js'

/** Both stores of one test file, empty. */
export interface FreshStores {
  readonly urls: Readonly<Record<'DATABASE_URL' | 'REVIEWS_DATABASE_URL', string>>
  readonly databases: Readonly<Record<StoreName, Database>>
  /** Of the databases. */
  readonly primary: Sequelize
  readonly second: Sequelize
  /** Runs all migrations. */
  migrate(): Promise<void>
  dispose(): Promise<void>
}

export async function freshStores(kind: DatabaseKind): Promise<FreshStores> {
  const { url, reviewsUrl, dispose } = await freshDatabase(kind)
  const databases = { primary: connect(url), second: connect(reviewsUrl) }
  const { sequelize: primary } = databases.primary
  const { sequelize: second } = databases.second
  const log = createLogger({ name: 'test', level: 'silent' })
  return {
    urls: { DATABASE_URL: url, REVIEWS_DATABASE_URL: reviewsUrl },
    databases,
    primary,
    second,
    migrate: async () => {
      await migrateDatabase(databases.primary, primaryMigrations, { own: OWN, log })
      await migrateDatabase(databases.second, secondMigrations, { own: OWN, log })
    },
    dispose: async () => {
      await Promise.all([primary.close(), second.close()])
      await dispose()
    }
  }
}
