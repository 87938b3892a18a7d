import { stringLiteral } from '../model/column-types.js'
import { indexName } from './builders.js'
import {
  type ForeignKey,
  primaryKeyOf,
  type Table,
  type TableColumn,
  type TableIndex,
  type TableStep
} from '../model/tables.js'

/**
 * The text of the file of a migration, in the builders of builders.ts; without types for an application in JavaScript. A
 * baseline describes tables that stood before the application.
 */
export function migrationFile(
  name: string,
  steps: readonly TableStep[],
  { isTyped = true, isBaseline = false }: { readonly isTyped?: boolean; readonly isBaseline?: boolean } = {}
): string {
  const words = [...new Set(steps.map(({ kind }) => kind))].toSorted()
  const start = isTyped ? 'export const migration: Migration = ' : 'export const migration = '
  const type = isTyped ? [] : ["/** @type {import('uniform-rest').Migration} */"]
  const members = [`name: ${stringLiteral(name)}`, ...(isBaseline ? ['baseline: true'] : [])]
  const migration: Part = ['{', [...members, ['steps: [', steps.map(stepPart), ']']], '}', 'broken']
  return [...importLines(words, isTyped), ...type, `${start}${layout(migration, 0, start.length)}`, ''].join('\n')
}

/** A text, or an opening, its items and a closing: on one line if they fit, unless it is `broken`. */
export type Part = string | readonly [open: string, items: readonly Part[], close: string, manner?: 'broken']

const LINE_WIDTH = 120

/** Two spaces for each level, no comma after the last item. `used` are the characters of the line before the part. */
export function layout(part: Part, depth: number, used: number): string {
  if (typeof part === 'string') return part
  const line = inline(part)
  // The comma after it belongs to the line too.
  if (line !== undefined && used + line.length < LINE_WIDTH) return line
  const [open, items, close] = part
  const indent = '  '.repeat(depth + 1)
  // No comma comes after the last one.
  const lines = items.map((item, at) => {
    const used = at === items.length - 1 ? indent.length - 1 : indent.length
    return `${indent}${layout(item, depth + 1, used)}`
  })
  return `${open}\n${lines.join(',\n')}\n${'  '.repeat(depth)}${close}`
}

/** The part on one line; undefined if something in it is broken. */
function inline(part: Part): string | undefined {
  if (typeof part === 'string') return part
  const [open, items, close, manner] = part
  const texts = items.map(inline)
  if (manner === 'broken' || texts.some((text) => text === undefined)) return undefined
  return open.endsWith('{') ? `${open} ${texts.join(', ')} ${close}` : `${open}${texts.join(', ')}${close}`
}

function importLines(words: readonly string[], isTyped: boolean): string[] {
  const all = isTyped ? [...words, 'type Migration'] : words
  if (words.length === 0) return isTyped ? ["import type { Migration } from 'uniform-rest'", ''] : []
  return [layout(['import {', all, "} from 'uniform-rest'"], 0, -1), '']
}

function stepPart(step: TableStep): Part {
  const table = stringLiteral(step.table)
  const named = (names: readonly string[]): Part => [`${step.kind}(`, [table, ...names.map(stringLiteral)], ')']
  switch (step.kind) {
    case 'createTable':
      return [
        `createTable(${table}, (t) => ({`,
        [...tableParts(step.table, step.definition), ...keylessPart(step.definition)],
        '}))',
        'broken'
      ]
    case 'addColumns':
      return [`addColumns(${table}, (t) => ({`, tableParts(step.table, step), '}))', 'broken']
    case 'alterColumn':
      return `alterColumn(${table}, (t) => ${columnText(step.column)})`
    case 'renameColumn':
      return named([step.from, step.to])
    case 'dropColumns':
      return named(step.columns)
    case 'addIndexes':
      return [`addIndexes(${table}, (t) => [`, indexTexts(step.table, step.indexes), '])']
    case 'dropIndexes':
      return named(step.indexes)
    case 'addForeignKeys':
      return addForeignKeysPart(step.table, step.foreignKeys)
    case 'dropForeignKeys':
      return named(step.foreignKeys)
    case 'renameTable':
      return named([step.to])
    case 'dropTable':
      return named([])
  }
}

/** A single key is written together with the call, as formatters do. */
function addForeignKeysPart(table: string, foreignKeys: readonly ForeignKey[]): Part {
  const keys = foreignKeys.map((key) => foreignKeyPart(table, key))
  const [only, second] = keys
  if (typeof only === 'object' && second === undefined) {
    const [, members] = only
    return [`addForeignKeys(${stringLiteral(table)}, {`, members, '})']
  }
  return ['addForeignKeys(', [stringLiteral(table), ...keys], ')']
}

