import type { Entity } from '../data-service/entity/entity.js'
import type { Column } from '../data-service/entity/fields/columns.js'
import { columnKey } from '../data-service/sql/entity-rows/row-writer.js'
import type { TableFacts } from '../data-service/sql/entity-rows/table-facts.js'
import type { TextOperand } from '../data-service/sql/engines/statement.js'
import { fullTextIndex, searchedColumns } from './model/full-text.js'
import type { LiveSchema, LiveTable } from './model/live-schema.js'
import type { SchemaTools } from './model/schema-tools.js'

/** Facts that are kept up to date while the service runs. */
export interface LiveFacts extends TableFacts {
  readonly sortOrders: Map<string, string>
  readonly texts: {
    readonly operands: Map<Column, TextOperand>
    readonly words: Set<Column>
    readonly fullText: Map<Column, readonly string[]>
  }
  readonly defaults: Map<string, string>
  readonly keys: Map<string, LiveTable>
}

/** Puts other facts in place of those that the stores hold. */
export function replaceFacts(facts: LiveFacts, { sortOrders, texts, defaults, keys }: LiveFacts): void {
  replace(facts.sortOrders, sortOrders)
  replace(facts.texts.operands, texts.operands)
  replace(facts.texts.fullText, texts.fullText)
  replace(facts.defaults, defaults)
  replace(facts.keys, keys)
  facts.texts.words.clear()
  for (const column of texts.words) facts.texts.words.add(column)
}

function replace<Key, Value>(all: Map<Key, Value>, by: ReadonlyMap<Key, Value>): void {
  all.clear()
  for (const [key, value] of by) all.set(key, value)
}

/** Collects what the statements of requests depend on. Sends one statement for each default that an UPDATE may set. */
export async function readTableFacts(
  tools: SchemaTools,
  live: LiveSchema,
  entities: readonly Entity[]
): Promise<LiveFacts> {
  return {
    sortOrders: new Map(tools.sortOrders(live)),
    texts: liveTexts(tools, live, entities),
    defaults: await columnDefaults(tools, entities),
    keys: new Map(live.tables)
  }
}

/** Those of the entities' tables, and of their children's, as far as the live schema has them. */
function liveTexts(tools: SchemaTools, live: LiveSchema, entities: readonly Entity[]): LiveFacts['texts'] {
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

function fullTexts(live: LiveSchema, entities: readonly Entity[]): LiveFacts['texts']['fullText'] {
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

async function columnDefaults(tools: SchemaTools, entities: readonly Entity[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const { table, columns } of entities) {
    for (const { column, field } of columns.filter((one) => one.field.filledByDatabase)) {
      const text = field.nullable ? undefined : await tools.defaultText(table, column)
      if (text !== undefined) found.set(columnKey(table, column), text)
    }
  }
  return found
}
