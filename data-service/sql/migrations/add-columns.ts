import type { Field } from '../../entity/field.js'
import { snakeCase } from '../../entity/snake-case.js'
import { columnDefinition } from './create-tables.js'
import type { Migration, MigrationDatabase } from './migration.js'
import { indexesOf } from './table-index.js'
import type { Table } from './table.js'

/** What a migration adds to a table that is there, in the property names of the entity file. */
export interface AddedColumns<C extends Readonly<Record<string, Field>>> {
  /** Each `optional`: the rows that are there have no value in it, and replicas of the version before write none. */
  readonly columns: C
  /** As in a new table. */
  readonly sorted?: readonly (keyof C & string)[]
  readonly indexed?: readonly (keyof C & string)[]
}

/**
 * The `up` of a migration that adds columns with their indexes to a table. Columns that are there already are left as
 * they are, so it stands being repeated.
 */
export function addColumns<const C extends Readonly<Record<string, Field>>>(
  name: string,
  { columns, sorted, indexed }: AddedColumns<C>
): Migration['up'] {
  for (const [property, field] of Object.entries(columns)) {
    if (!field.nullable) throw new TypeError(`${name}.${property} must be optional: rows that are there lack it`)
  }
  return async (database) => {
    const present = await columnsIn(database, name)
    const added = new Map(Object.entries(columns).filter(([property]) => !present.has(snakeCase(property))))
    if (added.size === 0) return
    const table: Table = {
      name,
      columns: added,
      sorted: new Set(sorted),
      indexed: new Set(indexed),
      uniqueTogether: [],
      foreignKeys: []
    }
    for (const statement of alterTable(table, database)) await database.run(statement)
  }
}

/** One statement, which is atomic, on MariaDB and MySQL; SQLite runs them in the transaction of all migrations. */
function alterTable(table: Table, { kind }: MigrationDatabase): string[] {
  const columns = [...table.columns].map(([property, field]) => `ADD COLUMN ${columnDefinition(property, field, kind)}`)
  const indexes = indexesOf(table, kind).map(({ name, unique, keys }) => ({
    definition: `${unique ? 'UNIQUE ' : ''}INDEX`,
    name,
    keys: keys.join(', ')
  }))
  const alter = `ALTER TABLE \`${table.name}\``
  if (kind !== 'sqlite') {
    const added = indexes.map(({ definition, name, keys }) => `ADD ${definition} \`${name}\` (${keys})`)
    return [`${alter} ${[...columns, ...added].join(', ')}`]
  }
  return [
    ...columns.map((column) => `${alter} ${column}`),
    ...indexes.map(
      ({ definition, name, keys }) => `CREATE ${definition} IF NOT EXISTS \`${name}\` ON \`${table.name}\` (${keys})`
    )
  ]
}

async function columnsIn({ kind, select }: MigrationDatabase, table: string): Promise<ReadonlySet<string>> {
  const rows = await select(
    kind === 'sqlite'
      ? `SELECT name AS columnName FROM pragma_table_info('${table}')`
      : 'SELECT COLUMN_NAME AS columnName FROM information_schema.COLUMNS ' +
          `WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${table}'`
  )
  return new Set(rows.map(({ columnName }) => String(columnName)))
}
