import type { Entity } from '../../data-service/entity/entity.js'
import type { TestDatabase } from '../oracle/test-database.js'
import { ruleOf } from './rule-of.js'

/** Columns that the table has and the resource does not show, as the database itself tells. */
export async function hiddenNames(database: TestDatabase, entity: Entity): Promise<string[]> {
  const rows =
    database.kind === 'sqlite'
      ? await database.run('SELECT name FROM pragma_table_info(?)', [entity.table])
      : await database.run(
          'SELECT COLUMN_NAME AS name FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?',
          [entity.table]
        )
  const shown = new Set([...ruleOf(entity).properties, 'rowVersion'])
  return rows.map(({ name }) => camelCase(String(name))).filter((name) => !shown.has(name))
}

function camelCase(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
