import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertFixture } from '../api/fixture.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { copiedDatabases } from './copied-database.js'
import { startDataServiceHere } from '../stack/in-process.js'
import { type DatabaseKind, type FreshDatabase, together } from './database.js'
import { insertRows, TABLES } from './insert-rows.js'
import { outputRoot } from './package-root.js'

/**
 * What the tables of the reference store hold: nothing; the rows of test/api/fixture.ts and the sample accounts; the sample rows
 * and accounts; or the sample accounts and one category, which keeps a start with SAMPLE_DATA from loading thousands of rows.
 */
export type StoreRows = 'none' | 'fixture' | 'sample' | 'accounts'

/** The two databases of the reference store with their tables and rows, as a start of the data service leaves them. */
export async function storeDatabase(kind: DatabaseKind, rows: StoreRows): Promise<FreshDatabase> {
  const copies = await copiedDatabases(
    kind,
    { name: `store-${rows}`, count: 2 },
    async ([database = '', reviews = '']) => {
      await startOnce(database, reviews, rows === 'sample')
      if (rows === 'none' || rows === 'sample') return
      const category = { id: 1, name: 'Tools', parentId: null, slug: 'tools' }
      if (rows === 'fixture') await insertFixture({ database, reviews })
      else await withTestDatabase(database, (sql) => insertRows(sql, TABLES.categories, [category]))
      // Each start with SAMPLE_DATA would hash the passwords of all accounts that are missing.
      await startOnce(database, reviews, true)
    }
  )
  return together(kind, copies)
}

/** Runs the migrations and loads the sample as the settings say. */
async function startOnce(database: string, reviews: string, sampleData: boolean): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'data-'))
  const { server } = await startDataServiceHere(join(outputRoot, 'examples/store'), {
    DATA_DIR: dataDir,
    DATABASE_URL: database,
    REVIEWS_DATABASE_URL: reviews,
    DATA_SERVICE_ADDRESS: '127.0.0.1:0',
    MIGRATE_AT_START: 'true',
    SAMPLE_DATA: String(sampleData)
  })
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
}
