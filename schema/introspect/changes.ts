import type { Column } from '../../data-service/entity/entity.js'
import type { Field } from '../../data-service/entity/fields/field.js'
import { ROW_VERSION_COLUMN } from '../../data-service/entity/fields/row-version.js'
import { fieldOfWord, wordText } from '../model/column-types.js'
import type { Drafts, EntityDraft, FieldDraft, LeftOut } from './entity-draft.js'
import { fieldText } from './entity-file.js'
import { type Introspected, type IntrospectedTable, introspectedTable } from './record.js'
import { recordedField } from './recorded-word.js'
import type { ServedTable } from './served-tables.js'

// Database, entity files and record, compared. What was changed in the database since the record, and no file follows yet, is
// pending, and is found again by each introspection until a file follows it.

/** What an introspection has to tell. */
export interface Changes {
  /** Tables that have no entity file yet. */
  readonly added: readonly EntityDraft[]
  /** Tables that are no longer there, or no longer can be served, with the reason. */
  readonly removed: readonly { readonly table: string; readonly resource: string; readonly why: string }[]
  /** Tables that are no longer there, and new ones of the same columns, which get no file before it is said what they are. */
  readonly renamed: readonly PossibleRename[]
  /** Lines to change in entity files, those first that requests fail for. */
  readonly changed: readonly TableChange[]
  /** Tables that are left out now for another reason, or were not there. */
  readonly leftOut: readonly LeftOut[]
  /** Tables that have got a storage engine with transactions. */
  readonly transactional: readonly string[]
  /** What the next record says. */
  readonly tables: Introspected['tables']
}

export interface PossibleRename {
  readonly table: string
  readonly resource: string
  readonly to: readonly string[]
}

export interface TableChange {
  readonly table: string
  readonly resource: string
  /** `+` for a line to add, `-` for one to take out, `~` for one to change. */
  readonly lines: readonly string[]
  /** Whether the file names what the database has not. */
  readonly isLost: boolean
}

interface Compared {
  readonly drafts: Drafts
  /** What the entity files say, by table. */
  readonly served: ReadonlyMap<string, ServedTable>
  /** The names of the entity files that are there, without their ending. */
  readonly files: ReadonlySet<string>
  /** undefined at the first introspection. */
  readonly record: Pick<Introspected, 'tables' | 'leftOut'> | undefined
  /** Tables, and columns as `table.column`, of which nothing is told. */
  readonly except: ReadonlySet<string>
  /** Tables that are gone, and none of the new ones is. */
  readonly apart: ReadonlySet<string>
}

export function compareTables({ drafts, served, files, record, except, apart }: Compared): Changes {
  // A table may be named as a member that every object has, such as `constructor`.
  const drafted = new Map(drafts.entities.map((one) => [one.table, one]))
  const known = new Map(
    Object.entries(record?.tables ?? {}).map(([table, { renamedFrom, ...one }]): [string, IntrospectedTable] => {
      if (renamedFrom === undefined) return [table, one]
      // It may have got its first name back before its file followed.
      const isBack =
        !drafted.has(table) && drafted.has(renamedFrom) && !Object.hasOwn(record?.tables ?? {}, renamedFrom)
      return isBack ? [renamedFrom, one] : [table, { ...one, renamedFrom }]
    })
  )
  const reasonsBefore = new Map(Object.entries(record?.leftOut ?? {}))
  const reasons = new Map(drafts.leftOut.map(({ table, why }) => [table, why]))
  const haveOf = (table: string): ServedTable | undefined =>
    served.get(table) ?? served.get(known.get(table)?.renamedFrom ?? '')
  // A file that no config names is there all the same. One that was deleted follows everything.
  const isThere = (table: string): boolean => haveOf(table) !== undefined || files.has(known.get(table)?.resource ?? '')
  const gone = [...known].filter(
    ([table, { rows }]) =>
      !drafted.has(table) && !except.has(table) && isThere(table) && (rows !== '' || !reasons.has(table))
  )
  const fresh = drafts.entities.filter(({ table }) => !known.has(table) && !served.has(table))
  const renamed = gone
    .filter(([table]) => !reasons.has(table) && !apart.has(table))
    .map(([table, { resource, columns }]) => ({
      table,
      resource,
      to: fresh.filter((draft) => areSameNames(Object.keys(columns), columnsOf(draft))).map((draft) => draft.table)
    }))
    .filter(({ to }) => to.length > 0)
  const held = new Set(renamed.flatMap(({ table, to }) => [table, ...to]))
  const added = fresh.filter(({ table }) => !held.has(table))
  const compared = [...known].flatMap(([table, was]): TableResult[] => {
    const draft = drafted.get(table)
    if (draft === undefined) return []
    const now = introspectedTable(draft)
    if (!isThere(table)) return [{ draft, lines: [], isLost: false, next: { ...now, resource: was.resource } }]
    const isExcepted = (column: string): boolean => except.has(`${table}.${column}`)
    const isOld = was.renamedFrom !== undefined && !served.has(table)
    return [{ draft, ...compareTable(was, draft, { have: haveOf(table), isExcepted, isOld }) }]
  })
  const changed = compared
    .filter(({ lines }) => lines.length > 0)
    .map(({ draft: { table, resource }, lines, isLost }) => ({ table, resource, lines, isLost }))
  return {
    added,
    removed: gone
      .filter(([table]) => !held.has(table))
      .map(([table, { resource }]) => ({
        table,
        resource,
        why: reasons.get(table) ?? 'the database has no such table any more'
      })),
    renamed,
    changed: [...changed.filter(({ isLost }) => isLost), ...changed.filter(({ isLost }) => !isLost)],
    leftOut: drafts.leftOut.filter(
      ({ table, why }) => reasonsBefore.get(table) !== why && !gone.some(([one]) => one === table)
    ),
    transactional: compared
      .filter(({ draft: { table, withoutTransactions } }) => {
        return withoutTransactions === undefined && known.get(table)?.withoutTransactions !== undefined
      })
      .map(({ draft: { table } }) => table),
    tables: Object.fromEntries([
      ...compared.map(({ draft: { table }, next }): [string, IntrospectedTable] => [table, next]),
      ...gone,
      ...added.map((draft): [string, IntrospectedTable] => [draft.table, introspectedTable(draft)])
    ])
  }
}

