import { KEY_TYPES, LABEL_TYPES, RESERVED } from '../../data-service/entity/validation/validate-fields.js'
import type { FieldType } from '../../data-service/entity/fields/field.js'
import { snakeCase } from '../../data-service/entity/fields/names.js'
import type { WriteOperation } from '../../data-service/entity/operations.js'
import { isSuspect } from '../../data-service/entity/secret-names.js'
import {
  type ColumnTypes,
  type ColumnWord,
  columnWord,
  fieldOfWord,
  isColumnWord,
  type StoredValues,
  treatmentOf
} from '../model/column-types.js'
import { indexedTexts } from '../model/full-text.js'
import type { LiveColumn, LiveForeignKey, LiveIndex, LiveSchema, LiveTable } from '../model/live-schema.js'
import { constantName, columnPropertyName, referenceName, resourceName, withoutPrefix } from './names.js'
import { shellWord } from '../model/shell-word.js'

/** An entity file before it is written, as data: all names are chosen, and every word is known. */
export interface EntityDraft {
  readonly table: string
  readonly kind: 'table' | 'view'
  readonly resource: string
  /** The constant that the file exports. */
  readonly constant: string
  readonly comment: string
  readonly fields: readonly FieldDraft[]
  /** The names of all columns that the table has. */
  readonly live: readonly string[]
  /** The properties of the key: `id` alone, or several. Empty for rows without a key. */
  readonly key: readonly string[]
  readonly references: readonly ReferenceDraft[]
  readonly filterable: readonly string[]
  readonly sortable: readonly string[]
  /** The properties of a full-text index. Empty without one. */
  readonly fullText: readonly string[]
  /** undefined where no column can be one: the id stands for the row. */
  readonly label: string | undefined
  /** What requests may do; empty for rows without a version. */
  readonly writes: readonly WriteOperation[]
  /** The column of the row version; undefined for rows without one, which are only read. */
  readonly versionColumn: string | undefined
  /** The storage engine if it has no transactions. */
  readonly withoutTransactions: string | undefined
  /** Of a table without a key: the columns that could be parts of one, the likeliest first. */
  readonly candidates: readonly string[]
  /** What the report says of it, a sentence each. */
  readonly notes: readonly string[]
  /** Tables whose rows go with a row of this one (ON DELETE CASCADE), with the property that refers to it. */
  readonly cascades: readonly string[]
}

export interface FieldDraft {
  readonly property: string
  readonly column: string
  /** With all words around that of the type, but for `column(…)`. */
  readonly word: ColumnWord
}

interface ReferenceDraft {
  readonly name: string
  readonly to: string
  readonly via: readonly string[]
}

/** A table or view for which no entity file can be written. */
export interface LeftOut {
  readonly table: string
  readonly why: string
}

export interface Drafts {
  /** In the order of tables. */
  readonly entities: readonly EntityDraft[]
  readonly leftOut: readonly LeftOut[]
}

export interface DraftOptions {
  readonly types: ColumnTypes
  /** By table and column, where the type of a column depends on its values. */
  readonly values: ReadonlyMap<string, ReadonlyMap<string, StoredValues>>
  /** Keys that were named for tables and views without one. */
  readonly keys: ReadonlyMap<string, readonly string[]>
  /** Why keys that were named in this run do not hold, by table. */
  readonly refused: ReadonlyMap<string, string>
  /** By table, in small letters, the columns that the last run or a file hid. They stay so whatever the names beside them are. */
  readonly hidden: ReadonlyMap<string, ReadonlySet<string>>
  /** Names of resources that tables have already. */
  readonly resources: ReadonlyMap<string, string>
  /** Names of entity files that are there: a person may have given their resources other ones. */
  readonly files: Iterable<string>
  /** What names of resources leave out at the beginning of those of tables. Default: nothing. */
  readonly stripPrefix?: string
  /** Whether properties without an index are sortable too. */
  readonly sortsAll?: boolean
  /** Tables that the service makes and fills itself, of which nothing is said. */
  readonly isEngineTable: (table: string) => boolean
  /** The function by which an index must be sorted to serve the order of the API (`SqlDialect.keyFunction`). */
  readonly sortedBy: (type: FieldType) => string | undefined
}

