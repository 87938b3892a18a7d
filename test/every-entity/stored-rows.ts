import type { Children, KeyedEntity } from '../../data-service/entity/entity.js'
import { contentKey, hasRowVersion } from '../../data-service/entity/fields/row-version.js'
import { versionExpression } from '../../data-service/sql/entity-rows/statements/where-text.js'
import { mysqlDialect } from '../../data-service/sql/engines/mysql/mysql-dialect.js'
import type { OwnTables } from '../../data-service/sql/engines/own-tables.js'
import { sqliteDialect } from '../../data-service/sql/engines/sqlite/sqlite-dialect.js'
import { VERSION_KEY } from '../../data-service/sql/engines/statement.js'
import { partsOfId, quoted } from '../oracle/entity-oracle.js'
import type { TestDatabase } from '../oracle/test-database.js'
import { stored } from '../oracle/wire-value.js'
import { ROW_VERSION_SECRET } from '../stack/stack.js'
import type { Rule } from './rule.js'

/** Of each SQLite database: the last fingerprint, of which entities it is, and at which number of changes it was taken. */
const knownFingerprints = new WeakMap<TestDatabase, { readonly of: string; readonly text: string }>()

/** What a write could change: the versions of all rows of all tables, and what was written down of whom. */
export async function fingerprint(database: TestDatabase, entities: readonly KeyedEntity[]): Promise<string> {
  if (database.kind === 'mysql') return readFingerprint(database, entities)
  // SQLite counts the commits of others and our own changes: where neither moved, nothing needs to be read again.
  const [others] = await database.run('PRAGMA data_version')
  const [own] = await database.run('SELECT total_changes() AS changes')
  const of = [others?.['data_version'], own?.['changes'], ...entities.map(({ name }) => name)].join(' ')
  const known = knownFingerprints.get(database)
  if (known?.of === of) return known.text
  const text = await readFingerprint(database, entities)
  knownFingerprints.set(database, { of, text })
  return text
}

async function readFingerprint(database: TestDatabase, entities: readonly KeyedEntity[]): Promise<string> {
  const tables = entities.flatMap((entity) => [
    entity,
    ...entity.children.filter(({ store }) => store === 'primary').flatMap(withNested)
  ])
  // One statement for all: a statement for each table took a tenth of the time of these tests.
  const parts = await Promise.all(
    tables.map(async ({ table, key, versionColumn = 'row_version', contentVersion }, at) => {
      const there = await columnNames(database, table)
      const versions = there.includes(versionColumn) ? [versionColumn] : []
      const columns = contentVersion ? there : [...key.map(({ column }) => column), ...versions]
      // In hex, because texts of different collations do not go into one column.
      const values = columns.map((column) => `COALESCE(HEX(CONCAT(${quoted(column)})), '-')`).join(', ')
      const row = `CONCAT_WS(':', ${at}, ${values})`
      // SQLite has no checksum. MariaDB and the driver would be long in passing on each row.
      const stored = database.kind === 'sqlite' ? row : checksum(row)
      return `SELECT ${stored} AS stored FROM ${quoted(table)}`
    })
  )
  const rows = await database.run(parts.join(' UNION ALL '))
  return rows
    .map(({ stored: one }) => String(one))
    .toSorted()
    .join('\n')
}

/** The number of rows and two checksums that their order does not change. */
function checksum(row: string): string {
  return `CONCAT_WS(' ', COUNT(*), SUM(CRC32(${row})), BIT_XOR(CRC32(${row})))`
}

/** Children and their own children. */
export function withNested(children: Children): Children[] {
  return [children, ...children.children.flatMap(withNested)]
}

/** Of the tables of each database, which stay as they are while the tests run. MariaDB takes long to tell them. */
const knownColumns = new WeakMap<TestDatabase, Map<string, Promise<readonly string[]>>>()

/** The columns of a table, as the database itself tells when it is first asked. */
export function columnNames(database: TestDatabase, table: string): Promise<readonly string[]> {
  const known = knownColumns.get(database) ?? new Map<string, Promise<readonly string[]>>()
  knownColumns.set(database, known)
  const names = known.get(table) ?? readColumnNames(database, table)
  known.set(table, names)
  return names
}

async function readColumnNames(database: TestDatabase, table: string): Promise<readonly string[]> {
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
  { sql, tables }: { readonly sql: TestDatabase; readonly tables: OwnTables },
  of: { readonly entity: KeyedEntity; readonly id: string; readonly action: string }
): Promise<number> {
  const [row] = await sql.run(
    `SELECT COUNT(*) AS n FROM ${tables.sql.audit_entries} WHERE resource = ? AND row_id = ? AND action = ?`,
    [of.entity.name, of.id, of.action]
  )
  return Number(row?.['n'])
}

/** A version that is made of content is as the service makes it: that it is another for other rows, other tests show. */
function versionText(database: TestDatabase, entity: KeyedEntity): string {
  const { val } = versionExpression(
    entity.table,
    entity,
    database.kind === 'sqlite' ? sqliteDialect : mysqlDialect
  ) as {
    readonly val: string
  }
  return val.replaceAll(`$${VERSION_KEY}`, `'${contentKey(ROW_VERSION_SECRET)}'`)
}

/** In base64, empty where rows have none; undefined for a row that is not there. */
export async function storedVersion(
  database: TestDatabase,
  entity: KeyedEntity,
  id: string
): Promise<string | undefined> {
  const { table, key } = entity
  const version = hasRowVersion(entity) ? `HEX(${versionText(database, entity)})` : "''"
  const condition = key.map(({ column }) => `${quoted(column)} = ?`).join(' AND ')
  const [row] = await database.run(
    `SELECT ${version} AS version FROM ${quoted(table)} WHERE ${condition}`,
    partsOfId(id, { key }).map((part, at) => stored(database.kind, key[at]?.field ?? { type: 'string' }, part))
  )
  return row === undefined ? undefined : Buffer.from(String(row['version']), 'hex').toString('base64')
}

/** Columns that the table has and the resource shows nobody, as the database itself tells. */
export async function hiddenNames(
  database: TestDatabase,
  { table, columns }: KeyedEntity,
  { properties, byPermission, versioned }: Rule
): Promise<string[]> {
  const shown = new Set([...properties, ...Object.keys(byPermission), ...(versioned ? ['rowVersion'] : [])])
  // A column of another name than its property is shown where the property is.
  const renamed = new Set(columns.filter(({ name }) => shown.has(name)).map(({ column }) => column))
  const hidden = (await columnNames(database, table)).filter((name) => !renamed.has(name))
  return hidden.map(camelCase).filter((name) => !shown.has(name))
}

function camelCase(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
