import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Entity } from '../../../../data-service/entity/entity.js'
import { connect } from '../../../../data-service/sql/connect.js'
import type { Database } from '../../../../data-service/sql/engines/engine.js'
import { migrate } from '../../../../data-service/sql/schema/migrate.js'
import { OWN } from '../../../harness/own-tables.js'
import { createWriteStore, type SqlWriteStore } from '../../../../data-service/sql/entity-rows/writes.js'
import { entities } from '../../../../examples/store/entities/index.js'
import { primaryMigrations } from '../../../harness/primary-migrations.js'
import { createLogger } from '../../../../shared/logger.js'
import { type DatabaseKind, freshDatabase } from '../../../harness/database.js'
import { openTestDatabase, type TestDatabase } from '../../../oracle/test-database.js'

/** A write store over a migrated database, a second one as another process would have it, and hand-written SQL. */
export interface FreshWriteStore {
  readonly url: string
  readonly database: Database
  readonly store: SqlWriteStore
  readonly other: SqlWriteStore
  readonly byHand: TestDatabase
  dispose(): Promise<void>
}

/** `written` are the entities that may be written: those of the store, or others over its tables. */
export async function freshWriteStore(
  kind: DatabaseKind,
  written: readonly Entity[] = entities
): Promise<FreshWriteStore> {
  const { url, dispose } = await freshDatabase(kind)
  const database = connect(url)
  await migrate(database, primaryMigrations, { own: OWN, log: createLogger({ name: 'test', level: 'silent' }) })
  const first = writeStoreOver(database, written)
  const second = writeStoreAt(url, written)
  const byHand = await openTestDatabase(url)
  return {
    url,
    database,
    store: first,
    other: second.store,
    byHand,
    dispose: async () => {
      await first.close()
      await database.sequelize.close()
      await second.close()
      await byHand.close()
      await dispose()
    }
  }
}

/** A store with connections of its own. */
export function writeStoreAt(
  url: string,
  written: readonly Entity[] = entities
): {
  readonly database: Database
  readonly store: SqlWriteStore
  close(): Promise<void>
} {
  const database = connect(url)
  const store = writeStoreOver(database, written)
  return {
    database,
    store,
    close: async () => {
      await store.close()
      await database.sequelize.close()
    }
  }
}

function writeStoreOver(database: Database, written: readonly Entity[]): SqlWriteStore {
  return createWriteStore(database, written, {
    tables: OWN,
    onEmitted: () => undefined,
    transactions: database.openTransactions(),
    random: Math.random,
    randomBytes
  })
}

export function entity(name: string): Entity {
  const found = entities.find((one) => one.name === name)
  if (found === undefined) throw new Error(`No entity ${name}`)
  return found
}

/** A signal that nobody aborts. */
export const never: AbortSignal = new AbortController().signal
// Many transactions at a time listen to it.
setMaxListeners(0, never)
