import type { EngineName } from '../engines.js'
import {
  type ColumnType,
  type ForeignKey,
  type IndexKey,
  type IntegerKind,
  type Table,
  type TableColumn,
  type TableIndex
} from '../engines/tables.js'
import { LONGEST_VARCHAR } from './entity-tables.js'
import type { MigrationDatabase, Step } from './migration.js'

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
  const keyed = primaryKey === undefined ? { columns: made } : withPrimaryKey(table, made, primaryKey)
  const definition: Table = {
    name: identifier(table),
    ...keyed,
    indexes: indexesOf(table, indexes),
    foreignKeys: foreignKeysOf(table, foreignKeys)
  }
  const named = new Set(definition.columns.map(({ name }) => name))
  if (named.size !== columns.length) throw new TypeError(`${table} has two columns of one name`)
  if (primaryKey === undefined && definition.columns.filter(({ key }) => key !== 'none').length !== 1) {
    throw new TypeError(
      `${table} needs one primary key: t.int('id').autoIncrement(), t.guid('id').primaryKey(), or primaryKey: […] of several columns`
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
  /** A primary key of several columns, in its order. One of a single column is a word of the column. */
  readonly primaryKey?: readonly [NoInfer<Name>, NoInfer<Name>, ...NoInfer<Name>[]]
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
    indexes: indexesOf(table, indexes),
    foreignKeys: foreignKeysOf(table, foreignKeys)
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
  return { kind: 'addIndexes', table: identifier(table), indexes: indexesOf(table, define(TABLE_WORDS)) }
}

/** By the names of the indexes, `products_price_desc`. */
export function dropIndexes(table: string, ...indexes: readonly string[]): Step {
  return { kind: 'dropIndexes', table: identifier(table), indexes }
}

/** Every row must refer to a row that is there. */
export function addForeignKeys(table: string, ...foreignKeys: readonly ForeignKeyDefinition<string>[]): Step {
  return { kind: 'addForeignKeys', table: identifier(table), foreignKeys: foreignKeysOf(table, foreignKeys) }
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
 * Statements of one's own for each kind of database. Where each DDL statement commits by itself an interrupted migration
 * runs again from its start, so each must be repeatable (`IF NOT EXISTS`, an UPDATE of the
 * rows that are not done). `leaves` are the steps that amount to the same, where entities use what the statements make.
 */
export function sql(
  statements: Readonly<Record<EngineName, string | readonly string[]>>,
  leaves: readonly Step[] = []
): Step {
  return { kind: 'sql', statements, leaves }
}

/** Work of one's own, for what depends on the rows that are there. It must be repeatable, as `sql` says. */
export function run(description: string, work: (database: MigrationDatabase) => Promise<void>): Step {
  return { kind: 'run', description, work }
}

/** A column of a builder. */
export class ColumnBuilder<Name extends string> {
  readonly column: TableColumn
  /** Keeps columns of different names apart in types. */
  declare readonly name: Name

  constructor(column: TableColumn) {
    this.column = column
  }

  /** Without it the column is NOT NULL. */
  nullable(): ColumnBuilder<Name> {
    return new ColumnBuilder({ ...this.column, nullable: true })
  }

  /** The value of rows that are inserted without one. */
  default(value: string | number | boolean): ColumnBuilder<Name> {
    requireDefault(this.column, value)
    return new ColumnBuilder({ ...this.column, defaultTo: value })
  }

  /** Numbers without negative ones, and twice as many positive ones. */
  unsigned(): ColumnBuilder<Name> {
    const { name, type } = this.column
    if (!isInteger(type)) throw new TypeError(`${name} is no integer`)
    return new ColumnBuilder({ ...this.column, type: { kind: type.kind, unsigned: true } })
  }

  /** The primary key, whose values the service makes. */
  primaryKey(): ColumnBuilder<Name> {
    return new ColumnBuilder({ ...this.column, key: 'primary' })
  }

  /** The primary key, which the database numbers. */
  autoIncrement(): ColumnBuilder<Name> {
    if (!isInteger(this.column.type)) throw new TypeError(`${this.column.name} is no integer`)
    return new ColumnBuilder({ ...this.column, key: 'autoIncrement' })
  }
}

function isInteger(type: ColumnType): type is Extract<ColumnType, { readonly kind: IntegerKind }> {
  return ['tinyint', 'smallint', 'mediumint', 'int', 'bigint'].includes(type.kind)
}

const WHOLE = /^-?\d+$/
const DECIMAL = /^-?\d+(\.\d+)?$/
const DOUBLE = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/
const DATETIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/
const DATE = /^\d{4}-\d\d-\d\d$/
const TIME = /^\d\d:\d\d:\d\d(\.\d{1,6})?$/

function requireDefault({ name, type }: TableColumn, value: string | number | boolean): void {
  const isWhole = (text: string): boolean => WHOLE.test(text)
  const forms: Record<ColumnType['kind'], (text: string) => boolean> = {
    varchar: () => typeof value === 'string',
    guid: () => typeof value === 'string',
    boolean: () => typeof value === 'boolean',
    tinyint: isWhole,
    smallint: isWhole,
    mediumint: isWhole,
    int: isWhole,
    bigint: isWhole,
    year: isWhole,
    bit: (text) => typeof value === 'boolean' || isWhole(text),
    decimal: (text) => DECIMAL.test(text),
    double: (text) => DOUBLE.test(text),
    float: (text) => DOUBLE.test(text),
    datetime: (text) => DATETIME.test(text),
    date: (text) => DATE.test(text),
    time: (text) => TIME.test(text),
    enum: (text) => type.kind === 'enum' && type.words.includes(text),
    // MySQL has no defaults for these, or none that the embedded database shares.
    text: () => false,
    set: () => false,
    json: () => false,
    varbinary: () => false,
    binary: () => false,
    rowVersion: () => false
  }
  if (!forms[type.kind](String(value))) throw new TypeError(`${String(value)} is no default of ${name}, a ${type.kind}`)
}

/** An index of a builder. Its name is made of the table and the columns. */
export class IndexBuilder<Name extends string> {
  readonly unique: boolean
  readonly keys: readonly IndexKey[]
  readonly ownName: string | undefined
  declare readonly column: Name

  constructor(unique: boolean, keys: readonly IndexKey[], ownName?: string) {
    this.unique = unique
    this.keys = keys
    this.ownName = ownName
  }

  named(name: string): IndexBuilder<Name> {
    return new IndexBuilder(this.unique, this.keys, name)
  }
}

type ColumnOfKey<Key extends string> = Key extends `${infer Name} desc` ? Name : Key

/** The words for the parts of a table: each type of column, and indexes. */
export interface TableWords {
  /** Text of at most `length` characters; comparisons and unique indexes take no account of letter case. */
  varchar<const Name extends string>(name: Name, length: number): ColumnBuilder<Name>
  /** Text of at most so many bytes in UTF-8: a TINYTEXT, TEXT, MEDIUMTEXT or LONGTEXT of MySQL. It can be in no index. */
  text<const Name extends string>(name: Name, bytes: number): ColumnBuilder<Name>
  boolean<const Name extends string>(name: Name): ColumnBuilder<Name>
  /** 8 bits, signed. */
  tinyint<const Name extends string>(name: Name): ColumnBuilder<Name>
  /** 16 bits, signed. */
  smallint<const Name extends string>(name: Name): ColumnBuilder<Name>
  /** 24 bits, signed. */
  mediumint<const Name extends string>(name: Name): ColumnBuilder<Name>
  /** 32 bits, signed; `t.int('size').unsigned()` without negative numbers. */
  int<const Name extends string>(name: Name): ColumnBuilder<Name>
  /** 64 bits, signed. */
  bigint<const Name extends string>(name: Name): ColumnBuilder<Name>
  /** 1901 to 2155. */
  year<const Name extends string>(name: Name): ColumnBuilder<Name>
  /** As many flags, up to 64. */
  bit<const Name extends string>(name: Name, bits: number): ColumnBuilder<Name>
  /** 64 bits as IEEE 754 has them. */
  double<const Name extends string>(name: Name): ColumnBuilder<Name>
  /** 32 bits as IEEE 754 has them. */
  float<const Name extends string>(name: Name): ColumnBuilder<Name>
  /** Exact: `precision` digits, `scale` of them after the point. */
  decimal<const Name extends string>(name: Name, precision: number, scale: number): ColumnBuilder<Name>
  /** UTC with milliseconds, or with so many digits of a second's fraction. */
  datetime<const Name extends string>(name: Name, precision?: number): ColumnBuilder<Name>
  date<const Name extends string>(name: Name): ColumnBuilder<Name>
  /** Without a fraction, or with so many digits of it. */
  time<const Name extends string>(name: Name, precision?: number): ColumnBuilder<Name>
  /** One of these words. */
  enum<const Name extends string>(name: Name, words: readonly string[]): ColumnBuilder<Name>
  /** Some of these words. */
  set<const Name extends string>(name: Name, words: readonly string[]): ColumnBuilder<Name>
  /** The text of a JSON value, all of its digits kept. */
  json<const Name extends string>(name: Name): ColumnBuilder<Name>
  /** At most so many bytes. */
  varbinary<const Name extends string>(name: Name, length: number): ColumnBuilder<Name>
  /** Exactly so many bytes. */
  binary<const Name extends string>(name: Name, length: number): ColumnBuilder<Name>
  guid<const Name extends string>(name: Name): ColumnBuilder<Name>
  /** The version of a row, `row_version` by default, without which a resource has no `ETag`, update and action. */
  rowVersion<const Name extends string = 'row_version'>(name?: Name): ColumnBuilder<Name>
  /** Values that no two rows have alike: those of one column, or of several together. */
  unique<const Name extends string>(...columns: readonly [Name, ...Name[]]): IndexBuilder<Name>
  /** An index of columns in an order, `t.index('category_id', 'price desc')`. The primary key follows by itself. */
  index<const Key extends string>(...keys: readonly [Key, ...Key[]]): IndexBuilder<ColumnOfKey<Key>>
  /** The two indexes that a sortable column needs: its values in each direction. The primary key follows by itself. */
  sorted<const Name extends string>(column: Name): readonly IndexBuilder<Name>[]
}

function plain<Name extends string>(name: Name, type: ColumnType): ColumnBuilder<Name> {
  return new ColumnBuilder({ name: identifier(name), type, nullable: false, key: 'none' })
}

function whole(name: string, value: number, [min, max]: readonly [number, number]): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new TypeError(`${name} takes a number from ${min} to ${max}, not ${value}`)
}

/** Of a LONGTEXT or LONGBLOB. */
const MOST_BYTES = 4_294_967_295

const TABLE_WORDS: TableWords = {
  varchar: (name, length) => plain(name, { kind: 'varchar', length: whole(name, length, [1, LONGEST_VARCHAR]) }),
  text: (name, bytes) => plain(name, { kind: 'text', bytes: whole(name, bytes, [1, MOST_BYTES]) }),
  boolean: (name) => plain(name, { kind: 'boolean' }),
  tinyint: (name) => plain(name, { kind: 'tinyint' }),
  smallint: (name) => plain(name, { kind: 'smallint' }),
  mediumint: (name) => plain(name, { kind: 'mediumint' }),
  year: (name) => plain(name, { kind: 'year' }),
  bit: (name, bits) => plain(name, { kind: 'bit', bits: whole(name, bits, [1, 64]) }),
  double: (name) => plain(name, { kind: 'double' }),
  float: (name) => plain(name, { kind: 'float' }),
  date: (name) => plain(name, { kind: 'date' }),
  time: (name, precision = 0) =>
    plain(name, precision === 0 ? { kind: 'time' } : { kind: 'time', precision: whole(name, precision, [0, 6]) }),
  enum: (name, words) => plain(name, { kind: 'enum', words }),
  set: (name, words) => plain(name, { kind: 'set', words }),
  json: (name) => plain(name, { kind: 'json' }),
  varbinary: (name, length) => plain(name, { kind: 'varbinary', length: whole(name, length, [1, MOST_BYTES]) }),
  binary: (name, length) => plain(name, { kind: 'binary', length: whole(name, length, [1, 255]) }),
  int: (name) => plain(name, { kind: 'int' }),
  bigint: (name) => plain(name, { kind: 'bigint' }),
  decimal: (name, precision, scale) =>
    plain(name, {
      kind: 'decimal',
      // SQLite stores it in 64 bits.
      precision: whole(name, precision, [1, 18]),
      scale: whole(name, scale, [0, precision])
    }),
  datetime: (name, precision = 3) =>
    plain(
      name,
      precision === 3 ? { kind: 'datetime' } : { kind: 'datetime', precision: whole(name, precision, [0, 6]) }
    ),
  guid: (name) => plain(name, { kind: 'guid' }),
  // Without a name the type parameter is that of the default.
  rowVersion: <Name extends string>(name = 'row_version' as Name) => plain(name, { kind: 'rowVersion' }),
  unique: (...columns) => new IndexBuilder(true, columns.map(keyOf)),
  index: (...keys) => new IndexBuilder(false, keys.map(keyOf)),
  sorted: (column) => [
    new IndexBuilder(false, [{ column, descending: false }]),
    new IndexBuilder(false, [{ column, descending: true }])
  ]
}

function keyOf(key: string): IndexKey {
  const descending = key.endsWith(' desc')
  return { column: identifier(descending ? key.slice(0, -' desc'.length) : key), descending }
}

function indexesOf(
  table: string,
  indexes: readonly (IndexBuilder<string> | readonly IndexBuilder<string>[])[]
): TableIndex[] {
  return indexes.flat().map(({ unique, keys, ownName }) => {
    const parts = keys.map(({ column, descending }) => (descending ? `${column}_desc` : column))
    const name = ownName ?? [table, ...parts, ...(unique ? ['unique'] : [])].join('_')
    return { name: identifier(name), unique, keys }
  })
}

function placeOf(references: ReferencedColumn): { readonly table: string; readonly column: string } {
  if (typeof references !== 'string') return references
  const [table = '', column = ''] = references.split('.')
  return { table, column }
}

function foreignKeysOf(table: string, foreignKeys: readonly ForeignKeyDefinition<string>[]): ForeignKey[] {
  return foreignKeys.map((definition) => {
    const columns = 'column' in definition ? [definition.column] : definition.columns
    const places = ('column' in definition ? [definition.references] : definition.references).map(placeOf)
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

/** A name of a table, a column, an index or a constraint, which is quoted in statements. */
function identifier(name: string): string {
  if (!/^[^\p{Cc}`]{1,64}$/u.test(name)) {
    throw new TypeError(
      `\`${name}\` is no name of up to 64 characters without a backtick; give an index another by named(…)`
    )
  }
  return name
}