/** Whether entity files have to be written or changed. */
export function isPending({ added, removed, renamed, changed }: Changes): boolean {
  return added.length + removed.length + renamed.length + changed.length > 0
}

interface TableResult extends Pick<TableChange, 'lines' | 'isLost'> {
  readonly draft: EntityDraft
  readonly next: IntrospectedTable
}

interface FileState {
  /** undefined where nothing is known of the file. */
  readonly have: ServedTable | undefined
  readonly isExcepted: (column: string) => boolean
  /** Whether the file has the name of the table before. */
  readonly isOld: boolean
}

function compareTable(was: IntrospectedTable, draft: EntityDraft, state: FileState): Omit<TableResult, 'draft'> {
  const { withoutTransactions, table } = draft
  const { renamedFrom, resource } = was
  const { rows, ...ofRows } = compareRows(was, draft, state)
  const { columns, lost, ...ofColumns } = compareColumns(was, draft, state)
  const { references, ...ofReferences } = compareReferences(was, draft, state)
  const name = state.isOld ? [`~ table: '${table}' (was '${renamedFrom}')`] : []
  return {
    lines: [...name, ...lost, ...ofRows.lines, ...ofColumns.lines, ...ofReferences.lines],
    isLost: name.length + lost.length > 0 || ofRows.isLost,
    next: {
      resource,
      rows,
      columns,
      references,
      ...(withoutTransactions === undefined ? {} : { withoutTransactions }),
      ...(state.isOld && renamedFrom !== undefined ? { renamedFrom } : {})
    }
  }
}

function compareColumns(was: IntrospectedTable, draft: EntityDraft, { have, isExcepted }: FileState) {
  const before = new Map(Object.entries(was.columns))
  const after = new Map(draft.fields.map((field) => [field.column, field]))
  const known = [...before.keys(), ...after.keys()]
  const byHand = (have?.columns ?? [])
    .map(({ column }) => column)
    .filter((one) => !known.some((name) => isSame(name, one)))
  const lost: string[] = []
  const lines: string[] = []
  const columns = new Map<string, string>()
  for (const name of new Set([...known, ...byHand])) {
    const [recorded, field] = [before.get(name), after.get(name)]
    const held = have?.columns.filter(({ column }) => isSame(column, name))
    const isLive = draft.live.some((one) => isSame(one, name))
    const line = isExcepted(name) ? undefined : columnLine({ recorded, field, held, isLive })
    if (line !== undefined) (isLive ? lines : lost).push(line)
    const next = line === undefined ? field && fieldText(field) : recorded
    if (next !== undefined) columns.set(name, next)
  }
  return { columns: Object.fromEntries(columns), lost, lines }
}

/** What is left to do in a file about a column. undefined for nothing. */
function columnLine(of: {
  readonly recorded: string | undefined
  readonly field: FieldDraft | undefined
  /** What the files say of it. undefined where nothing is known of them. */
  readonly held: readonly Column[] | undefined
  readonly isLive: boolean
}): string | undefined {
  const { recorded, field, held, isLive } = of
  if (field === undefined) {
    // A person may serve in another way what no introspection serves.
    if (held?.length === 0 || (isLive && !recorded)) return undefined
    return `- ${recorded || held?.[0]?.name || ''}${isLive ? ', which cannot be served any more' : ''}`
  }
  if (recorded === undefined) return held === undefined || held.length === 0 ? `+ ${fieldText(field)}` : undefined
  const before = recordedField(recorded)
  if (before?.text === wordText(field.word)) return undefined
  const now = fieldOfWord(field.word)
  const isFollowed = held?.length === 0 || held?.some((one) => follows(one.field, { before: before?.field, now }))
  if (isFollowed === true) return undefined
  return `~ ${fieldText(field)} (${recorded === '' ? 'the file says something else' : `was ${recorded}`})`
}

