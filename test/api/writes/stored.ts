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
    const columns = table === OUTBOX ? EMITTED : '*'
    tables[table] = (await database.run(`SELECT ${columns} FROM \`${table}\``)).map(comparable).toSorted()
  }
  return tables
}

const OUTBOX = 'ur_outbox'
/** The dispatcher goes on delivering what was emitted before; what was emitted is what a write has stored. */
const EMITTED = 'event_id, type, resource, row_id, payload'

/** Runs the work and holds every table, but for those in `besides`, against what it held before. */
export function changesNothing<Result>(
  store: Stored,
  work: () => Promise<Result>,
  { besides = [] }: { readonly besides?: readonly string[] } = {}
): Promise<Result> {
  // MariaDB names the database too.
  const without = <Value>(tables: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> =>
    Object.fromEntries(
      Object.entries(tables).filter(([table]) => !besides.includes(table.slice(table.indexOf('.') + 1)))
    )
  return withTestDatabase(store.databaseUrl, async (database) => {
    if (database.kind === 'mysql') {
      const before = without(await checksumsIn(database))
      const result = await work()
      expect(without(await checksumsIn(database))).to.deep.equal(before)
      return result
    }
    const commits = await commitsOf(database)
    const before = without(await everythingIn(database))
    const result = await work()
    // Without a commit of another connection there is nothing to compare.
    if ((await commitsOf(database)) !== commits) expect(without(await everythingIn(database))).to.deep.equal(before)
    return result
  })
}

/** A checksum of the rows of each table, which MariaDB makes faster than it sends them. */
async function checksumsIn(database: TestDatabase): Promise<Readonly<Record<string, unknown>>> {
  const tables = (await tablesOf(database)).filter((table) => table !== OUTBOX)
  const sums = await database.run(`CHECKSUM TABLE ${tables.map((table) => `\`${table}\``).join()}`)
  const emitted = await database.run(`SELECT ${EMITTED} FROM ${OUTBOX}`)
  return {
    ...Object.fromEntries(sums.map((row) => [String(row['Table']), String(row['Checksum'])])),
    [OUTBOX]: emitted.map(comparable).toSorted()
  }
}

/** A value of SQLite that differs after each commit of another connection. */
async function commitsOf(database: TestDatabase): Promise<unknown> {
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
