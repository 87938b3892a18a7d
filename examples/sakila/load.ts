import { readFile } from 'node:fs/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { createConnection } from 'mysql2/promise'
import { type Amount, type Moment, sakilaRows, type Size, SIZES, type SqlValue, type TableRows } from './rows.js'

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
        const some = rows.slice(start, start + ROWS_AT_ONCE).map((row) => row.map(mysqlValue))
        await connection.query(`INSERT INTO \`${table}\` (${names}) VALUES ?`, [some])
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
      for (const row of rows) insert.run(...row.map(sqliteValue))
    }
    database.exec(after)
    database.exec('COMMIT')
  } finally {
    database.close()
  }
}

type PlainValue = Exclude<SqlValue, Amount | Moment>

function mysqlValue(value: SqlValue): PlainValue {
  if (value === null || typeof value !== 'object' || Buffer.isBuffer(value)) return value
  if ('moment' in value) return value.moment
  return `${Math.floor(value.cents / 100)}.${String(value.cents % 100).padStart(2, '0')}`
}

/** Amounts and moments as sqlite.sql says. */
function sqliteValue(value: SqlValue): PlainValue {
  if (value === null || typeof value !== 'object' || Buffer.isBuffer(value)) return value
  if ('cents' in value) return value.cents
  const [second = '', fraction = '000'] = value.moment.split('.')
  return `${second.replace(' ', 'T')}.${fraction}Z`
}

async function statementsOf(file: string): Promise<readonly [before: string, after: string]> {
  const [before = '', after = ''] = (await readFile(new URL(file, SCHEMA), 'utf8')).split(AFTER_ROWS)
  return [before, after]
}