/** Records of migrations of other tools, which tell of tables and hold no data of a business. */
const RECORDS =
  /^(?:schema_migrations?|sequelizemeta|knex_migrations(?:_lock)?|flyway_schema_history|databasechangelog(?:lock)?|alembic_version|django_migrations|_prisma_migrations|__efmigrationshistory|ar_internal_metadata|phinxlog|doctrine_migration_versions|goose_db_version|typeorm_metadata|drizzle_migrations|__drizzle_migrations|schema_version|dbmate_migrations|mikro_orm_migrations)$/i

export function draftEntities(schema: LiveSchema, options: DraftOptions): Drafts {
  const leftOut: LeftOut[] = [...schema.others].map(([table, why]) => ({ table, why }))
  const taken = new Set([...RESERVED, ...options.resources.values(), ...options.files])
  const stripped = withoutPrefix([...schema.tables.keys()], options.stripPrefix ?? '', taken)
  const begun: BegunDraft[] = []
  const found = [...schema.tables.values()]
    .filter(({ name }) => !options.isEngineTable(name))
    .map((table) => {
      const isRecord = RECORDS.test(table.name)
      return {
        table: table.name,
        draft: isRecord ? { why: 'it is the record of migrations of another tool' } : beginDraft(table, options)
      }
    })
  const drafted = found.flatMap(({ table, draft }) => ('why' in draft ? [] : [table]))
  const spelledOtherwise = otherSpellings(drafted, options)
  for (const { table, draft } of found) {
    const other = spelledOtherwise(table)
    if ('why' in draft) leftOut.push({ table, ...draft })
    else if (other !== undefined)
      leftOut.push({ table, why: `its name differs from that of \`${other}\` in letter case only` })
    else {
      const known = options.resources.get(table)
      const resource = known ?? resourceName(stripped.get(table) ?? table, taken)
      begun.push({ ...draft, resource })
    }
  }
  const typed = begun.map((one) => ({ ...one, columns: one.columns.map((column) => asInKey(column, one, begun)) }))
  const entities = typed.map((one) => finishDraft(one, typed, options))
  return { entities: entities.map((one) => ({ ...one, cascades: cascadesTo(one, typed, entities) })), leftOut }
}

/**
 * The table that keeps another one out, which has its name in other letters, among tables that an entity file can be written for.
 * Some servers hold both, but no application can name both: its tests run where letter case does not count. A table that is
 * served already stays.
 */
function otherSpellings(
  names: readonly string[],
  { resources, isEngineTable }: DraftOptions
): (table: string) => string | undefined {
  const first = new Map<string, string>()
  for (const name of [...names.filter((one) => resources.has(one)), ...names]) {
    const folded = name.toLowerCase()
    if (!first.has(folded)) first.set(folded, isEngineTable(folded) ? folded : name)
  }
  return (table) => {
    const other = first.get(table.toLowerCase())
    return other === table ? undefined : other
  }
}

/** A table whose columns and key are known, but not yet which other tables can be referred to. */
interface BegunDraft {
  readonly table: LiveTable
  readonly resource: string
  readonly key: readonly LiveColumn[]
  readonly columns: readonly BegunColumn[]
  readonly versionColumn: string | undefined
  readonly candidates: readonly string[]
  readonly notes: readonly string[]
  /** Columns that the last run or a file hid, in small letters. */
  readonly hidden: ReadonlySet<string>
}

interface BegunColumn {
  readonly live: LiveColumn
  readonly property: string
  readonly type: ColumnWord
  readonly isReadOnly: boolean
}

/** Bytes have one text for each value where they are part of a key. */
function wordInKey(word: ColumnWord): ColumnWord {
  return word.word === 'binary' ? columnWord('base64url', ...word.args) : word
}

/**
 * The column with the word of the key that it is part of or refers to. What bytes are follows from rows, and a table may
 * have none yet.
 */
function asInKey(column: BegunColumn, draft: BegunDraft, all: readonly BegunDraft[]): BegunColumn {
  if (!['binary', 'longText'].includes(column.type.word)) return column
  const found = keyColumnOf({ column, draft }, all)
  if (found === undefined) return draft.key.includes(column.live) ? { ...column, type: wordInKey(column.type) } : column
  const type = wordInKey(found.type)
  if (column.type.word === 'longText' && type.word !== 'base64url') return column
  return { ...column, type, isReadOnly: column.isReadOnly || found.isReadOnly }
}

interface ColumnOfDraft {
  readonly column: BegunColumn
  readonly draft: BegunDraft
}

