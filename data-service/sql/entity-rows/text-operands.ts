import type { Column, Entity } from '../../entity/entity.js'
import type { SchemaTools } from '../engines/schema-tools.js'
import type { SqlDialect, TextOperand } from '../engines/statement.js'
import type { LiveSchema } from '../engines/live-schema/live-schema.js'

/** The text columns whose operands are written in a way of their own. */
export type TextOperands = ReadonlyMap<Column, TextOperand>

/** Those of the entities' tables, and of their children's, as far as the live schema has them. */
export function textOperands(schema: SchemaTools, live: LiveSchema, entities: readonly Entity[]): TextOperands {
  const tables = entities.flatMap(({ table, key, columns, children }) => [
    { table, columns: [...key, ...columns] },
    ...children.map((one) => ({ table: one.table, columns: [...one.key, ...one.foreignKey, ...one.columns] }))
  ])
  const found = new Map<Column, TextOperand>()
  for (const { table, columns } of tables) {
    const there = live.tables.get(table)
    for (const column of columns) {
      const { type } = column.field
      const liveColumn = there?.columns.find(({ name }) => name.toLowerCase() === column.column.toLowerCase())
      if (there === undefined || liveColumn === undefined || (type !== 'string' && type !== 'enum')) continue
      const operand = schema.textOperand(there, liveColumn)
      if (operand !== undefined) found.set(column, operand)
    }
  }
  return found
}

export function withTextOperands(dialect: SqlDialect, operands: TextOperands = new Map()): SqlDialect {
  return operands.size === 0 ? dialect : { ...dialect, textOperand: (column) => operands.get(column) }
}
