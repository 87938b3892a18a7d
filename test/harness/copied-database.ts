import { existsSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { openTestDatabase } from '../oracle/test-database.js'
import { type DatabaseKind, type FreshDatabase, freshDatabase } from '../stack/databases.js'

/** Milliseconds between two looks whether another process has filled a template. */
const LOOK_AGAIN = 50

/**
 * Makes `count` databases with everything that `fill` puts into as many empty ones. The first call of a run under this name
 * fills templates; all later ones copy them, also those of other processes of the run, whose folder for temporary files is
 * the same. A copy takes a fraction of the time that migrations take.
 */
export async function copiedDatabases(
  kind: DatabaseKind,
  { name, count = 1 }: { readonly name: string; readonly count?: number },
  fill: (urls: readonly string[]) => Promise<void>
): Promise<readonly FreshDatabase[]> {
  const key = `${kind}-${name}`
  const templates = known.get(key) ?? once(join(tmpdir(), `template-${key}`), () => filled(kind, count, fill))
  known.set(key, templates)
  const copies: FreshDatabase[] = []
  for (const template of (await templates).split('\n')) {
    const copy = await freshDatabase(kind)
    copies.push(copy)
    if (kind === 'sqlite') await copyFile(fileOf(template), fileOf(copy.url))
    else await copyTables(template, copy.url)
  }
  return copies
}

/** The templates of this process by kind and name: their URLs, a line each. */
const known = new Map<string, Promise<string>>()

async function filled(
  kind: DatabaseKind,
  count: number,
  fill: (urls: readonly string[]) => Promise<void>
): Promise<string> {
  const urls: string[] = []
  for (let made = 0; made < count; made++) urls.push((await freshDatabase(kind)).url)
  await fill(urls)
  for (const url of kind === 'sqlite' ? urls : []) {
    // What is in the write-ahead log only would be missing in a copy of the file.
    const database = await openTestDatabase(url)
    await database.run('PRAGMA wal_checkpoint(TRUNCATE)')
    await database.close()
  }
  return urls.join('\n')
}

function fileOf(url: string): string {
  return url.slice('sqlite:'.length)
}

/** Does the work in one process of all that ask with this folder, and answers its text to all of them. */
async function once(folder: string, work: () => Promise<string>): Promise<string> {
  const answer = join(folder, 'answer')
  try {
    await mkdir(folder)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    for (;;) {
      const found = existsSync(answer) ? await readFile(answer, 'utf8') : undefined
      if (found?.startsWith('error ') === true) throw new Error(`Another process failed: ${found}`, { cause: error })
      if (found !== undefined) return found
      await pause(LOOK_AGAIN)
    }
  }
  const tell = async (text: string): Promise<void> => {
    const written = join(await mkdtemp(join(tmpdir(), 'answer-')), 'text')
    await writeFile(written, text)
    await rename(written, answer)
    await rm(join(written, '..'), { recursive: true })
  }
  try {
    const text = await work()
    await tell(text)
    return text
  } catch (error) {
    await tell(`error ${String(error)}`)
    throw error
  }
}

/** Copies all tables with their rows, indexes and foreign keys into an empty database of the same server. */
async function copyTables(from: string, to: string): Promise<void> {
  const script = scripts.get(from) ?? scriptOf(from)
  scripts.set(from, script)
  const connection = await createConnection({ uri: to, multipleStatements: true })
  try {
    await connection.query(`SET foreign_key_checks = 0;\n${await script}`)
  } finally {
    await connection.end()
  }
}

/** The statements that copy a template into the database of a connection, by the URL of the template. */
const scripts = new Map<string, Promise<string>>()

async function scriptOf(template: string): Promise<string> {
  const source = nameIn(template)
  const connection = await createConnection({ uri: template })
  const ask = async (sql: string, values: string[] = []): Promise<readonly RowDataPacket[]> =>
    (await connection.query<RowDataPacket[]>(sql, values))[0]
  try {
    const triggers = await ask('SELECT 1 FROM information_schema.triggers WHERE trigger_schema = ?', [source])
    if (triggers.length > 0) throw new Error('The template has triggers, which a copy would not have.')
    const views = await ask('SELECT table_name AS v FROM information_schema.views WHERE table_schema = ?', [source])
    // A generated column takes no value.
    const columns = await ask(
      `SELECT c.table_name AS t, GROUP_CONCAT(CONCAT('\`', c.column_name, '\`') ORDER BY c.ordinal_position) AS list
       FROM information_schema.columns c JOIN information_schema.tables USING (table_schema, table_name)
       WHERE c.table_schema = ? AND table_type = 'BASE TABLE' AND COALESCE(c.generation_expression, '') = ''
       GROUP BY c.table_name`,
      [source]
    )
    const creates: string[] = []
    for (const { t } of columns) creates.push(String((await ask(`SHOW CREATE TABLE \`${t}\``))[0]?.['Create Table']))
    for (const { v } of views) {
      const [found] = await ask(`SHOW CREATE VIEW \`${v}\``)
      creates.push(String(found?.['Create View']).replaceAll(`\`${source}\`.`, ''))
    }
    const inserts = await Promise.all(
      columns.map(async ({ t, list }) => {
        const [row] = await ask(`SELECT 1 FROM \`${t}\` LIMIT 1`)
        return row && `INSERT INTO \`${t}\` (${list}) SELECT ${list} FROM \`${source}\`.\`${t}\``
      })
    )
    return [...creates, ...inserts.filter((one) => one !== undefined)].join(';\n')
  } finally {
    await connection.end()
  }
}

function nameIn(url: string): string {
  return new URL(url).pathname.slice(1)
}
