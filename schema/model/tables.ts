/**
 * Tables as migrations describe them. Nothing here depends on the words of entity files: what a migration says keeps its
 * meaning, whatever becomes of them.
 */
export interface Table {
  readonly name: string
  readonly columns: readonly TableColumn[]
  /** The columns of a composite primary key in its order, where that is not the order of the columns. */
  readonly primaryKey?: readonly string[]
  readonly indexes: readonly TableIndex[]
  readonly foreignKeys: readonly ForeignKey[]
}

export interface TableColumn {
  readonly name: string
  readonly type: ColumnType
  readonly nullable: boolean
  /** Whether it is the primary key or a part of it, and whether the database numbers it. */
  readonly key: 'none' | 'primary' | 'autoIncrement'
  /**
   * In the form of the column's values in JSON: `'1.50'` for a decimal, `'2026-01-31T08:00:00.000Z'` for a datetime, base64
   * for bytes. A set is its words with commas between, and JSON its text.
   */
  readonly defaultTo?: ColumnDefault
}

export type ColumnDefault = string | number | boolean

/**
 * The types of columns. A released type never changes its meaning; a new one is added here and in the table of types of
 * each engine.
 * - `varchar`: text of at most `length` characters, compared without letter case
 * - `text`: text of at most `bytes` in UTF-8
 * - `boolean`, `tinyint` (8 bits), `smallint` (16), `mediumint` (24), `int` (32), `bigint` (64), `year`, each signed unless
 *   it is `unsigned`; `bit`: as many flags
 * - `decimal` (exact digits), `double` (64 bits), `float` (32 bits)
 * - `datetime`: UTC with milliseconds, or with `precision` digits of a second's fraction; `date`; `time`
 * - `guid`: 36 characters in lower case
 * - `enum`, `set`: words in the order in which the database keeps them. An enum with a `length` is a `varchar` of it that
 *   the servers keep to its words by a CHECK
 * - `json`: the text of a JSON value
 * - `varbinary`: at most `length` bytes; `binary`: exactly so many
 * - `rowVersion`: eight bytes, the version of a row
 */
export type ColumnType =
  | { readonly kind: 'varchar'; readonly length: number }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'text'; readonly bytes: number }
  | { readonly kind: 'varbinary' | 'binary'; readonly length: number }
  | { readonly kind: IntegerKind; readonly unsigned?: true }
  | { readonly kind: 'bit'; readonly bits: number }
  /** A datetime without it has three digits, a time none. */
  | { readonly kind: 'datetime' | 'time'; readonly precision?: number }
  | { readonly kind: 'enum'; readonly words: readonly string[]; readonly length?: number }
  | { readonly kind: 'set'; readonly words: readonly string[] }
  | { readonly kind: 'boolean' | 'year' | 'double' | 'float' | 'date' | 'json' | 'guid' | 'rowVersion' }

export type IntegerKind = 'tinyint' | 'smallint' | 'mediumint' | 'int' | 'bigint'

/** Of characters. The longest row of MySQL is 65,535 bytes, and a character takes up to 4. */
export const LONGEST_VARCHAR = 16_383

/** Characters of a name, as MySQL takes them. */
export const LONGEST_IDENTIFIER = 64

/** The name, or the name with the lowest number that no other one has in any letter case. */
export function freeName(name: string, taken: Iterable<string>): string {
  const others = new Set([...taken].map((one) => one.toLowerCase()))
  let free = name.slice(0, LONGEST_IDENTIFIER)
  for (let count = 2; others.has(free.toLowerCase()); count++) {
    free = `${name.slice(0, LONGEST_IDENTIFIER - 3)}_${count}`
  }
  return free
}

export interface TableIndex {
  readonly name: string
  readonly unique: boolean
  readonly keys: readonly IndexKey[]
  /** The words of the columns. Only the servers have such an index; it has a column of its name besides. */
  readonly fullText?: true
}

export interface IndexKey {
  readonly column: string
  readonly descending: boolean
}

/** From columns to the primary key of a table, in its order. */
export interface ForeignKey {
  /** The name of the constraint. */
  readonly name: string
  readonly columns: readonly string[]
  readonly to: string
  readonly toColumns: readonly string[]
  readonly onDelete: 'cascade' | 'restrict'
}

