import type { Entity } from '../../data-service/entity/entity.js'
import type { Column } from '../../data-service/entity/field.js'
import type { TestDatabase } from '../oracle/test-database.js'
import { type WireValue, wireValue } from '../oracle/wire-value.js'

export type StoredRow = Readonly<Record<string, WireValue>>

/** Every row of an entity's table by SQL of our own, past the service, in order of id; hidden columns included. */
export async function tableRows(database: TestDatabase, { table, columns }: Entity): Promise<StoredRow[]> {
  const names = columns.map(({ column }) => column).join(', ')
  const rows = await database.run(`SELECT ${names} FROM ${table} ORDER BY id`)
  return rows.map((row) =>
    Object.fromEntries(columns.map((column) => [column.name, wireOf(column, row[column.column] ?? null)]))
  )
}

function wireOf({ name, field }: Column, raw: Parameters<typeof wireValue>[1]): WireValue {
  const { type, nullable, scale } = field
  return wireValue({ name, type, nullable, scale, sql: name, selectable: true }, raw)
}

/** What a write could change: the versions of all rows of all tables, and what was written down of whom. */
export async function fingerprint(database: TestDatabase, entities: readonly Entity[]): Promise<string> {
  const tables = entities.flatMap(({ table, children }) => [
    table,
    ...children.filter(({ store }) => store === 'primary').map((one) => one.table)
  ])
  const parts: string[] = []
  for (const table of tables) {
    const version = (await columnNames(database, table)).includes('row_version') ? 'HEX(row_version)' : "''"
    const rows = await database.run(`SELECT id, ${version} AS version FROM ${table} ORDER BY id`)
    parts.push(`${table} ${rows.map(({ id, version }) => `${String(id)}:${String(version)}`).join(' ')}`)
  }
  return parts.join('\n')
}

/** The columns of a table, as the database itself tells. */
export async function columnNames(database: TestDatabase, table: string): Promise<string[]> {
  const rows =
    database.kind === 'sqlite'
      ? await database.run('SELECT name FROM pragma_table_info(?)', [table])
      : await database.run(
          'SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?',
          [table]
        )
  return rows.map(({ name }) => String(name))
}

/** How often a write of a row was written down. */
export async function auditEntries(
  database: TestDatabase,
  of: { readonly entity: Entity; readonly id: string; readonly action: string }
): Promise<number> {
  const [row] = await database.run(
    'SELECT COUNT(*) AS n FROM audit_entries WHERE resource = ? AND row_id = ? AND action = ?',
    [of.entity.name, of.id, of.action]
  )
  return Number(row?.['n'])
}

/** In base64, empty where rows have none; undefined for a row that is not there. */
export async function storedVersion(
  database: TestDatabase,
  { table, versioned }: Entity,
  id: string
): Promise<string | undefined> {
  const version = versioned ? 'HEX(row_version)' : "''"
  const [row] = await database.run(`SELECT ${version} AS version FROM ${table} WHERE id = ?`, [id])
  return row === undefined ? undefined : Buffer.from(String(row['version']), 'hex').toString('base64')
}
