import { expect } from 'chai'
import { withTestDatabase, type RawRow, type TestDatabase } from '../../oracle/test-database.js'
import type { SqlParameter } from '../../oracle/wire-value.js'

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
export function everything(store: Stored): Promise<Readonly<Record<string, readonly string[]>>> {
  return withTestDatabase(store.databaseUrl, everythingIn)
}

async function everythingIn(database: TestDatabase): Promise<Readonly<Record<string, readonly string[]>>> {
  const tables: Record<string, readonly string[]> = {}
  for (const table of await tablesOf(database)) {
    // The dispatcher goes on delivering what was emitted before; what was emitted is what a write has stored.
    const columns = table === 'ur_outbox' ? 'event_id, type, resource, row_id, payload' : '*'
    tables[table] = (await database.run(`SELECT ${columns} FROM \`${table}\``)).map(comparable).toSorted()
  }
  return tables
}

/** Runs the work and holds every table against what it held before. */
export function changesNothing<Result>(store: Stored, work: () => Promise<Result>): Promise<Result> {
  return withTestDatabase(store.databaseUrl, async (database) => {
    const commits = await commitsOf(database)
    const before = await everythingIn(database)
    const result = await work()
    // Without a commit of another connection there is nothing to compare.
    if (commits === undefined || (await commitsOf(database)) !== commits) {
      expect(await everythingIn(database)).to.deep.equal(before)
    }
    return result
  })
}

/** A value of SQLite that differs after each commit of another connection; undefined on MariaDB, which has none. */
async function commitsOf(database: TestDatabase): Promise<unknown> {
  if (database.kind !== 'sqlite') return undefined
  const [row] = await database.run('PRAGMA data_version')
  return row?.['data_version']
}

async function tablesOf(database: TestDatabase): Promise<string[]> {
  const rows = await database.run(
    database.kind === 'sqlite'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
      : 'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1'
  )
  return rows.map(({ name }) => String(name))
}

function comparable(row: RawRow): string {
  return JSON.stringify(row, (_, value: unknown) => {
    if (typeof value === 'bigint') return value.toString()
    // Buffers come as what their toJSON answers.
    return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
  })
}