/** One change of one table. An index of a step that is not unique ends with the table's primary key, which it leaves out. */
export type TableStep =
  | {
      readonly kind: 'createTable'
      readonly table: string
      readonly definition: Table
      /** The name by which later steps may call the table too, unless there is a table of that name. */
      readonly alias?: string
    }
  | { readonly kind: 'renameTable'; readonly table: string; readonly to: string }
  | { readonly kind: 'dropTable'; readonly table: string }
  | ({ readonly kind: 'addColumns'; readonly table: string } & Omit<Table, 'name'>)
  | { readonly kind: 'alterColumn'; readonly table: string; readonly column: TableColumn }
  | { readonly kind: 'renameColumn'; readonly table: string; readonly from: string; readonly to: string }
  | { readonly kind: 'dropColumns'; readonly table: string; readonly columns: readonly string[] }
  | { readonly kind: 'addIndexes'; readonly table: string; readonly indexes: readonly TableIndex[] }
  | { readonly kind: 'dropIndexes'; readonly table: string; readonly indexes: readonly string[] }
  | { readonly kind: 'addForeignKeys'; readonly table: string; readonly foreignKeys: readonly ForeignKey[] }
  | { readonly kind: 'dropForeignKeys'; readonly table: string; readonly foreignKeys: readonly string[] }

/** A step with the table as it is before and after it. The one that is made or dropped has neither before nor after. */
export interface TableChange {
  readonly step: TableStep
  readonly before: Table | undefined
  readonly after: Table | undefined
}

/** What a database has of a table, by name. */
export interface PresentTable {
  readonly columns: ReadonlySet<string>
  readonly indexes: ReadonlySet<string>
  readonly foreignKeys: ReadonlySet<string>
  /** Columns whose values or defaults are expressions, which no migration describes. */
  readonly computed: ReadonlySet<string>
  /** Statements that make what goes with a table when it is made anew and no migration describes: triggers, indexes. */
  readonly extras: ReadonlyMap<string, string>
}

/** The columns of the primary key, in its order. */
export function primaryKeyOf({ columns, primaryKey }: Pick<Table, 'columns' | 'primaryKey'>): readonly string[] {
  return primaryKey ?? columns.filter(({ key }) => key !== 'none').map(({ name }) => name)
}

export function columnOfTable({ name, columns }: Table, column: string): TableColumn {
  const found = columns.find((one) => one.name === column)
  if (found === undefined) throw new TypeError(`the table ${name} has no column ${column}`)
  return found
}

/** Names of columns as a statement has them. */
export function quotedList(columns: readonly string[]): string {
  return columns.map((column) => `\`${column}\``).join(', ')
}

export const VERSION_0 = "x'0000000000000000'"

/** Rows that are there when a table gets row versions all have version 0. */
export function versionOfOld({ type }: TableColumn): string {
  return type.kind === 'rowVersion' ? ` DEFAULT ${VERSION_0}` : ''
}

/** The tables that migrations have made, by name. */
export type Schema = ReadonlyMap<string, Table>

/**
 * The schema after a step. Throws a TypeError for a step that does not fit: a table that no step before it made, or that
 * one did, and the same for columns, indexes and foreign keys.
 */
export function applyStep(schema: Schema, step: TableStep): Schema {
  const after = new Map(schema)
  if (step.kind === 'createTable') {
    if (schema.has(step.table)) throw new TypeError(`there is a table ${step.table} already`)
    after.set(step.table, { ...step.definition, indexes: withKeys(step.definition, step.definition.indexes) })
    return after
  }
  const table = schema.get(step.table)
  if (table === undefined) throw new TypeError(`no step before makes the table ${step.table}`)
  switch (step.kind) {
    case 'dropTable':
      after.delete(step.table)
      return after
    case 'renameTable':
      if (schema.has(step.to)) throw new TypeError(`there is a table ${step.to} already`)
      after.delete(step.table)
      after.set(step.to, { ...table, name: step.to })
      return withReferences(after, (key) => (key.to === step.table ? { ...key, to: step.to } : key))
    case 'renameColumn': {
      const isPrimary = columnOfTable(table, step.from).key !== 'none'
      requireAbsent(table, 'columns', [step.to])
      after.set(step.table, renamedColumn(table, step))
      return isPrimary
        ? withReferences(after, (key) =>
            key.to === step.table ? { ...key, toColumns: renamedIn(key.toColumns, step) } : key
          )
        : after
    }
    default:
      after.set(step.table, changedTable(table, step))
      return after
  }
}

type ColumnStep = Exclude<TableStep, { readonly kind: 'createTable' | 'dropTable' | 'renameTable' | 'renameColumn' }>

