import { setMaxListeners } from 'node:events'
import type { KeyedEntity } from '../../../data-service/entity/entity.js'
import { keyed } from '../../../data-service/entity/key.js'
import { connect } from '../../../data-service/sql/connect.js'
import { SqlReadStore } from '../../../data-service/sql/entity-rows/reads.js'
import { entities } from '../../../examples/store/entities/index.js'
import type { DatabaseKind } from '../../harness/database.js'
import { storeDatabase } from '../../harness/store-database.js'
import type { Open } from './each-way.js'
import { openTestDatabase, type TestDatabase } from '../../oracle/test-database.js'
import { schemaOf } from '../../../schema/kinds/kinds.js'

/** A read store over two migrated databases, and both by hand-written SQL. */
export interface FreshReadStore {
  readonly kind: DatabaseKind
  readonly url: string
  readonly store: SqlReadStore
  readonly primary: TestDatabase
  readonly second: TestDatabase
  dispose(): Promise<void>
}

/** `open` is the way to the database (each-way.ts). */
export async function freshReadStore(kind: DatabaseKind, open: Open = connect): Promise<FreshReadStore> {
  const { url, reviewsUrl, dispose } = await storeDatabase(kind, 'none')
  const databases = { primary: open(url), second: open(reviewsUrl) }
  const schema = schemaOf(databases.primary)
  const sortOrders = schema.sortOrders(await schema.describe())
  const store = new SqlReadStore(databases, entities, { facts: { sortOrders } })
  const primary = await openTestDatabase(url)
  const second = await openTestDatabase(reviewsUrl)
  return {
    kind,
    url,
    store,
    primary,
    second,
    dispose: async () => {
      await store.close()
      await primary.close()
      await second.close()
      await dispose()
    }
  }
}

export function entity(name: string): KeyedEntity {
  const found = entities.find((one) => one.name === name)
  if (found === undefined) throw new Error(`No entity ${name}`)
  return keyed(found)
}

/** A signal that nobody aborts, for any number of reads at a time. */
export const never: AbortSignal = new AbortController().signal
setMaxListeners(0, never)
