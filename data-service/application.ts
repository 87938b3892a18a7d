import type { SampleAccounts } from './auth/accounts.js'
import type { Roles } from './auth/claims.js'
import type { Entity } from './entity/entity.js'
import type { Database } from './sql/engines/engine.js'
import type { Migration } from './sql/schema/migrate.js'

/** The business that the service serves. The engine itself contains none of its names. */
export interface Application {
  readonly entities: readonly Entity[]
  /** The service does not start if an entity requires a permission that no role has. */
  readonly roles: Roles
  /** The claim of access tokens that names the owner of rows, where OWNER_CLAIM_TYPE is not set. */
  readonly ownerClaimType: string
  readonly databases: {
    /** The database of DATABASE_URL. Its migrations run after those of the engine's own tables. */
    readonly primary: ApplicationDatabase
    /** A database that cannot be joined to the primary one; `setting` is the setting that holds its URL. */
    readonly second: ApplicationDatabase & { readonly setting: string }
  }
  /** Accounts and rows to try the service with. They exist only if SAMPLE_DATA is on. */
  readonly sample?: SampleAccounts & {
    /** Fills migrated, empty databases. Returns whether it did. */
    readonly loadRows: (primary: Database, second: Database) => Promise<boolean>
  }
}

interface ApplicationDatabase {
  /** Name of the SQLite file under DATA_DIR that is used where no URL is set. */
  readonly file: string
  /** In the order in which they run. A released migration keeps its name and its place. */
  readonly migrations: readonly Migration[]
}
