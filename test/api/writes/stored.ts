import { expect } from 'chai'
import { TABLES, type TestTable } from '../../oracle/insert-rows.js'
import { withTestDatabase, type RawRow, type SqlParameter } from '../../oracle/test-database.js'

/** Every table that a write of these resources may touch. */
const WRITTEN: readonly string[] = [
  ...Object.values<TestTable>(TABLES).flatMap(({ name }) => (name === 'product_reviews' ? [] : [name])),
  'audit_entries',
  'idempotency_keys'
]

interface Stored {
  readonly databaseUrl: string
}

/** Rows by hand-written SQL, past the service. */
export function select(store: Stored, sql: string, parameters: readonly SqlParameter[] = []): Promise<RawRow[]> {
  return withTestDatabase(store.databaseUrl, (database) => database.run(sql, parameters))
}

/** The number that a `SELECT COUNT(*)` answers. */
export async function count(store: Stored, from: string, parameters: readonly SqlParameter[] = []): Promise<number> {
  const [row] = await select(store, `SELECT COUNT(*) AS n FROM ${from}`, parameters)
  return Number(row?.['n'])
}

/** Everything that is stored, as comparable text by table. */
export async function everything(store: Stored): Promise<Readonly<Record<string, readonly string[]>>> {
  return withTestDatabase(store.databaseUrl, async (database) => {
    const tables: Record<string, readonly string[]> = {}
    for (const table of WRITTEN)
      tables[table] = (await database.run(`SELECT * FROM ${table}`)).map(comparable).toSorted()
    return tables
  })
}

/** Runs the work and holds every table against what it held before. */
export async function changesNothing<Result>(store: Stored, work: () => Promise<Result>): Promise<Result> {
  const before = await everything(store)
  const result = await work()
  expect(await everything(store)).to.deep.equal(before)
  return result
}

function comparable(row: RawRow): string {
  return JSON.stringify(row, (_, value: unknown) => {
    if (typeof value === 'bigint') return value.toString()
    // Buffers come as what their toJSON answers.
    return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
  })
}