function keylessPart(table: Table): Part[] {
  return primaryKeyOf(table).length > 0 ? [] : ["primaryKey: 'none'"]
}

function tableParts(table: string, { columns, primaryKey, indexes, foreignKeys }: Omit<Table, 'name'>): Part[] {
  const keys = foreignKeys.map((key) => foreignKeyPart(table, key))
  const single = columns.map((column) => (primaryKey === undefined ? column : { ...column, key: 'none' as const }))
  return [
    ['columns: [', single.map(columnText), ']'],
    ...(primaryKey === undefined ? [] : [['primaryKey: [', primaryKey.map(stringLiteral), ']'] as const]),
    ...(indexes.length === 0 ? [] : [['indexes: [', indexTexts(table, indexes), ']'] as const]),
    ...(keys.length === 0 ? [] : [keys.length === 1 ? (['foreignKeys: [', keys, ']'] as const) : broken(keys)])
  ]
}

function broken(keys: readonly Part[]): Part {
  return ['foreignKeys: [', keys, ']', 'broken']
}

function columnText({ name, type, nullable, key, defaultTo }: TableColumn): string {
  const words = {
    none: '',
    primary: '.primaryKey()',
    autoIncrement: '.autoIncrement()'
  } as const
  const value = typeof defaultTo === 'string' ? stringLiteral(defaultTo) : String(defaultTo)
  const filled = defaultTo === undefined ? '' : `.default(${value})`
  return `${typeWord(name, type)}${words[key]}${nullable ? '.nullable()' : ''}${filled}`
}

function typeWord(name: string, type: TableColumn['type']): string {
  switch (type.kind) {
    case 'rowVersion':
      return name === 'row_version' ? 't.rowVersion()' : `t.rowVersion(${stringLiteral(name)})`
    case 'text':
      return `t.text(${stringLiteral(name)}, ${type.bytes})`
    case 'varchar':
    case 'varbinary':
    case 'binary':
      return `t.${type.kind}(${stringLiteral(name)}, ${type.length})`
    case 'bit':
      return `t.bit(${stringLiteral(name)}, ${type.bits})`
    case 'datetime':
    case 'time':
      return `t.${type.kind}(${[stringLiteral(name), ...(type.precision === undefined ? [] : [type.precision])].join(', ')})`
    case 'enum':
    case 'set': {
      const length = 'length' in type ? `, ${type.length}` : ''
      return `t.${type.kind}(${stringLiteral(name)}, [${type.words.map(stringLiteral).join(', ')}]${length})`
    }
    case 'tinyint':
    case 'smallint':
    case 'mediumint':
    case 'int':
    case 'bigint':
      return `t.${type.kind}(${stringLiteral(name)})${type.unsigned === true ? '.unsigned()' : ''}`
    case 'decimal':
      return `t.decimal(${stringLiteral(name)}, ${type.precision}, ${type.scale})`
    default:
      return `t.${type.kind}(${stringLiteral(name)})`
  }
}

function indexTexts(table: string, indexes: readonly TableIndex[]): string[] {
  return indexes.map((index) => {
    const keys = index.keys.map(({ column, descending }) => stringLiteral(descending ? `${column} desc` : column))
    const name = index.name === indexName(table, index) ? '' : `.named(${stringLiteral(index.name)})`
    return `t.${index.fullText ? 'fullText' : index.unique ? 'unique' : 'index'}(${keys.join(', ')})${name}`
  })
}

function foreignKeyPart(table: string, { name, columns, to, toColumns, onDelete }: ForeignKey): Part {
  const [column = '', ...others] = columns
  const places = toColumns.map((toColumn) =>
    `${to}${toColumn}`.includes('.')
      ? `{ table: ${stringLiteral(to)}, column: ${stringLiteral(toColumn)} }`
      : stringLiteral(`${to}.${toColumn}`)
  )
  const members: Part[] = [
    ...(others.length === 0
      ? [`column: ${stringLiteral(column)}`, `references: ${places.join()}`]
      : [['columns: [', columns.map(stringLiteral), ']'] as const, ['references: [', places, ']'] as const]),
    `onDelete: ${stringLiteral(onDelete)}`
  ]
  return ['{', name === `${table}_${column}_fk` ? members : [...members, `name: ${stringLiteral(name)}`], '}']
}
