import { type Connection, createConnection } from 'mysql2/promise'
import { contentVersion } from '../../data-service/entity/fields/row-version.js'
import { loadSqlite } from '../../data-service/sql/engines/sqlite/sqlite-connection.js'
import { matchKey, sortKey } from '../../data-service/sql/engines/sqlite/text-keys.js'
import type { RawValue, SqlParameter } from './wire-value.js'

export type RawRow = Readonly<Record<string, RawValue>>

/** A database as a test touches it: by hand-written SQL, past everything that is tested. */
export interface TestDatabase {
  readonly kind: 'sqlite' | 'mysql'
  /** `?` stands for a parameter on both databases. */
  run(sql: string, parameters?: readonly SqlParameter[]): Promise<RawRow[]>
  close(): Promise<void>
}

/** Opens what `DATABASE_URL` would name. */
export async function openTestDatabase(url: string): Promise<TestDatabase> {
  return url.startsWith('sqlite:') ? openSqlite(url.slice('sqlite:'.length)) : openMariadb(url)
}

/** Opens, works, closes. */
export async function withTestDatabase<T>(url: string, work: (database: TestDatabase) => Promise<T>): Promise<T> {
  const database = await openTestDatabase(url)
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

function openSqlite(file: string): TestDatabase {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(file, { timeout: 20_000 })
  // The indexes of text columns are built on these functions, so any writer has to have them.
  database.function('sort_key', { deterministic: true }, (text: unknown) =>
    typeof text === 'string' ? sortKey(text) : text
  )
  database.function('match_key', { deterministic: true }, (text: unknown) =>
    typeof text === 'string' ? matchKey(text) : text
  )
  database.function('content_version', (key: unknown, content: unknown) =>
    contentVersion(Buffer.from(String(key), 'hex'), String(content))
  )
  const statements = new Map<string, ReturnType<typeof database.prepare>>()
  const run: TestDatabase['run'] = (sql, parameters = []) => {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    statement.setReadBigInts(true)
    // The statements of the tests select texts, numbers, bytes and nulls alone.
    return Promise.resolve(statement.all(...parameters) as RawRow[])
  }
  return {
    kind: 'sqlite',
    run,
    close: () => {
      database.close()
      return Promise.resolve()
    }
  }
}

async function openMariadb(url: string): Promise<TestDatabase> {
  const connection: Connection = await createConnection({
    uri: url.replace(/^mariadb:/, 'mysql:'),
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    jsonStrings: true,
    timezone: '+00:00',
    charset: 'utf8mb4'
  })
  // A TIMESTAMP is read and written in the zone of the session.
  await connection.query("SET time_zone = '+00:00'")
  const run: TestDatabase['run'] = async (sql, parameters = []) => {
    const texts = parameters.map((one) => (typeof one === 'bigint' ? one.toString() : one))
    const [rows] = await connection.query(sql, texts)
    return Array.isArray(rows) ? (rows as RawRow[]) : []
  }
  return { kind: 'mysql', run, close: () => connection.end() }
}
