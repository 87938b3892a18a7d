import type { EngineName } from '../../data-service/sql/engines/engine-name.js'
import type { ForeignKey, Table, TableColumn, TableIndex } from '../model/tables.js'
import type { MigrationDatabase, Step } from './migration.js'
import { type ColumnBuilder, identifier, type IndexBuilder, TABLE_WORDS, type TableWords } from './table-words.js'

/**
 * The words of migrations: plain names of tables and columns, and types that never change their meaning. They know
 * nothing of entity files, so that an old migration makes the same tables whatever becomes of these.
 */
export function createTable<const Name extends string>(
  table: string,
  define: (t: TableWords) => TableDefinition<Name>
): Extract<Step, { readonly kind: 'createTable' }> {
  const { columns, primaryKey, indexes = [], foreignKeys = [] } = define(TABLE_WORDS)
  const made = columns.map(({ column }) => column)
  const isKeyless = primaryKey === 'none'
  const keyed = primaryKey === undefined || isKeyless ? { columns: made } : withPrimaryKey(table, made, primaryKey)
  const definition: Table = {
    name: identifier(table),
    ...keyed,
    indexes: definedIndexes(table, indexes),
    foreignKeys: definedForeignKeys(table, foreignKeys)
  }
  const named = new Set(definition.columns.map(({ name }) => name))
  if (named.size !== columns.length) throw new TypeError(`${table} has two columns of one name`)
  const keys = definition.columns.filter(({ key }) => key !== 'none').length
  if (isKeyless ? keys > 0 : primaryKey === undefined && keys !== 1) {
    throw new TypeError(
      `${table} needs one primary key: t.int('id').autoIncrement(), t.guid('id').primaryKey(), primaryKey: […] of several columns, or primaryKey: 'none'`
    )
  }
  return { kind: 'createTable', table, definition }
}

/** The columns with a primary key of several of them. Throws TypeError for one that it cannot have. */
function withPrimaryKey(
  table: string,
  columns: readonly TableColumn[],
  names: readonly string[]
): Pick<Table, 'columns' | 'primaryKey'> {
  const isKey = (name: string): boolean => names.includes(name)
  if (columns.some(({ key }) => key !== 'none')) throw new TypeError(`${table} has two primary keys`)
  if (columns.some(({ name, nullable }) => isKey(name) && nullable)) {
    throw new TypeError(`the primary key of ${table} has a column that may be null`)
  }
  if (new Set(names).size !== columns.filter(({ name }) => isKey(name)).length || names.length < 2) {
    throw new TypeError(`the primary key of ${table} takes two or more of its columns, each once`)
  }
  return {
    columns: columns.map((column) => (isKey(column.name) ? { ...column, key: 'primary' } : column)),
    primaryKey: names
  }
}

interface TableDefinition<Name extends string> {
  readonly columns: readonly ColumnBuilder<Name>[]
  /** A primary key of several columns, in its order. One of a single column is a word of the column. `none`: rows have no key. */
  readonly primaryKey?: readonly [NoInfer<Name>, NoInfer<Name>, ...NoInfer<Name>[]] | 'none'
  readonly indexes?: readonly (IndexBuilder<NoInfer<Name>> | readonly IndexBuilder<NoInfer<Name>>[])[]
  readonly foreignKeys?: readonly ForeignKeyDefinition<NoInfer<Name>>[]
}

/** Each column and each foreign key should be in an index: MySQL makes one of its own for a foreign key without it. */
type ForeignKeyDefinition<Name extends string> = ForeignKeyParts &
  (
    | { readonly column: Name; readonly references: ReferencedColumn }
    /** Several columns, in the order of the primary key that they refer to. */
    | {
        readonly columns: readonly [Name, Name, ...Name[]]
        readonly references: readonly [ReferencedColumn, ReferencedColumn, ...ReferencedColumn[]]
      }
  )

/** `customers.id`; in parts where one of the names has a point. */
type ReferencedColumn = `${string}.${string}` | { readonly table: string; readonly column: string }

interface ForeignKeyParts {
  /** `cascade`: rows go with the row that they refer to. `restrict`: a row that is referred to cannot be deleted. */
  readonly onDelete: 'cascade' | 'restrict'
  /** Of the constraint; `{table}_{column}_fk` without it, with the first column of several. */
  readonly name?: string
}

/**
 * Adds columns, with indexes and foreign keys of them. Each must be `nullable()` or have a `default(…)`, since rows that are
 * there, and replicas of the version before, have no value for it.
 */
export function addColumns<const Name extends string>(
  table: string,
  define: (t: TableWords) => TableDefinition<Name>
): Step {
  const { columns, indexes = [], foreignKeys = [] } = define(TABLE_WORDS)
  for (const { column } of columns) {
    if (!column.nullable && column.defaultTo === undefined && column.type.kind !== 'rowVersion') {
      throw new TypeError(`${table}.${column.name} needs nullable() or default(…): rows that are there have no value`)
    }
  }
  return {
    kind: 'addColumns',
    table: identifier(table),
    columns: columns.map(({ column }) => column),
    indexes: definedIndexes(table, indexes),
    foreignKeys: definedForeignKeys(table, foreignKeys)
  }
}