/** The column of a key that foreign keys lead to from here, one after the other. */
function keyColumnOf(from: ColumnOfDraft, all: readonly BegunDraft[]): BegunColumn | undefined {
  const seen = new Set<BegunColumn>([from.column])
  let last: BegunColumn | undefined
  for (
    let one = referredColumn(from, all);
    one !== undefined && !seen.has(one.column);
    one = referredColumn(one, all)
  ) {
    seen.add(one.column)
    last = one.column
  }
  return last
}

function referredColumn({ column, draft }: ColumnOfDraft, all: readonly BegunDraft[]): ColumnOfDraft | undefined {
  for (const { columns, table, schema, referencedColumns } of draft.table.foreignKeys) {
    const name = referencedColumns[columns.indexOf(column.live.name)]
    const target = schema === undefined ? all.find((one) => one.table.name === table) : undefined
    const found = target?.columns.find(({ live }) => live.name === name && target.key.includes(live))
    if (target !== undefined && found !== undefined) return { column: found, draft: target }
  }
  return undefined
}

type Unserved = Omit<LeftOut, 'table'>

/** The reason why no entity file can be written, or what is known of it. */
function beginDraft(table: LiveTable, options: DraftOptions): Omit<BegunDraft, 'resource'> | Unserved {
  if (!isQuotable(table.name)) return { why: 'its name cannot be quoted' }
  if (table.broken !== undefined) return { why: `the database cannot read it (${table.broken})` }
  const values = options.values.get(table.name)
  const copies = table.indexes.flatMap((index) => indexedTexts(table, index)?.copy ?? [])
  const shown = table.columns.filter((live) => !copies.includes(live))
  const treated = shown.map((live) => ({
    live,
    treatment: treatmentOf(options.types, live, values?.get(live.name))
  }))
  const notes: string[] = []
  const version = table.columns.find(isVersion)
  if (table.withoutTransactions !== undefined) {
    notes.push(
      `It is only read: ${table.withoutTransactions}, which keeps it, has no transactions, so that a part of a write that ` +
        'fails could stay. ENGINE=InnoDB changes that.'
    )
  }
  const usable = treated.filter(({ live, treatment }) => {
    if (live === version) return false
    if (treatment.kind === 'refused')
      notes.push(`The column \`${live.name}\` (${nativeTypeText(live)}) is left out: ${treatment.why}.`)
    else if (!isQuotable(live.name)) notes.push(`The column \`${live.name}\` is left out: its name cannot be quoted.`)
    else return true
    return false
  })
  const servable = new Map(
    usable.flatMap(({ live, treatment }) => ('word' in treatment ? [[live.name, treatment.word]] : []))
  )
  const found = keyOrProblem(table, servable, options)
  const { key } = found
  if (found.why !== undefined) notes.push(`Its rows have no key, so that no request names one: ${found.why}.`)
  for (const live of key.filter((one) => isSuspectColumn(one, servable.get(one.name), table))) {
    notes.push(`The name of the column \`${live.name}\` says that it is a secret. It is served, since --key names it.`)
  }
  const taken = new Set(['rowversion', ...(key.length === 1 ? ['id'] : ['id'])])
  const properties = new Map<string, string>()
  // The key first, so that another column does not take its name.
  for (const column of [...key, ...usable.map(({ live }) => live)]) {
    if (properties.has(column.name)) continue
    properties.set(column.name, key.length === 1 && column === key[0] ? 'id' : columnPropertyName(column.name, taken))
  }
  const ordered = [...key, ...usable.map(({ live }) => live).filter((live) => !key.includes(live))]
  const columns = ordered.flatMap((live): BegunColumn[] => {
    const treatment = usable.find((one) => one.live === live)?.treatment
    const property = properties.get(live.name)
    if (treatment === undefined || property === undefined || treatment.kind === 'refused') return []
    if (treatment.kind === 'readOnly') {
      notes.push(`\`${property}\` (${nativeTypeText(live)}) is read-only: ${treatment.why}.`)
    }
    return [{ live, property, type: treatment.word, isReadOnly: treatment.kind === 'readOnly' }]
  })
  if (columns.length === 0) return { why: 'it has no column that can be served' }
  const hidden = options.hidden.get(table.name) ?? new Set<string>()
  if (key.length === 0 && columns.every((one) => isSecret(one, { table, key, hidden }))) {
    return { why: 'it has no key, and all its columns are hidden by their names; those that `--key` names are served' }
  }
  const versionColumn = table.withoutTransactions === undefined && key.length > 0 ? version?.name : undefined
  return {
    table,
    key,
    columns,
    hidden,
    versionColumn,
    candidates: found.candidates ?? [],
    notes: [...notes, ...unknownDates(columns)]
  }
}

