import type { EntityDraft } from './entity-draft.js'
import { fieldText } from './entity-file.js'
import { type NamedReference, parseReference, referenceText } from './references.js'
import type { ServedTable } from './served-tables.js'

/**
 * What an introspection found and the entity files followed, kept beside them: people change entity files, and what they
 * wrote says nothing of the database. What a file does not follow yet stays as it was in the record, so that the next
 * introspection finds the same difference.
 */
export interface Introspected {
  readonly version: 1
  /** Keys that were named for tables without one, and tables that were not wanted. They hold for the next time too. */
  readonly keys: Readonly<Record<string, readonly string[]>>
  /** Tables, and columns as `table.column`: whatever becomes of these is not told. */
  readonly except: readonly string[]
  /** References that no foreign key declares, as `order.customer_id=customer.customer_id`. */
  readonly references?: readonly string[]
  /** What the names of resources leave out, and whether files sort by all properties. */
  readonly stripPrefix?: string
  readonly sortable?: 'all' | 'indexed'
  /** The name of the migration that describes the tables. */
  readonly baseline: string
  /** By table. */
  readonly tables: Readonly<Record<string, IntrospectedTable>>
  /** By table, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>
  /** Hashes of the files that are written anew for as long as nobody changes them, by their paths. */
  readonly written: Readonly<Record<string, string>>
}

export interface IntrospectedTable {
  /** The name of its file. A person may have given the resource another one. */
  readonly resource: string
  /** The key and the row version, in words. Empty where nothing is known of them. */
  readonly rows: string
  /** Words of entity files by column. Empty for a column of which a file alone tells. */
  readonly columns: Readonly<Record<string, string>>
  /** Words by the name of the reference. */
  readonly references: Readonly<Record<string, string>>
  /** The storage engine where it has no transactions. */
  readonly withoutTransactions?: string
  /** Its name before, for as long as the entity file has that one. */
  readonly renamedFrom?: string
}

export function introspectedTable(draft: EntityDraft): IntrospectedTable {
  const { resource, key, versionColumn, fields, references, withoutTransactions } = draft
  const version = versionColumn === undefined ? 'no row version' : `row version ${versionColumn}`
  return {
    resource,
    rows: `${key.length === 0 ? "key: 'none'" : `key ${key.join(', ')}`}; ${version}`,
    columns: Object.fromEntries(fields.map((field) => [field.column, fieldText(field)])),
    references: Object.fromEntries(references.map(({ name, to, via }) => [name, `to ${to} via ${via.join(', ')}`])),
    ...(withoutTransactions === undefined ? {} : { withoutTransactions })
  }
}

/** By table, in small letters, the columns that an introspection or an entity file hid: no line to change shows them. */
export function hiddenColumns(
  { tables }: Pick<Introspected, 'tables'>,
  served: ReadonlyMap<string, ServedTable>
): Map<string, ReadonlySet<string>> {
  const isHidden = (words: string): boolean => /\b(?:hidden|writeOnly)\(/.test(words)
  return new Map(
    Object.entries(tables).map(([table, { columns, renamedFrom = '' }]) => {
      const held = (served.get(table) ?? served.get(renamedFrom))?.columns ?? []
      const shown = new Set(held.filter(({ field }) => !field.hidden).map(({ column }) => column))
      const byFile = held.map(({ column }) => column).filter((column) => !shown.has(column))
      const all = [...Object.keys(columns).filter((column) => isHidden(columns[column] ?? '')), ...byFile]
      return [table, new Set(all.map((column) => column.toLowerCase()))]
    })
  )
}

/** Why tables cannot have these names in the record. undefined if they can. */
export function renameMistake(
  { tables }: Pick<Introspected, 'tables'>,
  renamed: ReadonlyMap<string, string>
): string | undefined {
  const targets = [...renamed.values()]
  for (const [from, to] of renamed) {
    if (!Object.hasOwn(tables, from)) return `no entity file is known for the table ${from}`
    if (targets.indexOf(to) !== targets.lastIndexOf(to)) return `two tables cannot both be ${to} now`
    if (Object.hasOwn(tables, to) && !renamed.has(to)) {
      return (
        `${to} has an entity file already, ${tables[to]?.resource}. If an earlier run took it for a new table, take back what ` +
        'that run wrote first: this file, and introspected.json and the list as they were before'
      )
    }
  }
  return undefined
}

/** One that an entity cannot have at the moment is remembered too, until a person takes it back. */
export function rememberedReferences(
  before: readonly string[],
  of: { readonly named: readonly NamedReference[]; readonly except: readonly string[] }
): string[] {
  const kept = before.filter((text) => !of.except.some((one) => text.startsWith(`${one}=`)))
  return [...new Set([...kept, ...of.named.map(referenceText)])]
}

/** The record with tables under the names that they have now. */
export function withRenamed<Record extends Pick<Introspected, 'tables' | 'keys' | 'references'>>(
  record: Record,
  renamed: ReadonlyMap<string, string>
): Record {
  const under = <Value>(values: Readonly<{ [table: string]: Value }>, moved: (value: Value, from: string) => Value) =>
    Object.fromEntries(
      Object.entries(values).map(([table, value]): [string, Value] => {
        const to = renamed.get(table)
        return to === undefined ? [table, value] : [to, moved(value, table)]
      })
    )
  const tables = under(record.tables, (one, from) => ({ ...one, renamedFrom: one.renamedFrom ?? from }))
  const named = (table: string): string => renamed.get(table) ?? table
  const references = record.references?.map((text) => {
    const one = parseReference(text)
    return one === undefined ? text : referenceText({ ...one, table: named(one.table), to: named(one.to) })
  })
  return { ...record, tables, keys: under(record.keys, (key) => key), ...(references && { references }) }
}

/**
 * What stands for the record where `introspected.json` is gone: the tables whose files the list imports, of which nothing is
 * known but what these files say.
 */
export function recordOfFiles(
  list: string,
  served: ReadonlyMap<string, ServedTable>
): Readonly<Record<string, IntrospectedTable>> {
  const files = new Set(Array.from(list.matchAll(/from '\.\/([^'/]+)\.js'/g), ([, name]) => name))
  return Object.fromEntries(
    [...served]
      .filter(([, { resource }]) => files.has(resource))
      .map(([table, { resource, columns }]) => [
        table,
        { resource, rows: '', columns: Object.fromEntries(columns.map(({ column }) => [column, ''])), references: {} }
      ])
  )
}
