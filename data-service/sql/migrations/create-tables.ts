import type { Field } from '../../entity/field.js'
import { snakeCase } from '../../entity/snake-case.js'
import { columnType, rowVersionType } from './column-type.js'
import type { DatabaseKind } from './database-kind.js'
import type { Migration } from './migration.js'
import { indexesOf } from './table-index.js'
import type { ForeignKey, Table } from './table.js'

/** The `up` of a migration that makes tables, in the order given: what is referred to comes first. */
export function createTables(...tables: readonly Table[]): Migration['up'] {
  return async (database) => {
    for (const table of tables) {
      for (const statement of createTable(table, database.kind)) await database.run(statement)
    }
  }
}

/** A table with its indexes as DDL: one statement, which is atomic, on MariaDB and MySQL. */
export function createTable(table: Table, kind: DatabaseKind): string[] {
  const columns = [
    ...[...table.columns].map(([property, field]) => columnDefinition(property, field, kind)),
    `\`row_version\` ${rowVersionType(kind)} NOT NULL`
  ]
  const foreignKeys = table.foreignKeys.map((key) => foreignKeyDefinition(table, key, kind))
  const indexes = indexesOf(table, kind)
  if (kind === 'sqlite') {
    return [
      `CREATE TABLE IF NOT EXISTS \`${table.name}\` (${[...columns, ...foreignKeys].join(', ')}) STRICT`,
      ...indexes.map(
        ({ name, unique, keys }) =>
          `CREATE ${unique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS \`${name}\` ON \`${table.name}\` (${keys.join(', ')})`
      )
    ]
  }
  const inline = indexes.map(
    ({ name, unique, keys }) => `${unique ? 'UNIQUE ' : ''}INDEX \`${name}\` (${keys.join(', ')})`
  )
  const lines = [...columns, 'PRIMARY KEY (`id`)', ...inline, ...foreignKeys]
  return [
    `CREATE TABLE IF NOT EXISTS \`${table.name}\` (${lines.join(', ')}) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4`
  ]
}

/** A column as it stands in a CREATE TABLE or behind ADD COLUMN. */
export function columnDefinition(property: string, field: Field, kind: DatabaseKind): string {
  const definition = `\`${snakeCase(property)}\` ${columnType(field, kind)}${field.nullable ? '' : ' NOT NULL'}`
  if (property !== 'id') return definition
  const numbered = field.type === 'int' || field.type === 'long'
  if (kind === 'sqlite') return `${definition} PRIMARY KEY${numbered ? ' AUTOINCREMENT' : ''}`
  return numbered ? `${definition} AUTO_INCREMENT` : definition
}

function foreignKeyDefinition(table: Table, { from, to, onDelete }: ForeignKey, kind: DatabaseKind): string {
  const column = snakeCase(from)
  // SQLite reports RESTRICT as a failed trigger, NO ACTION, which refuses just the same, as the foreign key it is.
  const action = kind === 'sqlite' && onDelete === 'RESTRICT' ? 'NO ACTION' : onDelete
  return (
    `CONSTRAINT \`${table.name}_${column}_fk\` FOREIGN KEY (\`${column}\`) ` +
    `REFERENCES \`${to}\` (\`id\`) ON DELETE ${action}`
  )
}
