import { defineApplication, migrationsIn } from 'uniform-rest'
import { entities } from './entities/index.js'
import lock from './grpc/proto.lock.json' with { type: 'json' }
import { operations } from './operations.js'
import { outbox } from './outbox.js'
import { roles } from './roles.js'
import { sample } from './sample/sample-store.js'
import { primaryMigrations } from './schema/migrations.js'
import { secondMigrations } from './schema/reviews.js'

/** The reference store. */
export default defineApplication({
  entities,
  operations,
  outbox,
  typedServices: { package: 'store.v1', lock },
  roles,
  // Owners of rows are customers.
  ownerClaimType: 'customer_id',
  // Those of the chapters in schema/, and then a file for each that came later.
  migrations: await migrationsIn(new URL('./migrations/', import.meta.url), primaryMigrations),
  // It holds the reviews of products.
  secondStore: { setting: 'REVIEWS_DATABASE_URL', name: 'reviews', migrations: secondMigrations },
  sample,
  // `npm start` answers requests as the contract says it without a setting; `uniform-rest dev` would choose `true`.
  settings: { STRICT_HANDLING: 'false' },
  renderer: {
    module: new URL('storefront/main.js', import.meta.url),
    portSetting: 'STOREFRONT_PORT',
    environment: ({ host, port, apiUrl }) => ({
      STOREFRONT_HOST: host,
      STOREFRONT_PORT: String(port),
      STORE_API_URL: apiUrl
    })
  }
})