function unknownDates(columns: readonly BegunColumn[]): string[] {
  return columns
    .filter(
      ({ live, type }) =>
        /^(?:date|datetime|timestamp|time)$/.test(live.type.base) && /^(?:text|longText|long|double)$/.test(type.word)
    )
    .map(
      ({ property, live }) =>
        `\`${property}\` (${live.nativeType}) is served as the database has it: it keeps no dates, and only the programs that ` +
        'write the column know what its values mean.'
    )
}

function nativeTypeText({ nativeType }: LiveColumn): string {
  return nativeType === '' ? 'no type' : nativeType
}

/** Eight bytes under the name that the service gives to versions. */
function isVersion({ name, type, nullable }: LiveColumn): boolean {
  return name === 'row_version' && !nullable && (type.base === 'blob' || (type.base === 'binary' && type.length === 8))
}

/** MySQL takes no more, and a backtick would end the quotes. */
function isQuotable(name: string): boolean {
  return /^[^\p{Cc}`]{1,64}$/u.test(name)
}

/** A key, or why there is none, with the columns that could be one. */
interface FoundKey {
  readonly key: readonly LiveColumn[]
  readonly why?: string
  readonly candidates?: readonly string[]
}

/** The columns of the primary key, or of a unique key that is never null; else the reason why there is none. */
function keyOrProblem(
  table: LiveTable,
  servable: ReadonlyMap<string, ColumnWord>,
  { keys, refused }: Pick<DraftOptions, 'keys' | 'refused'>
): FoundKey {
  const named = keys.get(table.name)
  const columnsOf = (names: readonly string[]): LiveColumn[] =>
    names.flatMap((name) => table.columns.find((one) => one.name.toLowerCase() === name.toLowerCase()) ?? [])
  if (named !== undefined) {
    const columns = columnsOf(named)
    if (columns.length < named.length)
      return { key: [], why: `it has no columns ${named.join(', ')}, which --key names` }
    const why = keyProblem(columns, servable)
    return why === undefined ? { key: columns } : { key: [], why }
  }
  const uniques = table.indexes.filter(
    ({ unique, partial, keys }) =>
      unique &&
      !partial &&
      keys.every((key) => key.column !== undefined && key.expression === undefined && key.prefix === undefined)
  )
  const candidates = [
    table.primaryKey,
    ...uniques
      .map(({ keys }) => keys.flatMap(({ column }) => column ?? []))
      .toSorted((one, other) => one.length - other.length)
  ].filter((names) => names.length > 0)
  const problems: string[] = []
  for (const names of candidates) {
    const columns = columnsOf(names)
    // The primary key of a SQLite table may hold NULL, which is a mistake that only --key can call none.
    const problem = columns.some(({ nullable }) => nullable)
      ? `${names.join(', ')} may be null`
      : (keyProblem(columns, servable) ?? secretInKey(columns, servable, table))
    if (problem === undefined) return { key: columns }
    problems.push(problem)
  }
  if (candidates.length > 0) return { key: [], why: `no key of it can be served: ${problems.join('; ')}` }
  const fit = table.columns.filter(
    (live) =>
      (table.kind === 'view' || !live.nullable) &&
      keyProblem([live], servable) === undefined &&
      !isSuspectColumn(live, servable.get(live.name), table)
  )
  const isLikely = ({ name }: LiveColumn): boolean => /(?:^|_|[a-z])id$/i.test(name)
  const refusal = refused.get(table.name)
  const why = table.kind === 'view' ? 'a view has no key' : 'it has no primary key and no unique key that is never null'
  return {
    key: [],
    why: refusal === undefined ? why : `--key was refused, since ${refusal}`,
    candidates: [...fit.filter(isLikely), ...fit.filter((one) => !isLikely(one))].map(({ name }) => name)
  }
}

/** A key is part of every answer and of every path. Only a person can say that it is no secret. */
function secretInKey(
  columns: readonly LiveColumn[],
  servable: ReadonlyMap<string, ColumnWord>,
  table: LiveTable
): string | undefined {
  const secret = columns.find((live) => isSuspectColumn(live, servable.get(live.name), table))
  if (secret === undefined) return undefined
  const names = columns.map(({ name }) => name).join(',')
  return (
    `the name of \`${secret.name}\` says that it is a secret, and every answer shows a key. Where it is none, say so: ` +
    `--key ${shellWord(`${table.name}=${names}`)}`
  )
}

