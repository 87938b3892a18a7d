import type { SampleAccounts } from './auth/accounts.js'
import type { Roles } from './auth/claims.js'
import type { Entity } from './entity/entity.js'
import type { Database } from './sql/engines/engine.js'
import type { Migration } from './sql/schema/migrate.js'

/** What the service serves: one business. The engine itself knows none of its names. */
export interface Application {
  readonly entities: readonly Entity[]
  /** An entity that asks for a permission which no role has does not start. */
  readonly roles: Roles
  /** The claim of access tokens that names the owner of rows, where OWNER_CLAIM_TYPE is not set. */
  readonly ownerClaimType: string
  readonly databases: {
    /** The database of DATABASE_URL. Its migrations run after those of the engine's own tables. */
    readonly primary: ApplicationDatabase
    /** A database that cannot be joined to the primary one; `setting` is the setting that holds its URL. */
    readonly second: ApplicationDatabase & { readonly setting: string }
  }
  /** Accounts and rows to try the service with, which exist only where SAMPLE_DATA is on. */
  readonly sample?: SampleAccounts & {
    /** Fills databases that are migrated and empty, and leaves others alone. True: it filled them. */
    readonly loadRows: (primary: Database, second: Database) => Promise<boolean>
  }
}

interface ApplicationDatabase {
  /** Name of the SQLite file under DATA_DIR that is used where no URL is set. */
  readonly file: string
  /** In the order in which they run; a migration that was released keeps its name and its place. */
  readonly migrations: readonly Migration[]
}
