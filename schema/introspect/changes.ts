import type { Drafts, EntityDraft, LeftOut } from './entity-draft.js'
import { fieldText } from './entity-file.js'

/**
 * What an introspection found, kept beside the entity files so that the next one can tell what has changed in the database
 * since: people change entity files, and what they wrote says nothing of the database.
 */
export interface Introspected {
  readonly version: 1
  /** Keys that were named for tables without one, and tables that were not wanted. They hold for the next time too. */
  readonly keys: Readonly<Record<string, readonly string[]>>
  readonly except: readonly string[]
  /** The name of the migration that describes the tables. */
  readonly baseline: string
  /** By table. */
  readonly tables: Readonly<Record<string, IntrospectedTable>>
  /** By table, with the reason. */
  readonly leftOut: Readonly<Record<string, string>>
  /** Hashes of the files that are written anew for as long as nobody changes them, by their paths. */
  readonly written: Readonly<Record<string, string>>
}

interface IntrospectedTable {
  readonly resource: string
  /** The key and the row version, in words. */
  readonly rows: string
  /** Words of entity files by column. */
  readonly columns: Readonly<Record<string, string>>
  /** Words by the name of the reference. */
  readonly references: Readonly<Record<string, string>>
}

export function introspectedTable(draft: EntityDraft): IntrospectedTable {
  const { resource, key, versionColumn, fields, references } = draft
  const version = versionColumn === undefined ? 'no row version' : `row version ${versionColumn}`
  return {
    resource,
    rows: `key ${key.join(', ')}; ${version}`,
    columns: Object.fromEntries(fields.map((field) => [field.column, fieldText(field)])),
    references: Object.fromEntries(references.map(({ name, to, via }) => [name, `to ${to} via ${via.join(', ')}`]))
  }
}

/** By table, the columns that an introspection hid. */
export function hiddenColumns({ tables }: Pick<Introspected, 'tables'>): Map<string, ReadonlySet<string>> {
  const isHidden = (words: string): boolean => /\b(?:hidden|writeOnly)\(/.test(words)
  return new Map(
    Object.entries(tables).map(([table, { columns }]) => [
      table,
      new Set(Object.keys(columns).filter((column) => isHidden(columns[column] ?? '')))
    ])
  )
}

/** What differs between two introspections. */
export interface Changes {
  /** Tables of which no entity was known. */
  readonly added: readonly EntityDraft[]
  /** Tables that are no longer there, or no longer can be served, with the reason. */
  readonly removed: readonly { readonly table: string; readonly resource: string; readonly why: string }[]
  /** Lines to change in the entity files of tables that are still there, by resource. */
  readonly changed: readonly { readonly table: string; readonly resource: string; readonly lines: readonly string[] }[]
  /** Tables that are left out now for another reason, or were not there. */
  readonly leftOut: readonly LeftOut[]
}

/** `served` are tables for which the application has an entity, whoever wrote it. */
export function changesSince(
  before: Introspected | undefined,
  { entities, leftOut }: Drafts,
  served: ReadonlySet<string>
): Changes {
  // A table may be named as a member that every object has, such as `constructor`.
  const known = new Map(Object.entries(before?.tables ?? {}))
  const reasonsBefore = new Map(Object.entries(before?.leftOut ?? {}))
  const reasons = new Map(leftOut.map(({ table, why }) => [table, why]))
  return {
    added: entities.filter(({ table }) => !known.has(table) && !served.has(table)),
    removed: [...known]
      .filter(([table]) => !entities.some((one) => one.table === table))
      .map(([table, { resource }]) => ({
        table,
        resource,
        why: reasons.get(table) ?? 'the database has no such table any more'
      })),
    changed: entities.flatMap((draft) => {
      const was = known.get(draft.table)
      const lines = was === undefined ? [] : changedLines(was, draft)
      return lines.length === 0 ? [] : [{ table: draft.table, resource: draft.resource, lines }]
    }),
    leftOut: leftOut.filter(({ table, why }) => !known.has(table) && reasonsBefore.get(table) !== why)
  }
}

export function isUnchanged({ added, removed, changed, leftOut }: Changes): boolean {
  return added.length + removed.length + changed.length + leftOut.length === 0
}

/** What another key, or a row version that is there or gone, changes in an entity file. */
function rowsLines(was: string, now: string, { resource, versionColumn, writes }: EntityDraft): string[] {
  const [keyBefore = '', versionBefore] = was.split('; ')
  const [keyNow = '', versionNow] = now.split('; ')
  const lines = keyBefore === keyNow ? [] : [`~ ${keyNow} (was ${keyBefore})`]
  if (versionBefore === versionNow) return lines
  if (versionColumn === undefined) {
    return [...lines, "~ its rows have no version any more: say rowVersion: 'none', and leave out writes and actions"]
  }
  return [
    ...lines,
    "- rowVersion: 'none' (its rows have a version now)",
    `~ access: { read: permission('${resource}:read'), write: permission('${resource}:write') }, if requests may change its rows`,
    `+ writes: [${writes.map((one) => `'${one}'`).join(', ')}], or those of them that requests may do`
  ]
}

/** `+` for a line to add, `-` for one to take out, `~` for one to change. */
function changedLines(was: IntrospectedTable, draft: EntityDraft): string[] {
  const now = introspectedTable(draft)
  const lines: string[] = []
  if (was.rows !== now.rows) lines.push(...rowsLines(was.rows, now.rows, draft))
  for (const [before, after] of differing(was.columns, now.columns)) {
    if (before === undefined) lines.push(`+ ${after}`)
    else if (after === undefined) lines.push(`- ${before}`)
    else lines.push(`~ ${after} (was ${before})`)
  }
  for (const [before, after, name] of differing(was.references, now.references)) {
    if (before === undefined) lines.push(`+ the reference ${name} ${after}`)
    else if (after === undefined) lines.push(`- the reference ${name} ${before}`)
    else lines.push(`~ the reference ${name} ${after} (was ${before})`)
  }
  return lines
}

type WordsByName = Readonly<Record<string, string>>

/** What differs between two records of words: the word before, the word after, and its name. */
function differing(was: WordsByName, now: WordsByName): (readonly [string | undefined, string | undefined, string])[] {
  const [before, after] = [new Map(Object.entries(was)), new Map(Object.entries(now))]
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].flatMap((name) =>
    before.get(name) === after.get(name) ? [] : [[before.get(name), after.get(name), name] as const]
  )
}
