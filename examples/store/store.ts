import type { Application } from '../../data-service/public/service.js'
import { entities } from './entities/index.js'
import { roles } from './roles.js'
import { sampleAccounts } from './sample/accounts.js'
import { loadSample } from './sample/sample-store.js'
import { primaryMigrations } from './schema/migrations.js'
import { secondMigrations } from './schema/reviews.js'

/** The reference store, as the data service serves it. */
export const store: Application = {
  entities,
  roles,
  databases: {
    primary: { file: 'store.sqlite', migrations: primaryMigrations },
    // It holds the reviews of products.
    second: { setting: 'REVIEWS_DATABASE_URL', file: 'reviews.sqlite', migrations: secondMigrations }
  },
  // Owners of rows are customers.
  ownerClaimType: 'customer_id',
  sample: { ...sampleAccounts, loadRows: loadSample }
}