/** What the database says of a value; the rest of a field is what people say. */
const OF_DATABASE = ['type', 'nullable', 'maxLength', 'precision', 'scale', 'unsigned', 'storage', 'words'] as const

/** Whether a file has what is other in the database now. Without a record it has to have all that the database says. */
function follows(have: Field, { before, now }: { readonly before: Field | undefined; readonly now: Field }): boolean {
  const isOwnType =
    have.type !== now.type &&
    (before === undefined ? have.type === 'bool' && now.type === 'int' : before.type === now.type)
  if (isOwnType) return before?.nullable === now.nullable || have.nullable === now.nullable
  const members = before === undefined ? OF_DATABASE : (Object.keys(now) as (keyof Field)[])
  const text = (field: Field, member: keyof Field): string | undefined => JSON.stringify(field[member])
  // A person who hid it chose whether requests may set it.
  const isHiddenByHand = have.hidden && before?.hidden === false
  return members.every(
    (one) =>
      one === 'column' ||
      (one === 'writability' && isHiddenByHand) ||
      text(have, one) === text(now, one) ||
      (before !== undefined && text(before, one) === text(now, one))
  )
}

function compareRows(was: IntrospectedTable, draft: EntityDraft, { have, isExcepted }: FileState) {
  const { versionColumn, live } = draft
  const now = introspectedTable(draft).rows
  const [keyBefore = '', versionBefore] = was.rows.split('; ')
  const [keyNow = '', versionNow = ''] = now.split('; ')
  const isKeyFollowed =
    was.rows === '' ||
    keyBefore === keyNow ||
    (have !== undefined && (have.key === undefined || areSameNames(have.key, keyColumnsOf(draft))))
  const held = have?.versionColumn
  const isHeldLive = held !== undefined && live.some((one) => isSame(one, held))
  const isVersionFollowed =
    versionBefore === versionNow ||
    isExcepted(ROW_VERSION_COLUMN) ||
    (have !== undefined && (versionColumn === undefined ? held === undefined : held !== undefined)) ||
    (was.rows === '' && versionColumn === undefined && isHeldLive)
  const rows = `${isKeyFollowed ? keyNow : keyBefore}; ${isVersionFollowed ? versionNow : versionBefore}`
  return {
    rows: was.rows === '' && !isVersionFollowed ? '' : rows,
    lines: rowsLines(rows, now, { ...draft, resource: was.resource }),
    isLost: !isVersionFollowed && versionColumn === undefined
  }
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

function compareReferences(was: IntrospectedTable, draft: EntityDraft, { have, isExcepted }: FileState) {
  const before = new Map(Object.entries(was.references))
  const now = new Map(Object.entries(introspectedTable(draft).references))
  const columnsOfReference = new Map(draft.references.map(({ name, via }) => [name, columnsNamed(draft, via)]))
  const isAmong = (columns: readonly string[], to?: string): boolean =>
    have?.references.some(
      (one) =>
        (to === undefined || one.to === to) &&
        areSameNames(
          one.via.map(({ column }) => column),
          columns
        )
    ) === true
  const lines: string[] = []
  const references: Record<string, string> = {}
  for (const { name, to } of draft.references) {
    const [recorded, text = ''] = [before.get(name), now.get(name)]
    const columns = columnsOfReference.get(name) ?? []
    const isTaken = columns.some((column) => have?.columns.every((one) => !isSame(one.column, column)))
    if (recorded === text || isAmong(columns, to) || isTaken || columns.some(isExcepted)) references[name] = text
    else {
      lines.push(
        recorded === undefined ? `+ the reference ${name} ${text}` : `~ the reference ${name} ${text} (was ${recorded})`
      )
      if (recorded !== undefined) references[name] = recorded
    }
  }
  for (const [name, recorded] of before) {
    if (now.has(name)) continue
    const held = have?.references.find((one) => one.name === name)?.via.map(({ column }) => column)
    const isOther = [...columnsOfReference.values()].some(
      (columns) => held !== undefined && areSameNames(columns, held)
    )
    if ((have !== undefined && held === undefined) || isOther || held?.some(isExcepted)) continue
    lines.push(`- the reference ${name} ${recorded}`)
    references[name] = recorded
  }
  return { references, lines }
}

function columnsOf({ fields }: EntityDraft): string[] {
  return fields.map(({ column }) => column)
}

function columnsNamed({ fields }: EntityDraft, properties: readonly string[]): string[] {
  return properties.flatMap((name) => fields.find(({ property }) => property === name)?.column ?? [])
}

function keyColumnsOf(draft: EntityDraft): string[] {
  return columnsNamed(draft, draft.key)
}

/** Databases take names of columns without their case. */
function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function areSameNames(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one) => others.some((other) => isSame(one, other)))
}
