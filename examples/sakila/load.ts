import { readFile } from 'node:fs/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { createConnection } from 'mysql2/promise'
import { sakilaRows, type Size, SIZES, type TableRows } from './rows.js'

// `node dist/examples/sakila/load.js <DATABASE_URL> [small|full]` makes the tables, views and triggers of the example in an
// empty database and fills them, as any database comes to be that was not made for uniform-rest: by SQL alone.

const USAGE = 'Usage: node dist/examples/sakila/load.js <DATABASE_URL> [small|full]'

/** The files of SQL stand beside the sources; this file runs from dist/. */
const SCHEMA = new URL('../../../examples/sakila/schema/', import.meta.url)

/** The line before the statements that are run when the rows are there. */
const AFTER_ROWS = '-- After the rows\n'

const ROWS_AT_ONCE = 500

const [url, size = 'full', ...others] = process.argv.slice(2)
if (url === undefined || !/^(sqlite|mysql|mariadb):/.test(url) || !isSize(size) || others.length > 0) {
  process.stderr.write(`${USAGE}\n`)
  process.exitCode = 2
} else {
  const tables = sakilaRows(size)
  // A database that has one of the tables fails here with the error of its driver, and has not changed.
  await (url.startsWith('sqlite:') ? loadSqlite(url.slice('sqlite:'.length), tables) : loadMysql(url, tables))
  process.stdout.write(`The database holds the ${size} rows of the example.\n`)
}

function isSize(text: string): text is Size {
  return Object.hasOwn(SIZES, text)
}

async function loadMysql(url: string, tables: readonly TableRows[]): Promise<void> {
  const [before, after] = await statementsOf('mysql.sql')
  const uri = url.replace(/^mariadb:/, 'mysql:')
  const connection = await createConnection({ uri, multipleStatements: true, charset: 'utf8mb4' })
  try {
    // What is put into a TIMESTAMP is a time of the session's zone.
    await connection.query("SET time_zone = '+00:00'")
    await connection.query(before)
    for (const { table, columns, rows } of tables) {
      const names = columns.map((column) => `\`${column}\``).join(', ')
      for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
        await connection.query(`INSERT INTO \`${table}\` (${names}) VALUES ?`, [
          rows.slice(start, start + ROWS_AT_ONCE)
        ])
      }
    }
    await connection.query(after)
  } finally {
    await connection.end()
  }
}

async function loadSqlite(file: string, tables: readonly TableRows[]): Promise<void> {
  const [before, after] = await statementsOf('sqlite.sql')
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  try {
    database.exec('BEGIN IMMEDIATE')
    database.exec(before)
    for (const { table, columns, rows } of tables) {
      const names = columns.map((column) => `\`${column}\``).join(', ')
      const insert = database.prepare(
        `INSERT INTO \`${table}\` (${names}) VALUES (${columns.map(() => '?').join(', ')})`
      )
      for (const row of rows) insert.run(...row)
    }
    database.exec(after)
    database.exec('COMMIT')
  } finally {
    database.close()
  }
}

async function statementsOf(file: string): Promise<readonly [before: string, after: string]> {
  const [before = '', after = ''] = (await readFile(new URL(file, SCHEMA), 'utf8')).split(AFTER_ROWS)
  return [before, after]
}
