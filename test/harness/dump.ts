import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type TestDatabase, withTestDatabase } from '../oracle/test-database.js'

/** A database as a dump shows it: the statements that make each table, view, index and trigger, and all rows, by name. */
type Dump = Readonly<Record<string, readonly string[]>>

export function dumpOf(url: string): Promise<Dump> {
  return withTestDatabase(url, (database) =>
    database.kind === 'sqlite' ? dumpSqlite(database) : dumpMariadb(database)
  )
}

/** The part of a dump that another one has, by name: what was there before. */
export function partOf(dump: Dump, before: Dump): Dump {
  return Object.fromEntries(Object.entries(dump).filter(([name]) => name in before))
}

/** A text that differs for each content of the file of a SQLite database, byte by byte; of a server its dump. */
export async function bytesOf(url: string): Promise<string> {
  if (!url.startsWith('sqlite:')) return JSON.stringify(await dumpOf(url))
  // SQLite writes first into a log, and moves that into the file at a time of its own. The bytes change, the content does not.
  await withTestDatabase(url, async ({ run }) => {
    const [moved] = await run('PRAGMA wal_checkpoint(TRUNCATE)')
    if (Number(moved?.['busy']) !== 0) throw new Error('somebody reads the database, so its log cannot be emptied')
  })
  return createHash('sha256')
    .update(await readFile(url.slice('sqlite:'.length)))
    .digest('hex')
}

async function dumpSqlite(database: TestDatabase): Promise<Dump> {
  const made = await database.run('SELECT name, tbl_name, type, sql FROM sqlite_master ORDER BY name')
  const found: Record<string, string[]> = {}
  for (const one of made) {
    const table = String(one['tbl_name'])
    found[table] = [...(found[table] ?? []), `${String(one['name'])}: ${String(one['sql'])}`]
  }
  for (const one of made.filter(({ type }) => type === 'table')) {
    const table = String(one['name'])
    found[table]?.push(...(await rowsOf(database, table)))
  }
  return found
}

async function dumpMariadb(database: TestDatabase): Promise<Dump> {
  const tables = await database.run(
    'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1'
  )
  const found: Record<string, string[]> = {}
  for (const { name } of tables) {
    const table = String(name)
    const [made] = await database.run(`SHOW CREATE TABLE \`${table}\``)
    const text = String(made?.['Create Table'] ?? made?.['Create View'])
    found[table] = [text, ...(await rowsOf(database, table))]
  }
  const triggers = await database.run(
    'SELECT EVENT_OBJECT_TABLE AS name, TRIGGER_NAME AS trigger_name, ACTION_STATEMENT AS text FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() ORDER BY 2'
  )
  for (const { name, trigger_name: trigger, text } of triggers) {
    found[String(name)]?.push(`${String(trigger)}: ${String(text)}`)
  }
  return found
}

async function rowsOf(database: TestDatabase, table: string): Promise<string[]> {
  const rows = await database.run(`SELECT * FROM \`${table}\``)
  return rows
    .map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)))
    .toSorted()
}
