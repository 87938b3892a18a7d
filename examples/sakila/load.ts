import { readFile } from 'node:fs/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { createConnection } from 'mysql2/promise'
import { type Amount, type Moment, sakilaRows, type Size, SIZES, type SqlValue, type TableRows } from './rows.js'

// Makes the tables, views and triggers of the example in an empty database and fills them, as any database comes to be that
// was not made for uniform-rest: by SQL alone. A database that has one of the tables is left as it is.

const USAGE = `Usage: node dist/examples/sakila/load.js <DATABASE_URL> [full|small|tiny]   makes the tables with their rows
       node dist/examples/sakila/load.js <DATABASE_URL> row-versions        adds row versions to tables that it has made
`

/** The files of SQL stand beside the sources; this file runs from dist/. */
const SCHEMA = new URL('../../../examples/sakila/schema/', import.meta.url)

/** The line before the statements that are run when the rows are there. */
const AFTER_ROWS = '-- After the rows\n'

const ROWS_AT_ONCE = 500

const [url, what = 'full', ...others] = process.argv.slice(2)
if (url === undefined || !/^(sqlite|mysql|mariadb):/.test(url) || others.length > 0) {
  process.stderr.write(USAGE)
  process.exitCode = 2
} else if (isSize(what)) {
  await withDatabase(url, async (database) => {
    const [before = '', after = ''] = (await textOf(`${database.kind}.sql`)).split(AFTER_ROWS)
    await database.run(before)
    for (const rows of sakilaRows(what)) await database.insert(rows)
    await database.run(after)
  })
  process.stdout.write(`The database holds the ${what} rows of the example.\n`)
} else if (what === 'row-versions') {
  await withDatabase(url, async (database) => database.run(await textOf(`row-versions.${database.kind}.sql`)))
  process.stdout.write('The tables that requests may change have row versions.\n')
} else {
  process.stderr.write(USAGE)
  process.exitCode = 2
}

function isSize(text: string): text is Size {
  return Object.hasOwn(SIZES, text)
}

function textOf(file: string): Promise<string> {
  return readFile(new URL(file, SCHEMA), 'utf8')
}

interface Database {
  readonly kind: 'mysql' | 'sqlite'
  /** Any number of statements. */
  run(statements: string): Promise<void>
  insert(rows: TableRows): Promise<void>
}

function withDatabase(url: string, work: (database: Database) => Promise<void>): Promise<void> {
  return url.startsWith('sqlite:') ? withSqlite(url.slice('sqlite:'.length), work) : withMysql(url, work)
}

async function withMysql(url: string, work: (database: Database) => Promise<void>): Promise<void> {
  const uri = url.replace(/^mariadb:/, 'mysql:')
  const connection = await createConnection({ uri, multipleStatements: true, charset: 'utf8mb4' })
  const run = async (statements: string): Promise<void> => void (await connection.query(statements))
  try {
    // What is put into a TIMESTAMP is a time of the session's zone.
    await run("SET time_zone = '+00:00'")
    await work({
      kind: 'mysql',
      run,
      insert: async ({ table, columns, rows }) => {
        const insert = `INSERT INTO \`${table}\` (${columns.map((column) => `\`${column}\``).join(', ')}) VALUES ?`
        for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
          const some = rows.slice(start, start + ROWS_AT_ONCE).map((row) => row.map(mysqlValue))
          await connection.query(insert, [some])
        }
      }
    })
  } finally {
    await connection.end()
  }
}

async function withSqlite(file: string, work: (database: Database) => Promise<void>): Promise<void> {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  try {
    database.exec('BEGIN IMMEDIATE')
    await work({
      kind: 'sqlite',
      run: (statements) => Promise.resolve(database.exec(statements)),
      insert: ({ table, columns, rows }) => {
        const names = columns.map((column) => `\`${column}\``).join(', ')
        const places = columns.map(() => '?').join(', ')
        const insert = database.prepare(`INSERT INTO \`${table}\` (${names}) VALUES (${places})`)
        for (const row of rows) insert.run(...row.map(sqliteValue))
        return Promise.resolve()
      }
    })
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