function changedTable(table: Table, step: ColumnStep): Table {
  switch (step.kind) {
    case 'addColumns': {
      requireAbsent(table, 'columns', partNames(step.columns))
      const wider = { ...table, columns: [...table.columns, ...step.columns] }
      return withIndexes(withForeignKeys(wider, step.foreignKeys), step.indexes)
    }
    case 'alterColumn': {
      const { key } = columnOfTable(table, step.column.name)
      const columns = table.columns.map((one) => (one.name === step.column.name ? { ...step.column, key } : one))
      return { ...table, columns }
    }
    case 'dropColumns': {
      for (const name of step.columns) columnOfTable(table, name)
      const goes = (column: string): boolean => step.columns.includes(column)
      return {
        ...table,
        columns: table.columns.filter(({ name }) => !goes(name)),
        indexes: table.indexes.filter(({ keys }) => !keys.some(({ column }) => goes(column))),
        foreignKeys: table.foreignKeys.filter(({ columns }) => !columns.some(goes))
      }
    }
    case 'addIndexes':
      return withIndexes(table, step.indexes)
    case 'dropIndexes':
      return { ...table, indexes: withoutParts(table, 'indexes', step.indexes) }
    case 'addForeignKeys':
      return withForeignKeys(table, step.foreignKeys)
    case 'dropForeignKeys':
      return { ...table, foreignKeys: withoutParts(table, 'foreignKeys', step.foreignKeys) }
  }
}

export type TablePart = 'columns' | 'indexes' | 'foreignKeys'

export const partNames = (parts: readonly { readonly name: string }[]): string[] => parts.map(({ name }) => name)

function requireAbsent(table: Table, part: TablePart, names: readonly string[]): void {
  const there = names.find((name) => partNames(table[part]).includes(name))
  if (there !== undefined) throw new TypeError(`the table ${table.name} has ${there} already`)
}

function withoutParts<P extends TablePart>(table: Table, part: P, names: readonly string[]): Table[P] {
  const missing = names.find((name) => !partNames(table[part]).includes(name))
  if (missing !== undefined) throw new TypeError(`the table ${table.name} has no ${missing}`)
  // A part of the same kind as it was.
  return table[part].filter(({ name }) => !names.includes(name)) as unknown as Table[P]
}

function withIndexes(table: Table, indexes: readonly TableIndex[]): Table {
  requireAbsent(table, 'indexes', partNames(indexes))
  return { ...table, indexes: [...table.indexes, ...withKeys(table, indexes)] }
}

function withForeignKeys(table: Table, foreignKeys: readonly ForeignKey[]): Table {
  requireAbsent(table, 'foreignKeys', partNames(foreignKeys))
  for (const column of foreignKeys.flatMap(({ columns }) => columns)) columnOfTable(table, column)
  return { ...table, foreignKeys: [...table.foreignKeys, ...foreignKeys] }
}

/** Rows of equal values are ordered by the primary key, so that each index that is not unique ends with it. */
function withKeys(table: Table, indexes: readonly TableIndex[]): TableIndex[] {
  const primary = primaryKeyOf(table)
  return indexes.map((index) => {
    for (const { column } of index.keys) columnOfTable(table, column)
    if (index.unique || index.fullText) return index
    const further = primary.filter((name) => !index.keys.some(({ column }) => column === name))
    return { ...index, keys: [...index.keys, ...further.map((column) => ({ column, descending: false }))] }
  })
}

interface Renaming {
  readonly from: string
  readonly to: string
}

function renamedIn(columns: readonly string[], { from, to }: Renaming): readonly string[] {
  return columns.map((column) => (column === from ? to : column))
}

function renamedColumn(table: Table, step: Renaming): Table {
  const { from, to } = step
  return {
    ...table,
    ...(table.primaryKey === undefined ? {} : { primaryKey: renamedIn(table.primaryKey, step) }),
    columns: table.columns.map((one) => (one.name === from ? { ...one, name: to } : one)),
    indexes: table.indexes.map((index) => ({
      ...index,
      keys: index.keys.map((key) => (key.column === from ? { ...key, column: to } : key))
    })),
    foreignKeys: table.foreignKeys.map((key) => ({ ...key, columns: renamedIn(key.columns, step) }))
  }
}

function withReferences(schema: Schema, change: (key: ForeignKey) => ForeignKey): Schema {
  return new Map(
    Array.from(schema, ([name, table]) => [name, { ...table, foreignKeys: table.foreignKeys.map(change) }])
  )
}
