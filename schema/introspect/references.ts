import { wordsOf } from '../../data-service/entity/fields/names.js'
import { fieldOfWord } from '../model/column-types.js'
import type { LiveForeignKey, LiveTable } from '../model/live-schema.js'
import type { Drafts, EntityDraft, FieldDraft } from './entity-draft.js'
import { singularWords } from './names.js'

// References that no foreign key declares: those that a person names, and those that names and types propose.

export interface NamedReference {
  readonly table: string
  readonly columns: readonly string[]
  readonly to: string
  /** The key of the other table. */
  readonly toColumns: readonly string[]
}

/** `order.customer_id=customer.customer_id`. undefined for a text of another form. */
export function parseReference(text: string): NamedReference | undefined {
  const [one = '', other = '', ...more] = text.split('=')
  const [table, columns] = tableAndColumns(one)
  const [to, toColumns] = tableAndColumns(other)
  const isWhole = [table, to, ...columns, ...toColumns].every((name) => name !== '')
  return isWhole && more.length === 0 && columns.length === toColumns.length
    ? { table, columns, to, toColumns }
    : undefined
}

function tableAndColumns(text: string): readonly [table: string, columns: readonly string[]] {
  const at = text.lastIndexOf('.')
  return [text.slice(0, Math.max(0, at)), text.slice(at + 1).split(',')]
}

export function referenceText({ table, columns, to, toColumns }: NamedReference): string {
  return `${table}.${columns.join(',')}=${to}.${toColumns.join(',')}`
}

/** Why no entity file can have the reference. undefined if one can. */
export function referenceMistake(
  { entities }: Drafts,
  { table, columns, to, toColumns }: NamedReference
): string | undefined {
  const [from, target] = [table, to].map((name) => entities.find((one) => one.table === name))
  if (from === undefined || target === undefined) return `${from === undefined ? table : to} has no entity file`
  const fields = columns.map((name) => fieldOf(from, name))
  const key = keyFields(target)
  const keyOf = (column: string): FieldDraft | undefined => key.find((one) => one.column === column)
  if (key.length !== toColumns.length || !key.every(({ column }) => toColumns.includes(column))) {
    return `the key of ${to} is ${key.map(({ column }) => column).join(', ')}`
  }
  for (const [at, field] of fields.entries()) {
    const [column, toColumn] = [columns[at] ?? '', toColumns[at] ?? '']
    if (field === undefined) return `${table} has no column ${column} that is served`
    const types = [field, keyOf(toColumn)].map((one) => one && fieldOfWord(one.word).type)
    if (types[0] !== types[1]) return `${column} is ${types[0]}, and ${toColumn} is ${types[1]}`
  }
  return undefined
}

/** The table with references as foreign keys. */
export function withReferences(table: LiveTable, references: readonly NamedReference[]): LiveTable {
  const isDeclared = ({ columns, to }: NamedReference): boolean =>
    table.foreignKeys.some((key) => key.table === to && key.columns.join() === columns.join())
  const added = references
    .filter((one) => one.table === table.name && !isDeclared(one))
    .map(({ columns, to, toColumns }): LiveForeignKey => ({
      name: undefined,
      columns,
      table: to,
      schema: undefined,
      referencedColumns: toColumns,
      onDelete: 'no action',
      onUpdate: 'no action'
    }))
  return added.length === 0 ? table : { ...table, foreignKeys: [...table.foreignKeys, ...added] }
}

/**
 * Columns that are named and typed as the key of another table, and that no reference leads by: `customer_id` where
 * `customer` has the key `customer_id` or `id`, and `payment_customer_id` too. Where two tables are as likely, none.
 */
export function likelyReferences({ entities }: Drafts): NamedReference[] {
  const tables = entities.filter(({ kind }) => kind === 'table')
  const first = new Set(tables.map(({ table }) => wordsOf(table)[0]))
  const isPrefixed = tables.length > 1 && first.size === 1
  const targets = tables.flatMap((draft) => {
    const [key, ...more] = keyFields(draft)
    const words = singularWords(draft.table).slice(isPrefixed ? 1 : 0)
    return key === undefined || more.length > 0 ? [] : [{ draft, key, words, keyWords: wordsOf(key.column) }]
  })
  const byLast = new Map<string, (typeof targets)[number][]>()
  for (const one of targets) {
    for (const last of new Set([one.keyWords.at(-2), one.words.at(-1)])) {
      if (last !== undefined) byLast.set(last, [...(byLast.get(last) ?? []), one])
    }
  }
  return tables.flatMap((draft) =>
    draft.fields.flatMap((field): NamedReference[] => {
      const isKey = draft.key.length === 1 && draft.key[0] === field.property
      const isTaken = draft.references.some(({ via }) => via.includes(field.property))
      const isHidden = ['hidden', 'writeOnly'].includes(field.word.word)
      const words = wordsOf(field.column)
      if (isKey || isTaken || isHidden || words.at(-1) !== 'id') return []
      const named = words.slice(0, -1)
      const found = (byLast.get(named.at(-1) ?? '') ?? [])
        .filter(({ key }) => fieldOfWord(key.word).type === fieldOfWord(field.word).type)
        .map((one) => ({ ...one, weight: weightOf(named, one) }))
        .filter(({ weight }) => weight > 0)
        .toSorted((one, other) => other.weight - one.weight)
      const [best, next] = found
      if (best === undefined || best.weight === next?.weight) return []
      const to = best.draft.table
      const likely = { table: draft.table, columns: [field.column], to, toColumns: [best.key.column] }
      // A name with a mark of the text, such as `Film.Id`, could not be said on the command line, nor in the record.
      const said = parseReference(referenceText(likely))
      const isSaid = said?.table === draft.table && said.to === to && said.columns.length === 1
      return isSaid ? [likely] : []
    })
  )
}

/** How many words of a column without its `id` name a table, and half a word more where the key has its name too. 0: not at all. */
function weightOf(
  named: readonly string[],
  { words, keyWords }: { readonly words: readonly string[]; readonly keyWords: readonly string[] }
): number {
  const ofKey = keyWords.at(-1) === 'id' ? keyWords.slice(0, -1) : []
  const byTable = endsWith(named, words) ? words.length : 0
  const byKey = endsWith(named, ofKey) ? ofKey.length : 0
  if (byTable > 0 && ofKey.length > 0 && byKey === 0) return 0
  return Math.max(byTable, byKey) + (byTable > 0 && byTable === byKey ? 0.5 : 0)
}

function endsWith(all: readonly string[], end: readonly string[]): boolean {
  return end.length > 0 && end.length <= all.length && end.every((one, at) => one === all[all.length - end.length + at])
}

function fieldOf({ fields }: EntityDraft, column: string): FieldDraft | undefined {
  return fields.find((one) => one.column === column)
}

function keyFields({ key, fields }: EntityDraft): FieldDraft[] {
  return key.flatMap((name) => fields.find(({ property }) => property === name) ?? [])
}