function isSuspectColumn(live: LiveColumn, word: ColumnWord | undefined, { name, columns }: LiveTable): boolean {
  if (word === undefined) return false
  const { type } = fieldOfWord(word)
  return isSuspect({ table: name, column: live.name, type, beside: columns.map((one) => one.name) })
}

function keyProblem(columns: readonly LiveColumn[], servable: ReadonlyMap<string, ColumnWord>): string | undefined {
  for (const live of columns) {
    const { name, generated } = live
    const word = servable.get(name)
    if (word === undefined || !KEY_TYPES.includes(fieldOfWord(wordInKey(word)).type))
      return `\`${name}\` (${nativeTypeText(live)}) cannot be part of a key`
    if (generated !== undefined && columns.length === 1) return `\`${name}\` is computed`
  }
  return undefined
}

function finishDraft(
  draft: BegunDraft,
  all: readonly BegunDraft[],
  options: DraftOptions
): Omit<EntityDraft, 'cascades'> {
  const { table, resource, key, columns, versionColumn } = draft
  // A statement that joins a table to itself has both under their names.
  const taken = new Set([
    'rowversion',
    'id',
    table.name.toLowerCase(),
    ...columns.map(({ property }) => property.toLowerCase())
  ])
  const notes = [...draft.notes]
  if (versionColumn !== undefined && !mayCreate(draft)) {
    const names = unnamedColumns(draft).join(', ')
    notes.push(`Requests create no row of it: ${names} is left out, and is neither null nor has a default.`)
  }
  const references = table.foreignKeys.flatMap((foreignKey): ReferenceDraft[] => {
    const found = referenceOf(draft, foreignKey, { all, taken })
    if (typeof found !== 'string') return [found]
    notes.push(found)
    return []
  })
  const shown = columns.filter((column) => !isSecret(column, draft))
  for (const column of columns.filter((one) => isSecret(one, draft))) {
    const why = isSuspectColumn(column.live, column.type, table)
      ? 'since its name says that it is a secret'
      : 'as the last run had it or its file has it, though its name does not say that it is a secret'
    notes.push(
      isNeeded(column, draft)
        ? `\`${column.property}\` is only written and never read, ${why} and a create needs it.`
        : `\`${column.property}\` is hidden, ${why}.`
    )
  }
  const filterable = shown.filter(({ type }) => !['json', 'binary'].includes(type.word))
  const comparable = filterable.filter(({ type }) => type.word !== 'setOf')
  const isIndexed = ({ live, type }: BegunColumn): boolean => {
    if (key.length === 1 && live === key[0]) return true
    const by = options.sortedBy(fieldOfWord(type).type)
    const isFirst = by === undefined && table.primaryKey[0] === live.name
    return isFirst || table.indexes.some((index) => servesOrder(index, live, by))
  }
  return {
    table: table.name,
    kind: table.kind,
    resource,
    constant: constantName(resource),
    comment: table.comment,
    live: table.columns.map(({ name }) => name),
    fields: columns.map((column) => ({
      property: column.property,
      column: column.live.name,
      word: fieldWord(column, draft)
    })),
    key: key.flatMap((live) => columns.find((one) => one.live === live)?.property ?? []),
    references,
    filterable: filterable.map(({ property }) => property),
    sortable: comparable.filter((one) => options.sortsAll === true || isIndexed(one)).map(({ property }) => property),
    fullText: fullTextOf(table, shown),
    label: key.length === 0 ? undefined : labelOf(draft),
    writes: versionColumn === undefined ? [] : mayCreate(draft) ? ['create', 'update', 'delete'] : ['update', 'delete'],
    versionColumn,
    withoutTransactions: table.withoutTransactions,
    candidates: draft.candidates,
    notes
  }
}

/** The properties of the first full-text index of which all texts are shown. */
function fullTextOf(table: LiveTable, shown: readonly BegunColumn[]): readonly string[] {
  const texts = shown.filter(({ type }) => fieldOfWord(type).type === 'string')
  for (const index of table.indexes) {
    const names = indexedTexts(table, index)?.texts ?? []
    const properties = names.flatMap((name) => texts.find(({ live }) => live.name === name)?.property ?? [])
    if (properties.length > 0 && properties.length === names.length) return properties
  }
  return []
}

