import {
  type ColumnType,
  type IndexKey,
  type IntegerKind,
  LONGEST_VARCHAR,
  type TableColumn,
  type TableIndex
} from '../model/tables.js'

/** The words for the parts of a table: each type of column, and indexes. */
export interface TableWords {
  /** Text of at most `length` characters; comparisons and unique indexes ignore letter case. */
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
  /**
   * One of these words. With a `length` MySQL and MariaDB keep it as VARCHAR(length) with a CHECK of the words and not as ENUM:
   * an index serves sorts by it, and a version of the service that takes the column for text goes on.
   */
  enum<const Name extends string>(name: Name, words: readonly string[], length?: number): ColumnBuilder<Name>
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
  /** A unique index: no two rows have the same values in these columns. */
  unique<const Name extends string>(...columns: readonly [Name, ...Name[]]): IndexBuilder<Name>
  /**
   * An index of columns in an order and its reverse, `t.index('category_id desc', 'price')`. The primary key follows by
   * itself, ascending, so the last column of an order is ascending too.
   */
  index<const Key extends string>(...keys: readonly [Key, ...Key[]]): IndexBuilder<ColumnOfKey<Key>>
  /** The index that a sortable column needs, which serves both directions. The primary key follows by itself. */
  sorted<const Name extends string>(column: Name): IndexBuilder<Name>
  /** The full-text index of `searchable: fullText(…)`, with the same columns. SQLite gets none. */
  fullText<const Name extends string>(...columns: readonly [Name, ...Name[]]): IndexBuilder<Name>
}

function builder<Name extends string>(name: Name, type: ColumnType): ColumnBuilder<Name> {
  return new ColumnBuilder({ name: identifier(name), type, nullable: false, key: 'none' })
}

function bounded(name: string, value: number, [min, max]: readonly [number, number]): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value
  throw new TypeError(`${name} takes a number from ${min} to ${max}, not ${value}`)
}

function longestOf(words: readonly string[]): number {
  return Math.max(1, ...words.map((word) => Array.from(word).length))
}

/** Of a LONGTEXT or LONGBLOB. */
const MOST_BYTES = 4_294_967_295

export const TABLE_WORDS: TableWords = {
  varchar: (name, length) => builder(name, { kind: 'varchar', length: bounded(name, length, [1, LONGEST_VARCHAR]) }),
  text: (name, bytes) => builder(name, { kind: 'text', bytes: bounded(name, bytes, [1, MOST_BYTES]) }),
  boolean: (name) => builder(name, { kind: 'boolean' }),
  tinyint: (name) => builder(name, { kind: 'tinyint' }),
  smallint: (name) => builder(name, { kind: 'smallint' }),
  mediumint: (name) => builder(name, { kind: 'mediumint' }),
  year: (name) => builder(name, { kind: 'year' }),
  bit: (name, bits) => builder(name, { kind: 'bit', bits: bounded(name, bits, [1, 64]) }),
  double: (name) => builder(name, { kind: 'double' }),
  float: (name) => builder(name, { kind: 'float' }),
  date: (name) => builder(name, { kind: 'date' }),
  time: (name, precision = 0) =>
    builder(name, precision === 0 ? { kind: 'time' } : { kind: 'time', precision: bounded(name, precision, [0, 6]) }),
  enum: (name, words, length) =>
    builder(
      name,
      length === undefined
        ? { kind: 'enum', words }
        : { kind: 'enum', words, length: bounded(name, length, [longestOf(words), LONGEST_VARCHAR]) }
    ),
  set: (name, words) => builder(name, { kind: 'set', words }),
  json: (name) => builder(name, { kind: 'json' }),
  varbinary: (name, length) => builder(name, { kind: 'varbinary', length: bounded(name, length, [1, MOST_BYTES]) }),
  binary: (name, length) => builder(name, { kind: 'binary', length: bounded(name, length, [1, 255]) }),
  int: (name) => builder(name, { kind: 'int' }),
  bigint: (name) => builder(name, { kind: 'bigint' }),
  decimal: (name, precision, scale) =>
    builder(name, {
      kind: 'decimal',
      precision: bounded(name, precision, [1, 64]),
      // MySQL has no more.
      scale: bounded(name, scale, [0, Math.min(precision, 30)])
    }),
  datetime: (name, precision = 3) =>
    builder(
      name,
      precision === 3 ? { kind: 'datetime' } : { kind: 'datetime', precision: bounded(name, precision, [0, 6]) }
    ),
  guid: (name) => builder(name, { kind: 'guid' }),
  // The compiler does not know that Name is `row_version` where the name is left out.
  rowVersion: <Name extends string>(name = 'row_version' as Name) => builder(name, { kind: 'rowVersion' }),
  unique: (...columns) => new IndexBuilder({ unique: true, keys: columns.map(parsedKey) }),
  index: (...keys) => new IndexBuilder({ unique: false, keys: keys.map(parsedKey) }),
  sorted: (column) => new IndexBuilder({ unique: false, keys: [{ column, descending: false }] }),
  fullText: (...columns) => new IndexBuilder({ unique: false, fullText: true, keys: columns.map(parsedKey) })
}

function parsedKey(key: string): IndexKey {
  const descending = key.endsWith(' desc')
  return { column: identifier(descending ? key.slice(0, -' desc'.length) : key), descending }
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
const FLOATING_POINT = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/
const DATETIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/
const DATE = /^\d{4}-\d\d-\d\d$/
const TIME = /^\d\d:\d\d:\d\d(\.\d{1,6})?$/

function isBase64(text: string): boolean {
  return Buffer.from(text, 'base64').toString('base64') === text
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

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
    double: (text) => FLOATING_POINT.test(text),
    float: (text) => FLOATING_POINT.test(text),
    datetime: (text) => DATETIME.test(text),
    date: (text) => DATE.test(text),
    time: (text) => TIME.test(text),
    enum: (text) => type.kind === 'enum' && type.words.includes(text),
    text: () => typeof value === 'string',
    set: (text) => type.kind === 'set' && text.split(',').every((one) => one === '' || type.words.includes(one)),
    json: (text) => typeof value === 'string' && isJsonText(text),
    varbinary: isBase64,
    binary: isBase64,
    rowVersion: () => false
  }
  if (!forms[type.kind](String(value))) throw new TypeError(`${String(value)} is no default of ${name}, a ${type.kind}`)
}

/** An index of a builder. Its name is made of the table and the columns. */
export class IndexBuilder<Name extends string> {
  readonly index: Omit<TableIndex, 'name'>
  readonly ownName: string | undefined
  declare readonly column: Name

  constructor(index: Omit<TableIndex, 'name'>, ownName?: string) {
    this.index = index
    this.ownName = ownName
  }

  named(name: string): IndexBuilder<Name> {
    return new IndexBuilder(this.index, name)
  }
}

type ColumnOfKey<Key extends string> = Key extends `${infer Name} desc` ? Name : Key

/** A name of a table, a column, an index or a constraint, which is quoted in statements. */
export function identifier(name: string): string {
  if (!/^[^\p{Cc}`]{1,64}$/u.test(name)) {
    throw new TypeError(
      `\`${name}\` is no name of up to 64 characters without a backtick; give an index another by named(…), a foreign key by name`
    )
  }
  return name
}
