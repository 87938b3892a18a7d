import type { Entity } from '../data-service/entity/entity.js'
import type { Column } from '../data-service/entity/fields/columns.js'
import { columnKey } from '../data-service/sql/entity-rows/row-writer.js'
import type { TableFacts } from '../data-service/sql/entity-rows/table-facts.js'
import type { TextOperand } from '../data-service/sql/engines/statement.js'
import { fullTextIndex, searchedColumns } from './model/full-text.js'
import { isFlag } from './model/column-types.js'
import { type LiveColumn, type LiveSchema, type LiveTable, mayShareKeys } from './model/live-schema.js'
import type { CatalogueTools } from './model/schema-tools.js'

/** Facts that are kept up to date while the service runs. */
export interface LiveFacts extends TableFacts {
  readonly sortOrders: Map<string, string>
  readonly texts: {
    readonly operands: Map<Column, TextOperand>
    readonly words: Set<Column>
    readonly numbers: Set<Column>
    readonly fullText: Map<Column, readonly string[]>
  }
  readonly defaults: Map<string, string>
  readonly keys: Map<string, LiveTable>
  readonly sharedKeys: Set<string>
}

/** Puts other facts in place of those that the stores hold. */
export function replaceFacts(facts: LiveFacts, { sortOrders, texts, defaults, keys, sharedKeys }: LiveFacts): void {
  replace(facts.sortOrders, sortOrders)
  replace(facts.texts.operands, texts.operands)
  replace(facts.texts.fullText, texts.fullText)
  replace(facts.defaults, defaults)
  replace(facts.keys, keys)
  replaceSet(facts.sharedKeys, sharedKeys)
  replaceSet(facts.texts.words, texts.words)
  replaceSet(facts.texts.numbers, texts.numbers)
}

function replace<Key, Value>(all: Map<Key, Value>, by: ReadonlyMap<Key, Value>): void {
  all.clear()
  for (const [key, value] of by) all.set(key, value)
}

function replaceSet<Value>(all: Set<Value>, by: ReadonlySet<Value>): void {
  all.clear()
  for (const value of by) all.add(value)
}

/** Collects what the statements of requests depend on. Sends one statement for each default that an UPDATE may set. */
export async function readTableFacts(
  tools: CatalogueTools,
  live: LiveSchema,
  entities: readonly Entity[]
): Promise<LiveFacts> {
  const sharedKeys = new Set(
    entities.filter((entity) => mayShareKeys(live.tables.get(entity.table), entity)).map(({ table }) => table)
  )
  return {
    // A page that finds the keys of its rows in an index first would have such a row once for each that has the same key.
    sortOrders: new Map(
      [...tools.sortOrders(live)].filter(([order]) => !sharedKeys.has(order.slice(0, order.indexOf(': '))))
    ),
    texts: liveTexts(tools, live, entities),
    defaults: await columnDefaults(tools, entities),
    keys: new Map(live.tables),
    sharedKeys
  }
}

/** Those of the entities' tables, and of their children's, as far as the live schema has them. */
function liveTexts(tools: CatalogueTools, live: LiveSchema, entities: readonly Entity[]): LiveFacts['texts'] {
  const tables = entities.flatMap(({ table, key, columns, versionColumn, children }) => [
    { table, versionColumn, columns: [...key, ...columns] },
    ...children.map((one) => ({ ...one, columns: [...one.key, ...one.foreignKey, ...one.columns] }))
  ])
  const operands = new Map<Column, TextOperand>()
  const words = new Set<Column>()
  const numbers = new Set<Column>()
  for (const { table, columns, versionColumn } of tables) {
    const there = live.tables.get(table)
    for (const column of columns) {
      const { type } = column.field
      const liveColumn = there?.columns.find(({ name }) => name.toLowerCase() === column.column.toLowerCase())
      if (there === undefined || liveColumn === undefined) continue
      if (type === 'bool' && (versionColumn === undefined || !isOwnFlag(there, liveColumn))) numbers.add(column)
      if (type !== 'string' && type !== 'enum') continue
      const operand = tools.textOperand(there, liveColumn)
      if (operand !== undefined) operands.set(column, operand)
      if (type === 'enum' && liveColumn.type.base !== 'enum') words.add(column)
    }
  }
  return { operands, words, numbers, fullText: fullTexts(live, entities) }
}

/**
 * Whether a column is one that a migration of the service makes for a flag, and that an index serves: it is compared as it
 * is, and a number but 0 and 1, which only another program writes, is not shown. Without an index nothing is lost by asking for
 * any number.
 */
function isOwnFlag({ indexes }: LiveTable, { name, type }: LiveColumn): boolean {
  const isOwnType = isFlag(type) || type.base === 'bit' || type.affinity !== undefined
  return isOwnType && indexes.some(({ keys }) => keys.some(({ column }) => column === name))
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

async function columnDefaults(tools: CatalogueTools, entities: readonly Entity[]): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const { table, columns } of entities) {
    for (const { column, field } of columns.filter((one) => one.field.filledByDatabase)) {
      const text = field.nullable ? undefined : await tools.defaultText(table, column)
      if (text !== undefined) found.set(columnKey(table, column), text)
    }
  }
  return found
}