/** Whether an index begins with the values of the column in the order of the API. */
function servesOrder({ sorted, partial, keys: [first] }: LiveIndex, live: LiveColumn, by: string | undefined): boolean {
  if (!sorted || partial || first?.column !== live.name || first.prefix !== undefined) return false
  if (by === undefined) return first.expression === undefined
  return first.expression?.startsWith(`${by}(`) === true
}

/** Columns that are hidden until a person says otherwise. */
function isSecret(
  { live, type }: BegunColumn,
  { table, key, hidden }: Pick<BegunDraft, 'table' | 'key' | 'hidden'>
): boolean {
  return !key.includes(live) && (hidden.has(live.name.toLowerCase()) || isSuspectColumn(live, type, table))
}

/** Columns that no field names and that a row cannot be created without. */
function unnamedColumns({ table, columns, versionColumn }: BegunDraft): readonly string[] {
  return table.columns
    .filter((live) => live.name !== versionColumn && !columns.some((one) => one.live === live))
    .filter((live) => !live.nullable && live.default === undefined && live.generated === undefined)
    .filter(({ autoIncrement }) => !autoIncrement)
    .map(({ name }) => `\`${name}\``)
}

function mayCreate(draft: BegunDraft): boolean {
  return unnamedColumns(draft).length === 0
}

/** Whether a request that creates a row has to name the column. */
function isNeeded({ live, isReadOnly }: BegunColumn, draft: BegunDraft): boolean {
  if (draft.versionColumn === undefined || !mayCreate(draft)) return false
  if (isReadOnly || live.generated !== undefined || live.onUpdate !== undefined) return false
  return !live.nullable && live.default === undefined
}

function fieldWord(column: BegunColumn, draft: BegunDraft): ColumnWord {
  const word = shownWord(column, draft)
  if (!isSecret(column, draft)) return word
  return columnWord(isNeeded(column, draft) ? 'writeOnly' : 'hidden', word)
}

function shownWord({ live, type, isReadOnly }: BegunColumn, { table, key }: BegunDraft): ColumnWord {
  const isKey = key.includes(live)
  let word = type
  if (live.nullable && !isKey) word = columnWord('optional', word)
  if (isKey) {
    const isNumbered = live.autoIncrement || live.generated !== undefined || live.default?.kind === 'expression'
    return columnWord(isNumbered || isReadOnly ? 'readOnly' : 'onCreate', word)
  }
  // What the database sets in every row, and what it would store as something else, no statement of the service names.
  if (live.generated !== undefined || live.onUpdate !== undefined || isReadOnly) return columnWord('generated', word)
  const value = live.nullable ? undefined : defaultValue(live, type)
  if (value !== undefined) word = columnWord('defaultTo', word, value)
  if (isUnique(live, table) && !['setOf', 'json', 'binary'].includes(type.word)) word = columnWord('unique', word)
  return live.default !== undefined && value === undefined && !isZeroDate(live)
    ? columnWord('filledByDatabase', word)
    : word
}

/** A row without the column would get a date of zeros, which no request may write. */
function isZeroDate({ default: value, type }: LiveColumn): boolean {
  const isDate = ['date', 'datetime', 'timestamp'].includes(type.base)
  return isDate && value?.kind === 'literal' && value.value.startsWith('0000-00-00')
}

function isUnique({ name }: LiveColumn, { indexes }: LiveTable): boolean {
  return indexes.some(({ unique, partial, keys: [first, second] }) => {
    const isWhole = first?.column === name && first.prefix === undefined && first.expression === undefined
    return unique && !partial && isWhole && second === undefined
  })
}

