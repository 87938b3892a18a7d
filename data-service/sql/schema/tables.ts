import { type Field, long } from '../../entity/field.js'
import { snakeCase } from '../../entity/names.js'
import type { ForeignKey, Table, TableColumn, TableIndex } from '../engines/engine.js'
import type { Migration } from './migrate.js'

type Columns = Readonly<Record<string, Field>> & { readonly id: Field<'int' | 'long' | 'guid'> }

/**
 * A new table of a migration, in the property names and words of the entity file. Columns are named in snake_case, or as
 * `column('legacy_name', …)` says.
 */
interface TableDefinition<C extends Columns> {
  /** Without the row version, which is not listed. The database numbers an `id` that is int or long. */
  readonly columns: C
  /** As in the entity file: rows have no version, and the table has no column for one. */
  readonly rowVersion?: 'none'
  /** Columns that rows can be sorted by in both directions, with the id as the tie-break. */
  readonly sorted?: readonly (keyof C & string)[]
  /**
   * From a column to the table of the aggregate's root: the rows are deleted with the root. `table.column` for a table
   * whose id has another column.
   */
  readonly partOf?: { readonly [K in keyof C]?: string }
  /** The same to the table that it refers to: a row that is referred to cannot be deleted. */
  readonly references?: { readonly [K in keyof C]?: string }
  /** Further columns that rows are found by, such as an id from another database. */
  readonly indexed?: readonly (keyof C & string)[]
  /** Column lists whose values together are unique. For a single column use `unique`. */
  readonly uniqueTogether?: readonly (readonly [keyof C & string, ...(keyof C & string)[]])[]
}

/** Describes a table. Every foreign key gets an index, whether rows are sorted by it or not. */
export function table<const C extends Columns>(name: string, definition: TableDefinition<C>): Table {
  const columnName = columnNamesOf(definition.columns)
  const foreignKeys = [
    ...foreignKeysOf(definition.partOf ?? {}, 'CASCADE', columnName),
    ...foreignKeysOf(definition.references ?? {}, 'RESTRICT', columnName)
  ]
  const columns = Object.entries(definition.columns).map(columnOf)
  const indexed = [...(definition.indexed ?? []).map(columnName), ...foreignKeys.map(({ column }) => column)]
  const sorted = (definition.sorted ?? []).map(columnName)
  return {
    name,
    columns,
    versioned: definition.rowVersion !== 'none',
    indexes: [
      ...columnIndexes(name, columns, { sorted, indexed, id: columnName('id') }),
      ...(definition.uniqueTogether ?? []).map((properties) => uniqueIndex(name, columns, properties.map(columnName)))
    ],
    foreignKeys
  }
}

/** The column of a property. */
function columnNamesOf(columns: Readonly<Record<string, Field>>): (property: string) => string {
  return (property) => columns[property]?.column ?? snakeCase(property)
}

function foreignKeysOf(
  targets: Readonly<Record<string, string | undefined>>,
  onDelete: ForeignKey['onDelete'],
  columnName: (property: string) => string
) {
  return Object.entries(targets).flatMap(([from, target]): ForeignKey[] => {
    const [to = '', toColumn = 'id'] = target?.split('.') ?? []
    return target === undefined ? [] : [{ column: columnName(from), to, toColumn, onDelete }]
  })
}

function columnOf([property, field]: readonly [property: string, field: Field]): TableColumn {
  return { column: field.column ?? snakeCase(property), field, isKey: property === 'id' }
}

/**
 * Sorting by a column needs the indexes (column, id) and (column DESC, id), since the tie-break is always the id in
 * ascending order. With a unique index alone MariaDB uses a filesort for both.
 */
function columnIndexes(
  table: string,
  columns: readonly TableColumn[],
  {
    sorted,
    indexed,
    id
  }: { readonly sorted: readonly string[]; readonly indexed: readonly string[]; readonly id: string }
): TableIndex[] {
  const tieBreak = tieBreakOf(id)
  return columns.flatMap(({ column, field, isKey }): TableIndex[] => {
    if (isKey) return []
    const key = { column, field, isKey, descending: false }
    const name = `${table}_${column}`
    const isSorted = sorted.includes(column)
    return [
      ...(field.unique ? [{ name: `${name}_unique`, unique: true, keys: [key] }] : []),
      ...(isSorted || indexed.includes(column) ? [{ name, unique: false, keys: [key, tieBreak] }] : []),
      ...(isSorted ? [{ name: `${name}_desc`, unique: false, keys: [{ ...key, descending: true }, tieBreak] }] : [])
    ]
  })
}

