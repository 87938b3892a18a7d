import { copyFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import type { Database } from '../databases/database.js'

/** The rows of the primary database as they were once. Nobody else may use it meanwhile. */
export interface FirstRows {
  restore(): Promise<void>
}

/** Copies what a database has. `folder` is the caller's. */
export function keepFirstRows(database: Database, folder: string): Promise<FirstRows> {
  const { url } = database.urls(0)
  return url.startsWith('sqlite:') ? keepFile(url.slice('sqlite:'.length), folder) : keepTables(database, url)
}

async function keepFile(file: string, folder: string): Promise<FirstRows> {
  const kept = join(folder, `first-${basename(file)}`)
  await copyFile(file, kept)
  return {
    async restore() {
      // Removed, not overwritten: a connection that is still open would write its pages into the new file.
      for (const end of ['', '-wal', '-shm']) await rm(`${file}${end}`, { force: true })
      await copyFile(kept, file)
    }
  }
}

/** Of the server beside the store. */
const COPY = 'first_rows'

/** Numbers of new rows go on where they were: only the rows come back. */
async function keepTables({ nodes, query }: Database, url: string): Promise<FirstRows> {
  const [node] = nodes
  if (node === undefined) throw new Error(`There is no server behind ${url}`)
  const store = new URL(url).pathname.slice(1)
  await node.run(`CREATE DATABASE ${COPY}`)
  await node.run(`GRANT ALL ON ${COPY}.* TO '${new URL(url).username}'@'%'`)
  const found = await query(
    `SELECT c.table_name AS name, GROUP_CONCAT(CONCAT('\`', c.column_name, '\`')) AS columns
     FROM information_schema.columns c JOIN information_schema.tables t
       ON t.table_schema = c.table_schema AND t.table_name = c.table_name
     WHERE c.table_schema = '${store}' AND t.table_type = 'BASE TABLE' AND c.extra NOT LIKE '%GENERATED%'
     GROUP BY c.table_name`
  )
  const tables = found.map(({ name, columns }) => ({ name: String(name), columns: String(columns) }))
  await withoutForeignKeys(
    url,
    tables.map(({ name, columns }) => `CREATE TABLE ${COPY}.\`${name}\` AS SELECT ${columns} FROM \`${name}\``)
  )
  return {
    restore: () =>
      withoutForeignKeys(
        url,
        tables.flatMap(({ name, columns }) => [
          `DELETE FROM \`${name}\``,
          `INSERT INTO \`${name}\` (${columns}) SELECT ${columns} FROM ${COPY}.\`${name}\``
        ])
      )
  }
}

async function withoutForeignKeys(url: string, statements: readonly string[]): Promise<void> {
  const connection = await createConnection({ uri: url })
  try {
    await connection.query('SET SESSION foreign_key_checks = 0, group_concat_max_len = 1000000')
    await connection.query('START TRANSACTION')
    for (const statement of statements) await connection.query(statement)
    await connection.query('COMMIT')
  } finally {
    await connection.end()
  }
}
