import { DatabaseSync } from '@photostructure/sqlite'
import { createConnection } from 'mysql2/promise'
import type { OracleResource } from './resource.js'
import { wireValue, type RawValue, type WireValue } from './wire-value.js'

export type OracleRow = Readonly<Record<string, WireValue>>

/** Runs one hand-written statement straight on the database and answers its rows. */
export async function runSql(url: string, sql: string): Promise<Readonly<Record<string, RawValue>>[]> {
  if (url.startsWith('sqlite:')) {
    const database = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 10_000 })
    try {
      const statement = database.prepare(sql)
      statement.setReadBigInts(true)
      // Rows of the statements here hold texts, numbers and nulls alone.
      return statement.all() as Record<string, RawValue>[]
    } finally {
      database.close()
    }
  }
  const connection = await createConnection({
    uri: url.replace(/^mariadb:/, 'mysql:'),
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    timezone: '+00:00',
    charset: 'utf8mb4'
  })
  try {
    const [rows] = await connection.query(sql)
    return Array.isArray(rows) ? (rows as Record<string, RawValue>[]) : []
  } finally {
    await connection.end()
  }
}

/** Every row of a resource as its wire values, in order of id. */
export async function loadRows(url: string, resource: OracleResource): Promise<OracleRow[]> {
  const columns = resource.properties.map(({ name, sql }) => `${sql} AS ${name}`).join(', ')
  const rows = await runSql(url, `SELECT ${columns} FROM ${resource.from} ORDER BY t.id`)
  return rows.map((row) =>
    Object.fromEntries(
      resource.properties.map((property) => [property.name, wireValue(property, row[property.name] ?? null)])
    )
  )
}
