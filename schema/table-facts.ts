import type { Entity } from '../data-service/entity/entity.js'
import type { Column } from '../data-service/entity/fields/columns.js'
import { columnKey } from '../data-service/sql/entity-rows/row-writer.js'
import type { TableFacts } from '../data-service/sql/entity-rows/table-facts.js'
import type { LiveTexts } from '../data-service/sql/entity-rows/statements/where-text.js'
import type { TextOperand } from '../data-service/sql/engines/statement.js'
import { fullTextIndex, searchedColumns } from './model/full-text.js'
import type { LiveSchema } from './model/live-schema.js'
import type { SchemaTools } from './model/schema-tools.js'

/** Collects what the statements of requests depend on. Sends one statement for each default that an UPDATE may set. */
export async function readTableFacts(
  tools: SchemaTools,
  live: LiveSchema,
  entities: readonly Entity[]
): Promise<TableFacts> {
  return {
    sortOrders: tools.sortOrders(live),
    texts: liveTexts(tools, live, entities),
    defaults: await columnDefaults(tools, entities),
    keys: live.tables
  }
}

/** Those of the entities' tables, and of their children's, as far as the live schema has them. */
function liveTexts(tools: SchemaTools, live: LiveSchema, entities: readonly Entity[]): LiveTexts {
  const tables = entities.flatMap(({ table, key, columns, children }) => [
    { table, columns: [...key, ...columns] },
    ...children.map((one) => ({ table: one.table, columns: [...one.key, ...one.foreignKey, ...one.columns] }))
  ])
  const operands = new Map<Column, TextOperand>()
  const words = new Set<Column>()
  for (const { table, columns } of tables) {
    const there = live.tables.get(table)
    for (const column of columns) {
      const { type } = column.field
      const liveColumn = there?.columns.find(({ name }) => name.toLowerCase() === column.column.toLowerCase())
      if (there === undefined || liveColumn === undefined || (type !== 'string' && type !== 'enum')) continue
      const operand = tools.textOperand(there, liveColumn)
      if (operand !== undefined) operands.set(column, operand)
      if (type === 'enum' && liveColumn.type.base !== 'enum') words.add(column)
    }
  }
  return { operands, words, fullText: fullTexts(live, entities) }
}

function fullTexts(live: LiveSchema, entities: readonly Entity[]): LiveTexts['fullText'] {
  return new Map(
    entities.flatMap((entity): (readonly [Column, readonly string[]])[] => {
      const table = live.tables.get(entity.table)
      const columns = entity.fullText ? searchedColumns(entity) : []
      const [first] = columns
      const index = table && fullTextIndex(table, columns)
      return first === undefined || index === undefined ? [] : [[first, index]]
    })
  )
}

async function columnDefaults(tools: SchemaTools, entities: readonly Entity[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const { table, columns } of entities) {
    for (const { column, field } of columns.filter((one) => one.field.filledByDatabase)) {
      const text = field.nullable ? undefined : await tools.defaultText(table, column)
      if (text !== undefined) found.set(columnKey(table, column), text)
    }
  }
  return found
}