/** The id, by which rows of equal values are ordered. */
function tieBreakOf(id: string): TableIndex['keys'][number] {
  return { column: id, field: long(), isKey: true, descending: false }
}

function uniqueIndex(table: string, columns: readonly TableColumn[], names: readonly string[]): TableIndex {
  const keys = names.map((name) => {
    const found = columns.find(({ column }) => column === name)
    if (found === undefined) throw new TypeError(`${table} has no column ${name}`)
    return { ...found, descending: false }
  })
  return { name: [table, ...names, 'unique'].join('_'), unique: true, keys }
}

/** The `up` of a migration that makes tables in the given order. A table comes after those that it refers to. */
export function createTables(...tables: readonly Table[]): Migration['up'] {
  return async ({ ddl, run }) => {
    for (const table of tables) {
      for (const statement of ddl.createTable(table)) await run(statement)
    }
  }
}

/** The columns that a migration adds to an existing table, in the property names of the entity file. */
interface AddedColumns<C extends Readonly<Record<string, Field>>> {
  /** Each must be `optional`: existing rows have no value in it, and replicas of the previous version write none. */
  readonly columns: C
  /** As in a new table. */
  readonly sorted?: readonly (keyof C & string)[]
  readonly indexed?: readonly (keyof C & string)[]
  /** The column of the id, where it is not `id`. */
  readonly idColumn?: string
}

/**
 * The `up` of a migration that adds columns with their indexes to a table. It is repeatable: existing columns are left
 * unchanged.
 */
export function addColumns<const C extends Readonly<Record<string, Field>>>(
  name: string,
  { columns, sorted = [], indexed = [], idColumn = 'id' }: AddedColumns<C>
): Migration['up'] {
  for (const [property, field] of Object.entries(columns)) {
    if (!field.nullable) throw new TypeError(`${name}.${property} must be optional: rows that are there lack it`)
  }
  return async ({ ddl, run, select }) => {
    const present = new Set((await select(ddl.columnNames(name))).map(({ columnName }) => String(columnName)))
    const added = Object.entries(columns)
      .map(columnOf)
      .filter(({ column }) => !present.has(column))
    if (added.length === 0) return
    const columnName = columnNamesOf(columns)
    const indexes = columnIndexes(name, added, {
      sorted: sorted.map(columnName),
      indexed: indexed.map(columnName),
      id: idColumn
    })
    for (const statement of ddl.addColumns({ name, columns: added, indexes })) await run(statement)
  }
}

/** A sort order by several columns, in the property names of the entity file: `['categoryId asc', 'price desc']`. */
type SortOrder<Name extends string> = readonly [`${Name} ${Direction}`, ...`${Name} ${Direction}`[]]
type Direction = 'asc' | 'desc'

/**
 * The `up` of a migration that adds an index for each of several sort orders, with the id as the tie-break. `columns`
 * are those that the sort orders name. A sort order and its opposite need an index each, since the id is ascending in both. It is
 * repeatable: existing indexes are left unchanged.
 */
export function addSortOrders<const C extends Readonly<Record<string, Field>>>(
  name: string,
  {
    columns,
    sortOrders,
    idColumn = 'id'
  }: {
    readonly columns: C
    readonly sortOrders: readonly SortOrder<keyof C & string>[]
    /** The column of the id, where it is not `id`. */
    readonly idColumn?: string
  }
): Migration['up'] {
  const described = new Map(Object.entries(columns).map((entry) => [entry[0], columnOf(entry)]))
  const wanted = sortOrders.map((sortOrder): TableIndex => {
    const keys = sortOrder.map((key) => {
      const [property = '', direction] = key.split(' ')
      const column = described.get(property)
      if (column === undefined) throw new TypeError(`${name} has no column ${property}`)
      return { ...column, descending: direction === 'desc' }
    })
    const parts = keys.map(({ column, descending }) => (descending ? `${column}_desc` : column))
    return { name: [name, ...parts, 'order'].join('_'), unique: false, keys: [...keys, tieBreakOf(idColumn)] }
  })
  return async ({ ddl, run, select }) => {
    const present = new Set((await select(ddl.indexNames(name))).map(({ indexName }) => String(indexName)))
    const indexes = wanted.filter((index) => !present.has(index.name))
    if (indexes.length === 0) return
    for (const statement of ddl.addIndexes({ name, indexes })) await run(statement)
  }
}
