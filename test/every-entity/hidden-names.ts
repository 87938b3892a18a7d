import type { Entity } from '../../data-service/entity/entity.js'
import type { TestDatabase } from '../oracle/test-database.js'
import { ruleOf } from './rule-of.js'
import { columnNames } from './table-rows.js'

/** Columns that the table has and the resource shows nobody, as the database itself tells. */
export async function hiddenNames(database: TestDatabase, entity: Entity): Promise<string[]> {
  const { properties, byPermission, versioned } = ruleOf(entity)
  const shown = new Set([...properties, ...Object.keys(byPermission), ...(versioned ? ['rowVersion'] : [])])
  return (await columnNames(database, entity.table)).map(camelCase).filter((name) => !shown.has(name))
}

function camelCase(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