/**
 * Gives a column another type, or makes it `nullable()` or not. The values are converted; what does not fit is an error
 * on MySQL and MariaDB, and decimals are rounded. With `default(…)` rows without a value get that one.
 */
export function alterColumn(table: string, define: (t: TableWords) => ColumnBuilder<string>): Step {
  return { kind: 'alterColumn', table: identifier(table), column: define(TABLE_WORDS).column }
}

/** Indexes and foreign keys keep their names. */
export function renameColumn(table: string, from: string, to: string): Step {
  return { kind: 'renameColumn', table: identifier(table), from, to: identifier(to) }
}

/** Drops columns, and with them every index and foreign key in which they are. */
export function dropColumns(table: string, ...columns: readonly string[]): Step {
  return { kind: 'dropColumns', table: identifier(table), columns }
}

export function addIndexes(
  table: string,
  define: (t: TableWords) => readonly (IndexBuilder<string> | readonly IndexBuilder<string>[])[]
): Step {
  return { kind: 'addIndexes', table: identifier(table), indexes: definedIndexes(table, define(TABLE_WORDS)) }
}

/** By the names of the indexes, `products_price_desc`. */
export function dropIndexes(table: string, ...indexes: readonly string[]): Step {
  return { kind: 'dropIndexes', table: identifier(table), indexes }
}

/** Every row must refer to a row that is there. */
export function addForeignKeys(table: string, ...foreignKeys: readonly ForeignKeyDefinition<string>[]): Step {
  return { kind: 'addForeignKeys', table: identifier(table), foreignKeys: definedForeignKeys(table, foreignKeys) }
}

/** By the names of the constraints, `orders_customer_id_fk`. */
export function dropForeignKeys(table: string, ...foreignKeys: readonly string[]): Step {
  return { kind: 'dropForeignKeys', table: identifier(table), foreignKeys }
}

/** Foreign keys of other tables follow. */
export function renameTable(from: string, to: string): Step {
  return { kind: 'renameTable', table: identifier(from), to: identifier(to) }
}

/** Drop the foreign keys that refer to the table before it. */
export function dropTable(table: string): Step {
  return { kind: 'dropTable', table: identifier(table) }
}

/**
 * Statements of the application for each kind of database. Where each DDL statement commits by itself, an interrupted
 * migration runs again from its start, so each statement must be repeatable (`IF NOT EXISTS`, an UPDATE of the rows that
 * are not done). `leaves` are the steps with the same effect, for what entities use.
 */
export function sql(
  statements: Readonly<Record<EngineName, string | readonly string[]>>,
  leaves: readonly Step[] = []
): Step {
  return { kind: 'sql', statements, leaves }
}

/** Code of the application, for work that depends on the rows that are there. It must be repeatable, as `sql` says. */
export function run(description: string, work: (database: MigrationDatabase) => Promise<void>): Step {
  return { kind: 'run', description, work }
}

function definedIndexes(
  table: string,
  indexes: readonly (IndexBuilder<string> | readonly IndexBuilder<string>[])[]
): TableIndex[] {
  return indexes
    .flat()
    .map(({ index, ownName }) => ({ name: identifier(ownName ?? indexName(table, index)), ...index }))
}

/** The name of an index that says no other. */
export function indexName(table: string, { unique, fullText, keys }: Omit<TableIndex, 'name'>): string {
  if (fullText) return `${table}_full_text`
  const parts = keys.map(({ column, descending }) => (descending ? `${column}_desc` : column))
  return [table, ...parts, ...(unique ? ['unique'] : [])].join('_')
}

function referredColumn(references: ReferencedColumn): { readonly table: string; readonly column: string } {
  if (typeof references !== 'string') return references
  const [table = '', column = ''] = references.split('.')
  return { table, column }
}

function definedForeignKeys(table: string, foreignKeys: readonly ForeignKeyDefinition<string>[]): ForeignKey[] {
  return foreignKeys.map((definition) => {
    const columns = 'column' in definition ? [definition.column] : definition.columns
    const places = ('column' in definition ? [definition.references] : definition.references).map(referredColumn)
    const to = places[0]?.table ?? ''
    const [column = ''] = columns
    if (columns.length !== places.length || places.some((one) => one.table !== to)) {
      throw new TypeError(`the foreign key of ${table}.${column} refers to as many columns of one table`)
    }
    return {
      name: identifier(definition.name ?? `${table}_${column}_fk`),
      columns: columns.map(identifier),
      to: identifier(to),
      toColumns: places.map((one) => identifier(one.column)),
      onDelete: definition.onDelete
    }
  })
}
