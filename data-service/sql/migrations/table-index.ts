import type { Field } from '../../entity/field.js'
import { snakeCase } from '../../entity/snake-case.js'
import type { DatabaseKind } from './database-kind.js'
import type { Table } from './table.js'

export interface TableIndex {
  readonly name: string
  readonly unique: boolean
  /** Key parts as they stand in the DDL. */
  readonly keys: readonly string[]
}

/**
 * The indexes of a table. Sorting by a column needs (column, id) and (column DESC, id), since the tie-break is the id
 * ascending whichever way the column goes; a unique index alone serves neither without a filesort on MariaDB.
 */
export function indexesOf(table: Table, kind: DatabaseKind): TableIndex[] {
  const indexes: TableIndex[] = []
  for (const [property, field] of table.columns) {
    if (property === 'id') continue
    const key = keyOf(property, field, kind)
    const name = `${table.name}_${snakeCase(property)}`
    if (field.unique) indexes.push({ name: `${name}_unique`, unique: true, keys: [key] })
    if (table.sorted.has(property) || table.indexed.has(property)) {
      indexes.push({ name, unique: false, keys: [key, '`id`'] })
    }
    if (table.sorted.has(property)) indexes.push({ name: `${name}_desc`, unique: false, keys: [`${key} DESC`, '`id`'] })
  }
  for (const properties of table.uniqueTogether) {
    const name = [table.name, ...properties.map(snakeCase), 'unique'].join('_')
    const keys = properties.map((property) => keyOf(property, columnOf(table, property), kind))
    indexes.push({ name, unique: true, keys })
  }
  return indexes
}

function columnOf({ name, columns }: Table, property: string): Field {
  const field = columns.get(property)
  if (field === undefined) throw new TypeError(`${name} has no column ${property}`)
  return field
}

/** SQLite has no collation like the other databases', so its strings are indexed by the key that sorts as one. */
function keyOf(property: string, field: Field, kind: DatabaseKind): string {
  const column = `\`${snakeCase(property)}\``
  return kind === 'sqlite' && field.type === 'string' ? `sort_key(${column})` : column
}