/** The default as `defaultTo(…)` takes it; undefined for one that cannot be said there. */
function defaultValue(live: LiveColumn, { word, args }: ColumnWord): string | number | boolean | undefined {
  if (live.default?.kind !== 'literal') return undefined
  const { value } = live.default
  switch (word) {
    case 'text':
    case 'longText':
      return typeof args[0] === 'number' && value.length <= args[0] ? value : undefined
    case 'bool':
      return value === '1' ? true : value === '0' ? false : undefined
    case 'int':
    case 'tinyInt':
    case 'smallInt':
    case 'mediumInt':
    case 'year':
      return /^-?\d{1,10}$/.test(value) ? Number(value) : undefined
    case 'long':
      return /^-?\d{1,19}$/.test(value) ? value : undefined
    case 'unsigned': {
      const [inner] = args
      return inner !== undefined && isColumnWord(inner) ? defaultValue(live, inner) : undefined
    }
    case 'decimal':
    case 'money':
      return /^-?\d+(?:\.\d+)?$/.test(value) ? value : undefined
    case 'oneOf': {
      const [words] = args
      return Array.isArray(words) && words.includes(value) ? value : undefined
    }
    default:
      return undefined
  }
}

/** The reference that a foreign key amounts to, or a sentence on why there is none. */
function referenceOf(
  draft: BegunDraft,
  { columns: names, table: target, schema, referencedColumns }: LiveForeignKey,
  { all, taken }: { readonly all: readonly BegunDraft[]; readonly taken: Set<string> }
): ReferenceDraft | string {
  const { table, columns, key } = draft
  const shown = `The foreign key ${names.join(', ')} to ${target}`
  if (schema !== undefined) return `${shown} is left out: it leads into the schema ${schema}.`
  const other = all.find((one) => one.table.name === target)
  if (other === undefined) return `${shown} is left out: that table has no entity file.`
  const targetKey = other.key.map(({ name }) => name)
  if (targetKey.length !== referencedColumns.length || !targetKey.every((one) => referencedColumns.includes(one))) {
    return `${shown} is left out: it leads to ${referencedColumns.join(', ')} and not to its key.`
  }
  const via = targetKey.map((one) => {
    const name = names[referencedColumns.indexOf(one)]
    return columns.find(({ live }) => live.name === name)
  })
  if (via.some((one) => one === undefined)) return `${shown} is left out: a column of it is.`
  if (via.some((one) => one !== undefined && isSecret(one, draft)))
    return `${shown} is left out: a column of it is hidden.`
  const properties = via.flatMap((one) => one?.property ?? [])
  // A row that is found by its own key needs no reference of the same name as its table.
  const isSelf =
    other.table === table &&
    properties.every((one, at) => one === columns.find(({ live }) => live === key[at])?.property)
  if (isSelf) return `${shown} is left out: each row refers to itself.`
  return { name: referenceName(names, other.resource, taken), to: other.resource, via: properties }
}

const LABELS: readonly string[] = [
  'name',
  'title',
  'label',
  'displayName',
  'fullName',
  'lastName',
  'code',
  'email',
  'username'
]

/** What people know a row by: a name, else a unique text, else any text, else the key, else any number. All are never null. */
function labelOf(draft: BegunDraft): string | undefined {
  const { columns, key, table } = draft
  const fit = columns.filter(
    (column) =>
      LABEL_TYPES.includes(fieldOfWord(column.type).type) &&
      (key.includes(column.live) || (!column.live.nullable && !isSecret(column, draft)))
  )
  const texts = fit.filter(({ live, type }) => fieldOfWord(type).type === 'string' && !live.nullable)
  const named = LABELS.flatMap((label) => texts.find(({ property }) => property === label) ?? [])[0]
  const ending = texts.find(({ property }) => /(?:Name|Title)$/.test(property))
  const unique = texts.find(({ live }) =>
    table.indexes.some((index) => index.unique && index.keys.length === 1 && index.keys[0]?.column === live.name)
  )
  const ofKey = fit.find(({ live }) => key.includes(live))
  return (named ?? ending ?? unique ?? texts[0] ?? ofKey ?? fit[0])?.property
}

function cascadesTo(
  { table, resource }: Omit<EntityDraft, 'cascades'>,
  all: readonly BegunDraft[],
  entities: readonly Omit<EntityDraft, 'cascades'>[]
): string[] {
  return all.flatMap((one) => {
    if (one.table.name === table) return []
    const cascading = one.table.foreignKeys.some((key) => key.table === table && key.onDelete === 'cascade')
    const refers = entities
      .find((entity) => entity.table === one.table.name)
      ?.references.find(({ to }) => to === resource)
    return cascading && refers !== undefined ? [`${one.resource} (${refers.via.join(', ')})`] : []
  })
}

/** Whether a property needs `column(…)`: its own name in snake_case is another one. */
export function isRenamed({ property, column }: Pick<FieldDraft, 'property' | 'column'>): boolean {
  return snakeCase(property) !== column
}
