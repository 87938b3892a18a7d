import { randomBytes } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Entity, KeyedEntity } from '../../../../data-service/entity/entity.js'
import { keyed } from '../../../../data-service/entity/key.js'
import { connect } from '../../../../data-service/sql/connect.js'
import type { Database } from '../../../../data-service/sql/engines/engine.js'
import { OWN } from '../../../harness/own-tables.js'
import { createWriteStore, type SqlWriteStore } from '../../../../data-service/sql/entity-rows/writes.js'
import { entities } from '../../../../examples/store/entities/index.js'
import type { DatabaseKind } from '../../../harness/database.js'
import { storeDatabase } from '../../../harness/store-database.js'
import type { Open } from '../each-way.js'
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

interface WriteStoreOptions {
  /** The entities that may be written: those of the store, or others over its tables. */
  readonly written?: readonly Entity[]
  /** The way to the database (each-way.ts). */
  readonly open?: Open
}

export async function freshWriteStore(kind: DatabaseKind, options: WriteStoreOptions = {}): Promise<FreshWriteStore> {
  const { url, dispose } = await storeDatabase(kind, 'none')
  const { database, ...first } = writeStoreAt(url, options)
  const second = writeStoreAt(url, options)
  const byHand = await openTestDatabase(url)
  return {
    url,
    database,
    store: first.store,
    other: second.store,
    byHand,
    dispose: async () => {
      await first.close()
      await second.close()
      await byHand.close()
      await dispose()
    }
  }
}

/** Removes the categories of a MySQL database, which are numbered from 1 again, with their audit entries and all keys. */
export async function emptyCategories({ byHand }: FreshWriteStore): Promise<void> {
  for (const table of ['ur_idempotency_keys', 'ur_audit_entries', 'categories']) {
    await byHand.run(`DELETE FROM ${table}`)
  }
  await byHand.run('ALTER TABLE categories AUTO_INCREMENT = 1')
}

/** A store with connections of its own. */
export function writeStoreAt(
  url: string,
  { written = entities, open = connect }: WriteStoreOptions = {}
): {
  readonly database: Database
  readonly store: SqlWriteStore
  close(): Promise<void>
} {
  const database = open(url)
  const store = createWriteStore(database, written, {
    tables: OWN,
    onEmitted: () => undefined,
    transactions: database.openTransactions(),
    random: Math.random,
    randomBytes
  })
  return {
    database,
    store,
    close: async () => {
      await store.close()
      await database.sequelize.close()
    }
  }
}

export function entity(name: string): KeyedEntity {
  const found = entities.find((one) => one.name === name)
  if (found === undefined) throw new Error(`No entity ${name}`)
  return keyed(found)
}

/** A signal that nobody aborts. */
export const never: AbortSignal = new AbortController().signal
// Many transactions at a time listen to it.
setMaxListeners(0, never)
